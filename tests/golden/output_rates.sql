-- Of every so many rows, or of every span of time, the first row, the last one, or all.
CREATE STREAM readings (sensor STRING, n INT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);

-- @input readings
-- | sensor | n | ts       |
-- | a      | 1 | 00:00:01 |
-- | b      | 2 | 00:00:04 |
-- | a      | 3 | 00:00:02 |
-- | a      | 4 | 00:00:11 |
-- | b      | 5 | 00:00:09 |
-- | a      | 6 | 00:00:35 |
-- | b      | 7 | 00:00:31 |

-- @case the first of every three rows
CREATE STREAM some AS SELECT n FROM readings OUTPUT FIRST EVERY 3 EVENTS;
-- @expect some ordered
-- | n |
-- | 1 |
-- | 4 |
-- | 7 |

-- @case the last of every three rows that WHERE lets through
CREATE STREAM some AS SELECT n * 10 AS n FROM readings WHERE n <> 2 OUTPUT LAST EVERY 3 EVENTS;
-- @expect some ordered
-- | n  |
-- | 40 |
-- | 70 |

-- @case all rows, three at once: a rest stays behind
CREATE STREAM some AS SELECT n FROM readings OUTPUT ALL EVERY 3 EVENTS;
-- @expect some ordered
-- | n |
-- | 1 |
-- | 2 |
-- | 3 |
-- | 4 |
-- | 5 |
-- | 6 |

-- @case the first row of every ten seconds
CREATE STREAM some AS SELECT n FROM readings OUTPUT FIRST EVERY 10 SECONDS;
-- @expect some ordered
-- | n |
-- | 1 |
-- | 4 |
-- | 7 |

-- @case the last row of every ten seconds, by event time
CREATE STREAM some AS SELECT sensor, n FROM readings OUTPUT LAST EVERY 10 SECONDS;
-- @expect some ordered
-- | sensor | n |
-- | b      | 5 |
-- | a      | 4 |
-- | a      | 6 |

-- @case all rows of a span, by event time
CREATE STREAM some AS SELECT n FROM readings WHERE n < 6 OUTPUT ALL EVERY 10 SECONDS;
-- @expect some ordered
-- | n |
-- | 1 |
-- | 3 |
-- | 2 |
-- | 5 |
-- | 4 |

-- @case the operator itself does so for each key
CREATE STREAM some AS
SELECT * FROM `output-rate`(TABLE readings, which => 'last', every => '10 seconds', keys => ARRAY['sensor']);
-- @expect some
-- | sensor | n |
-- | a      | 3 |
-- | b      | 5 |
-- | a      | 4 |
-- | b      | 7 |
-- | a      | 6 |

-- @case groups have no order
CREATE STREAM some AS SELECT sensor, count(*) AS n FROM readings GROUP BY sensor OUTPUT LAST EVERY 3 EVENTS;
-- @expect error OUTPUT cannot stand beside groups

-- @case changes cannot be counted
CREATE STREAM some AS
SELECT n FROM (SELECT sensor, count(*) AS n FROM readings GROUP BY sensor) AS x OUTPUT LAST EVERY 3 EVENTS;
-- @expect error these rows are changes

-- @case rows of a join have no order
CREATE STREAM some AS
SELECT a.n FROM readings AS a JOIN readings AS b ON a.sensor = b.sensor WITHIN 10s OUTPUT FIRST EVERY 3 EVENTS;
-- @expect error no order in which OUTPUT could count them

-- @case a row is one row
CREATE STREAM some AS SELECT DISTINCT n FROM readings OUTPUT FIRST EVERY 3 EVENTS;
-- @expect error OUTPUT stands beside plain columns

-- @case a snapshot has the latest row of every key
PARTITION WITH (sensor OF readings) BEGIN
  CREATE STREAM some AS SELECT sensor, n FROM readings WHERE n <> 7 OUTPUT SNAPSHOT EVERY 10 SECONDS;
END;
-- @expect some
-- | sensor | n |
-- | a      | 3 |
-- | b      | 5 |
-- | b      | 5 |
-- | a      | 4 |
-- | b      | 5 |
-- | a      | 6 |

-- @case a snapshot without a key is the latest row
CREATE STREAM some AS SELECT n FROM readings OUTPUT SNAPSHOT EVERY 10 SECONDS;
-- @expect some ordered
-- | n |
-- | 5 |
-- | 4 |
-- | 6 |

-- @case a snapshot goes by time
CREATE STREAM some AS SELECT n FROM readings OUTPUT SNAPSHOT EVERY 3 EVENTS;
-- @expect error OUTPUT SNAPSHOT goes by time

-- @case a span needs a time
CREATE STREAM timeless (n INT);
CREATE STREAM some AS SELECT n FROM timeless OUTPUT LAST EVERY 10 SECONDS;
-- @expect error the rows have none

-- @case a partition has keys
PARTITION WITH (sensor OF readings) BEGIN
  CREATE STREAM some AS SELECT n FROM readings OUTPUT LAST EVERY 3 EVENTS;
END;
-- @expect some
-- | n |
-- | 4 |
-- | 7 |
