-- Aggregates over the rows before each row, by event time.
CREATE STREAM trades (symbol STRING, price DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '10' SECOND);

-- @input trades
-- | symbol | price | ts       |
-- | a      | 10    | 00:00:01 |
-- | a      | 30    | 00:00:05 |
-- | b      | 7     | 00:00:04 |
-- | a      | 20    | 00:00:03 |
-- | a      |       | 00:00:09 |
-- | a      | 50    | 00:00:09 |

-- @case the rows before
CREATE STREAM usual AS
SELECT symbol, price, avg(price) OVER (PARTITION BY symbol ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS usual
FROM trades WHERE price IS NOT NULL;
-- @expect usual ordered
-- | symbol | price | usual |
-- | a      | 10    | 10    |
-- | a      | 20    | 15    |
-- | b      | 7     | 7     |
-- | a      | 30    | 25    |
-- | a      | 50    | 40    |

-- @case the time before, with rows of the same time
CREATE STREAM recent AS
SELECT *, max(price) OVER (PARTITION BY symbol ORDER BY ts RANGE BETWEEN INTERVAL '4' SECOND PRECEDING AND CURRENT ROW) AS top,
  count(*) OVER (PARTITION BY symbol ORDER BY ts RANGE BETWEEN INTERVAL '4' SECOND PRECEDING AND CURRENT ROW) AS n
FROM trades;
-- @expect recent
-- | symbol | price | top | n |
-- | a      | 10    | 10  | 1 |
-- | a      | 20    | 20  | 2 |
-- | b      | 7     | 7   | 1 |
-- | a      | 30    | 30  | 3 |
-- | a      |       | 50  | 3 |
-- | a      | 50    | 50  | 3 |
