-- Windows over event time, and over rows.
CREATE STREAM telemetry (drone STRING, battery DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '10' SECOND);

-- @input telemetry
-- | drone | battery | ts       |
-- | d1    | 80      | 00:00:01 |
-- | d2    | 50      | 00:00:10 |
-- | d1    | 60      | 00:00:59 |
-- | d1    | 40      | 00:01:05 |
-- | d2    | 30      | 00:00:58 |
-- | d1    | 20      | 00:02:30 |

-- @case tumbling windows
CREATE STREAM averages AS
SELECT drone, avg(battery) AS battery, count(*) AS n, _window_start AS minute
FROM telemetry GROUP BY drone WINDOW TUMBLING(1m) EMIT FINAL;
-- @expect averages
-- | drone | battery | n | minute   |
-- | d1    | 70      | 2 | 00:00:00 |
-- | d2    | 40      | 2 | 00:00:00 |
-- | d1    | 40      | 1 | 00:01:00 |
-- | d1    | 20      | 1 | 00:02:00 |

-- @case HAVING chooses windows
CREATE STREAM busy AS
SELECT drone, max(battery) AS battery FROM telemetry GROUP BY drone WINDOW TUMBLING(1m) HAVING count(*) > 1;
-- @expect busy
-- | drone | battery |
-- | d1    | 80      |
-- | d2    | 50      |

-- @case a window over a query
CREATE STREAM low AS
SELECT count(*) AS n, window_start
FROM TUMBLE(TABLE telemetry, DESCRIPTOR(ts), INTERVAL '1' MINUTE) WHERE battery < 55 GROUP BY window_start;
-- @expect low
-- | n | window_start |
-- | 2 | 00:00:00     |
-- | 1 | 00:01:00     |
-- | 1 | 00:02:00     |

-- @case a window over all rows in sessions
CREATE STREAM visits AS
SELECT count(*) AS n, _window_start, _window_end FROM telemetry WINDOW SESSION(ts, 30 SECONDS);
-- @expect visits
-- | n | _window_start | _window_end |
-- | 2 | 00:00:01      | 00:00:40    |
-- | 3 | 00:00:58      | 00:01:35    |
-- | 1 | 00:02:30      | 00:03:00    |

-- @case changes of a window, told by its last state in a batch
CREATE STREAM counts AS SELECT drone, count(*) AS n FROM telemetry GROUP BY drone WINDOW TUMBLING(5m) EMIT CHANGES;
-- @expect counts
-- | drone | n |
-- | d1    | 4 |
-- | d2    | 2 |

-- @case the last rows of each key
CREATE STREAM usual AS SELECT drone, battery, avg(battery) AS usual FROM telemetry GROUP BY drone WINDOW LENGTH(2);
-- @expect usual ordered
-- | drone | battery | usual |
-- | d1    | 80      | 80    |
-- | d2    | 50      | 50    |
-- | d1    | 60      | 70    |
-- | d1    | 40      | 50    |
-- | d2    | 30      | 40    |
-- | d1    | 20      | 30    |

-- @case sliding windows
CREATE STREAM moving AS
SELECT drone, count(*) AS n, _window_start AS since
FROM telemetry WHERE drone = 'd2' GROUP BY drone WINDOW SLIDING(ts, 1 MINUTE, 30 SECONDS);
-- @expect moving
-- | drone | n | since               |
-- | d2    | 1 | 2025-12-31 23:59:30 |
-- | d2    | 2 | 00:00:00            |
-- | d2    | 1 | 00:00:30            |

-- @case windows that grow
CREATE STREAM growing AS
SELECT count(*) AS n, _window_end AS until
FROM CUMULATE(TABLE telemetry, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '3' MINUTE);
-- @expect growing
-- | n | until    |
-- | 4 | 00:01:00 |
-- | 5 | 00:02:00 |
-- | 6 | 00:03:00 |

-- @case sessions of each key
CREATE STREAM trips AS
SELECT drone, count(*) AS n, min(battery) AS lowest, _window_end AS until
FROM telemetry GROUP BY drone WINDOW SESSION(30s);
-- @expect trips
-- | drone | n | lowest | until    |
-- | d1    | 1 | 80     | 00:00:31 |
-- | d1    | 2 | 40     | 00:01:35 |
-- | d1    | 1 | 20     | 00:03:00 |
-- | d2    | 1 | 50     | 00:00:40 |
-- | d2    | 1 | 30     | 00:01:28 |

-- @case different values are counted
CREATE STREAM kinds AS SELECT count(DISTINCT drone) AS drones, _window_start AS since FROM telemetry WINDOW TUMBLING(1m);
-- @expect kinds
-- | drones | since    |
-- | 2      | 00:00:00 |
-- | 1      | 00:01:00 |
-- | 1      | 00:02:00 |

-- @case a filter before a window rules rows out, and their time counts all the same
CREATE STREAM charged AS
SELECT drone, count(*) AS n, _window_start FROM telemetry WHERE battery > 70 GROUP BY drone WINDOW TUMBLING(1m);
-- @expect charged
-- | drone | n | _window_start |
-- | d1    | 1 | 00:00:00      |
