-- Functions in Python: of single rows, and of all values of a group.
CREATE FUNCTION warmth AS 'headrace.operators.samples:fahrenheit';
CREATE FUNCTION gap AS 'headrace.operators.samples:spread';
CREATE STREAM readings (sensor STRING, celsius DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts);

-- @input readings
-- | sensor | celsius | ts       |
-- | a      | 0       | 00:00:01 |
-- | b      | 100     | 00:00:02 |
-- | a      | 10      | 00:00:03 |
-- | b      |         | 00:00:04 |
-- | a      | 40      | 00:00:11 |

-- @case a function of rows chooses and computes, and passes over nulls
CREATE STREAM warm AS SELECT sensor, warmth(celsius) AS degrees FROM readings WHERE coalesce(warmth(celsius), 99) > 40;
-- @expect warm
-- | sensor | degrees |
-- | b      | 212     |
-- | a      | 50      |
-- | b      |         |
-- | a      | 104     |

-- @case a function of groups aggregates a window
CREATE STREAM gaps AS
SELECT sensor, gap(warmth(celsius)) AS gap FROM readings GROUP BY sensor WINDOW TUMBLING(10s) HAVING gap(celsius) >= 0;
-- @expect gaps
-- | sensor | gap |
-- | a      | 18  |
-- | b      | 0   |
-- | a      | 0   |

-- @case a function of groups aggregates all rows so far
CREATE STREAM gaps AS SELECT sensor, gap(celsius) AS gap FROM readings GROUP BY sensor EMIT CHANGES;
-- @expect gaps
-- | sensor | gap |
-- | a      | 40  |
-- | b      | 0   |

-- @case a name is created once
CREATE FUNCTION Gap AS 'headrace.operators.samples:spread';
CREATE STREAM gaps AS SELECT sensor FROM readings;
-- @expect error the function 'Gap' is created twice

-- @case a name of Spark's is not free
CREATE FUNCTION sum AS 'headrace.operators.samples:spread';
CREATE STREAM gaps AS SELECT sensor FROM readings;
-- @expect error 'sum' is a function of Spark

-- @case a function takes columns of its types
CREATE STREAM warm AS SELECT warmth(sensor) AS degrees FROM readings;
-- @expect error takes DOUBLE, and not STRING
