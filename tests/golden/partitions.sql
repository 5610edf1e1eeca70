-- PARTITION WITH: all that is kept between rows is kept for each key.
CREATE STREAM readings (sensor STRING, n INT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);

-- @input readings
-- | sensor | n | ts       |
-- | a      | 1 | 00:00:01 |
-- | b      | 2 | 00:00:02 |
-- | a      | 3 | 00:00:03 |
-- | b      | 4 | 00:00:14 |
-- | a      | 5 | 00:00:15 |

-- @case a window has the key
PARTITION WITH (sensor OF readings) BEGIN
  CREATE STREAM o AS SELECT sensor, sum(n) AS total FROM readings WINDOW TUMBLING(10s);
END;
-- @expect o
-- | sensor | total |
-- | a      | 4     |
-- | b      | 2     |
-- | a      | 5     |
-- | b      | 4     |

-- @case so has a group of all rows
PARTITION WITH (sensor OF readings) BEGIN
  CREATE STREAM o AS SELECT sensor, sum(n) AS total FROM readings;
END;
-- @expect o
-- | sensor | total |
-- | a      | 9     |
-- | b      | 6     |

-- @case OVER looks at rows of the key
PARTITION WITH (sensor OF readings) BEGIN
  CREATE STREAM o AS SELECT sensor, n, sum(n) OVER (ORDER BY ts ROWS 1 PRECEDING) AS total FROM readings;
END;
-- @expect o
-- | sensor | n | total |
-- | a      | 1 | 1     |
-- | b      | 2 | 2     |
-- | a      | 3 | 4     |
-- | b      | 4 | 6     |
-- | a      | 5 | 8     |

-- @case ROW_NUMBER() ranks rows of the key
PARTITION WITH (sensor OF readings) BEGIN
  CREATE STREAM o AS SELECT sensor, n FROM readings QUALIFY ROW_NUMBER() OVER (ORDER BY n DESC) = 1;
END;
-- @expect o
-- | sensor | n |
-- | a      | 5 |
-- | b      | 4 |

-- @case OUTPUT counts rows of the key
PARTITION WITH (sensor OF readings) BEGIN
  CREATE STREAM o AS SELECT sensor, n FROM readings OUTPUT FIRST EVERY 2 EVENTS;
END;
-- @expect o
-- | sensor | n |
-- | a      | 1 |
-- | b      | 2 |
-- | a      | 5 |

-- @case DISTINCT has the key among its columns
PARTITION WITH (sensor OF readings) BEGIN
  CREATE STREAM o AS SELECT DISTINCT n % 2 AS odd FROM readings;
END;
-- @expect error DISTINCT for each key needs the key among its columns
