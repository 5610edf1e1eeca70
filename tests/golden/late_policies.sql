-- Streams whose late rows are not just dropped: what comes in time comes out as it does everywhere.
CREATE STREAM clicks (name STRING, v INT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '10' SECOND)
  WITH ('late.policy' = 'update_previous', 'late.for' = '1 minute');
CREATE STREAM reads (name STRING, v INT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '10' SECOND)
  WITH ('late.policy' = 'dead_letter', 'dead_letter.topic' = 'late');

-- @input clicks
-- | name | v | ts       |
-- | a    | 1 | 00:00:05 |
-- | a    | 2 | 00:00:13 |
-- | b    | 3 | 00:00:14 |
-- | a    | 4 | 00:00:09 |
-- | b    |   | 00:00:59 |
-- | a    | 5 | 00:01:05 |

-- @input reads
-- | name | v | ts       |
-- | a    | 1 | 00:00:05 |
-- | b    | 2 | 00:00:12 |
-- | a    | 4 | 00:00:09 |
-- | a    | 8 | 00:01:05 |

-- @case sessions that late rows may join
CREATE STREAM visits AS
SELECT name, count(*) AS n, sum(v) AS total, _window_start AS start, _window_end AS end
FROM clicks GROUP BY name WINDOW SESSION(5s);
-- @expect visits
-- | name | n | total | start    | end      |
-- | a    | 3 | 7     | 00:00:05 | 00:00:18 |
-- | b    | 1 | 3     | 00:00:14 | 00:00:19 |
-- | b    | 1 |       | 00:00:59 | 00:01:04 |
-- | a    | 1 | 5     | 00:01:05 | 00:01:10 |

-- @case windows that grow, and that late rows may change
CREATE STREAM sums AS
SELECT name, sum(v) AS total, _window_start AS start, _window_end AS end
FROM clicks WHERE name = 'a' GROUP BY name WINDOW CUMULATE(30s, 10s);
-- @expect sums
-- | name | total | start    | end      |
-- | a    | 5     | 00:00:00 | 00:00:10 |
-- | a    | 7     | 00:00:00 | 00:00:20 |
-- | a    | 7     | 00:00:00 | 00:00:30 |
-- | a    | 5     | 00:01:00 | 00:01:10 |
-- | a    | 5     | 00:01:00 | 00:01:20 |
-- | a    | 5     | 00:01:00 | 00:01:30 |

-- @case OVER that keeps late rows apart
CREATE STREAM summed AS SELECT name, v, sum(v) OVER (PARTITION BY name ORDER BY ts ROWS 1 PRECEDING) AS two FROM reads;
-- @expect summed
-- | name | v | two |
-- | a    | 1 | 1   |
-- | b    | 2 | 2   |
-- | a    | 4 | 5   |
-- | a    | 8 | 12  |

-- @case an ASOF join that keeps late rows apart
CREATE VIEW small AS SELECT name, v AS low, ts FROM reads WHERE v < 8;
CREATE STREAM found AS SELECT r.v, s.low FROM reads AS r ASOF JOIN small AS s ON r.name = s.name AND r.ts >= s.ts;
-- @expect found
-- | v | low |
-- | 1 | 1   |
-- | 2 | 2   |
-- | 4 | 4   |
-- | 8 | 4   |

-- @case a join of two streams that keeps late rows apart
CREATE VIEW small AS SELECT name, v AS low, ts FROM reads WHERE v < 8;
CREATE STREAM pairs AS SELECT r.v, s.low FROM reads AS r JOIN small AS s ON r.name = s.name WITHIN 5 SECONDS;
-- @expect pairs
-- | v | low |
-- | 1 | 1   |
-- | 1 | 4   |
-- | 2 | 2   |
-- | 4 | 1   |
-- | 4 | 4   |

-- @case an outer join of two streams that keeps late rows apart
CREATE VIEW small AS SELECT name, v AS low, ts FROM reads WHERE v < 4;
CREATE STREAM pairs AS SELECT r.v, s.low FROM reads AS r LEFT JOIN small AS s ON r.name = s.name WITHIN 5 SECONDS;
-- @expect pairs
-- | v | low |
-- | 1 | 1   |
-- | 2 | 2   |
-- | 4 | 1   |
-- | 8 |     |

-- @case a join in Spark's plan cannot keep late rows
CREATE VIEW small AS SELECT name, v AS low, ts FROM reads WHERE v < 8;
CREATE STREAM pairs AS SELECT r.v, s.low FROM reads AS r
LEFT JOIN small AS s ON r.name = s.name AND soundex(r.name) = soundex(s.name) WITHIN 5 SECONDS;
-- @expect error cannot be dead letters

-- @case two streams that meet have one policy
CREATE STREAM pairs AS SELECT r.v FROM reads AS r JOIN clicks AS c ON r.name = c.name WITHIN 1 MINUTE;
-- @expect error different policies
