-- Filters, computed columns, parts of a query, and where rows may come from.
CREATE STREAM telemetry (drone STRING, battery DOUBLE, ok BOOLEAN, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);

-- @input telemetry
-- | drone | battery | ok    | ts       |
-- |-------|---------|-------|----------|
-- | d1    | 80      | true  | 00:00:01 |
-- | d2    | 10.5    | false | 00:00:02 |
-- | d1    | NULL    | true  | 00:00:03 |
-- | d3    | 19      | NULL  | 00:00:04 |

-- @case a filter keeps rows for which its condition holds
CREATE STREAM low AS SELECT drone, battery FROM telemetry WHERE battery < 20;
-- @expect low
-- | drone | battery |
-- | d2    | 10.5    |
-- | d3    | 19      |

-- @case columns are computed, and an alias is used to its right
CREATE STREAM shares AS SELECT upper(drone) AS name, battery / 100 AS share, share * 2 AS twice FROM telemetry;
-- @expect shares ordered
-- | name | share | twice |
-- | D1   | 0.8   | 1.6   |
-- | D2   | 0.105 | 0.21  |
-- | D1   | NULL  | NULL  |
-- | D3   | 0.19  | 0.38  |

-- @case CASE and casts
CREATE STREAM graded AS
SELECT drone, CASE WHEN battery < 20 THEN 'low' WHEN battery IS NULL THEN 'unknown' ELSE 'good' END AS grade,
  CAST(battery AS INT) AS whole
FROM telemetry;
-- @expect graded
-- | drone | grade   | whole |
-- | d1    | good    | 80    |
-- | d2    | low     | 10    |
-- | d1    | unknown | NULL  |
-- | d3    | low     | 19    |

-- @case parts of a query behind WITH
CREATE STREAM named AS
WITH known AS (SELECT drone, battery FROM telemetry WHERE battery IS NOT NULL),
  low AS (SELECT k.drone FROM known AS k WHERE k.battery < 15)
SELECT concat(drone, '!') AS name FROM low;
-- @expect named
-- | name |
-- | d2!  |

-- @case a query in FROM
CREATE STREAM fine AS SELECT x.drone FROM (SELECT drone, ok FROM telemetry WHERE battery > 1) AS x WHERE x.ok;
-- @expect fine
-- {"drone": "d1"}

-- @case two inserts into one stream
CREATE STREAM both;
INSERT INTO both SELECT drone FROM telemetry WHERE battery > 50;
INSERT INTO both SELECT drone FROM telemetry WHERE battery < 15;
-- @expect both
-- | drone |
-- | d1    |
-- | d2    |

-- @case system columns can be named
CREATE STREAM placed AS SELECT drone, _offset AS place FROM telemetry WHERE _offset > 1;
-- @expect placed ordered
-- | drone | place |
-- | d1    | 2     |
-- | d3    | 3     |

-- @case an unknown column is refused
CREATE STREAM wrong AS SELECT dron FROM telemetry;
-- @expect error unknown column 'dron'

-- @case a join without a bound is refused
CREATE STREAM wrong AS SELECT a.drone FROM telemetry AS a JOIN telemetry AS b ON a.drone = b.drone;
-- @expect error nothing bounds this join in time
