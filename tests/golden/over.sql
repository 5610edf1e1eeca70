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

-- @case the row itself
CREATE STREAM o AS SELECT symbol, price, count(*) OVER (PARTITION BY symbol ORDER BY ts ROWS BETWEEN CURRENT ROW AND CURRENT ROW) AS n FROM trades WHERE price > 15;
-- @expect o
-- | symbol | price | n |
-- | a      | 20    | 1 |
-- | a      | 30    | 1 |
-- | a      | 50    | 1 |

-- @case all rows together, without a key
CREATE STREAM o AS SELECT price, sum(price) OVER (ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS total FROM trades WHERE price IS NOT NULL;
-- @expect o ordered
-- | price | total |
-- | 10    | 10    |
-- | 20    | 30    |
-- | 7     | 37    |
-- | 30    | 57    |
-- | 50    | 87    |

-- @case several aggregates over the same rows
CREATE STREAM o AS
SELECT price, min(price) OVER (PARTITION BY symbol ORDER BY ts ROWS BETWEEN 5 PRECEDING AND CURRENT ROW) AS low,
  max(price) OVER (PARTITION BY symbol ORDER BY ts ROWS BETWEEN 5 PRECEDING AND CURRENT ROW) AS high
FROM trades WHERE symbol = 'a' AND price IS NOT NULL;
-- @expect o ordered
-- | price | low | high |
-- | 10    | 10  | 10   |
-- | 20    | 10  | 20   |
-- | 30    | 10  | 30   |
-- | 50    | 10  | 50   |

-- @case what an aggregate says is used in a query around it
CREATE STREAM o AS SELECT symbol, price FROM (
  SELECT symbol, price, avg(price) OVER (PARTITION BY symbol ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS usual FROM trades WHERE price IS NOT NULL
) AS w WHERE price > usual * 1.2;
-- @expect o
-- | symbol | price |
-- | a      | 20    |
-- | a      | 50    |

-- @case one order only
CREATE STREAM o AS SELECT sum(price) OVER (PARTITION BY symbol ORDER BY ts DESC ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM trades;
-- @expect error OVER goes by event time

-- @case rows that are still to come
CREATE STREAM o AS SELECT sum(price) OVER (PARTITION BY symbol ORDER BY ts ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS s FROM trades;
-- @expect error a bounded number of rows before each row
