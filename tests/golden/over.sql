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
-- @expect error OVER looks at rows before each row

-- @case the value of the row before
CREATE STREAM o AS
SELECT symbol, price, lag(price) OVER (PARTITION BY symbol ORDER BY ts) AS before, lag(price, 2, -1) OVER (PARTITION BY symbol ORDER BY ts) AS earlier
FROM trades;
-- @expect o ordered
-- | symbol | price | before | earlier |
-- | a      | 10    |        | -1      |
-- | a      | 20    | 10     | -1      |
-- | b      | 7     |        | -1      |
-- | a      | 30    | 20     | 10      |
-- | a      |       | 30     | 20      |
-- | a      | 50    |        | 30      |

-- @case what changed since the row before
CREATE STREAM o AS SELECT symbol, price - lag(price, 1, 0) OVER (PARTITION BY symbol ORDER BY ts) AS change FROM trades WHERE price IS NOT NULL;
-- @expect o
-- | symbol | change |
-- | a      | 10     |
-- | a      | 10     |
-- | a      | 10     |
-- | a      | 20     |
-- | b      | 7      |

-- @case all rows so far, those of the same time together
CREATE STREAM o AS
SELECT symbol, price, sum(price) OVER (PARTITION BY symbol ORDER BY ts) AS total, count(*) OVER (PARTITION BY symbol ORDER BY ts) AS n,
  avg(price) OVER (PARTITION BY symbol ORDER BY ts) AS usual, min(price) OVER (PARTITION BY symbol ORDER BY ts) AS low,
  max(price) OVER (PARTITION BY symbol ORDER BY ts) AS high
FROM trades;
-- @expect o
-- | symbol | price | total | n | usual | low | high |
-- | a      | 10    | 10    | 1 | 10    | 10  | 10   |
-- | a      | 20    | 30    | 2 | 15    | 10  | 20   |
-- | b      | 7     | 7     | 1 | 7     | 7   | 7    |
-- | a      | 30    | 60    | 3 | 20    | 10  | 30   |
-- | a      |       | 110   | 5 | 27.5  | 10  | 50   |
-- | a      | 50    | 110   | 5 | 27.5  | 10  | 50   |

-- @case all rows so far, one after the other
CREATE STREAM o AS
SELECT symbol, price, count(*) OVER (PARTITION BY symbol ORDER BY ts ROWS UNBOUNDED PRECEDING) AS n,
  sum(price) OVER (PARTITION BY symbol ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS total
FROM trades;
-- @expect o ordered
-- | symbol | price | n | total |
-- | a      | 10    | 1 | 10    |
-- | a      | 20    | 2 | 30    |
-- | b      | 7     | 1 | 7     |
-- | a      | 30    | 3 | 60    |
-- | a      |       | 4 | 60    |
-- | a      | 50    | 5 | 110   |

-- @case a running total of all rows together
CREATE STREAM o AS SELECT price, sum(price) OVER (ORDER BY ts) AS total FROM trades WHERE price IS NOT NULL;
-- @expect o ordered
-- | price | total |
-- | 10    | 10    |
-- | 20    | 30    |
-- | 7     | 37    |
-- | 30    | 67    |
-- | 50    | 117   |

-- @case numbers of rows
CREATE STREAM o AS
SELECT symbol, price, ROW_NUMBER() OVER (PARTITION BY symbol ORDER BY ts) AS r, RANK() OVER (PARTITION BY symbol ORDER BY ts) AS k,
  DENSE_RANK() OVER (ORDER BY ts) AS d
FROM trades;
-- @expect o
-- | symbol | price | r | k | d |
-- | a      | 10    | 1 | 1 | 1 |
-- | a      | 20    | 2 | 2 | 2 |
-- | b      | 7     | 1 | 1 | 3 |
-- | a      | 30    | 3 | 3 | 4 |
-- | a      |       | 4 | 4 | 5 |
-- | a      | 50    | 5 | 4 | 5 |

-- @case every second row
CREATE STREAM o AS SELECT symbol, price FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY symbol ORDER BY ts) AS n FROM trades) AS r WHERE n % 2 = 0;
-- @expect o
-- | symbol | price |
-- | a      | 20    |
-- | a      |       |

-- @case the first and the last value
CREATE STREAM o AS
SELECT symbol, price, first_value(price) OVER (PARTITION BY symbol ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS before,
  last_value(price) OVER (PARTITION BY symbol ORDER BY ts RANGE BETWEEN INTERVAL '4' SECOND PRECEDING AND CURRENT ROW) AS same_time,
  first_value(price) OVER (PARTITION BY symbol ORDER BY ts) AS first, last_value(price) IGNORE NULLS OVER (PARTITION BY symbol ORDER BY ts ROWS UNBOUNDED PRECEDING) AS known
FROM trades;
-- @expect o
-- | symbol | price | before | same_time | first | known |
-- | a      | 10    | 10     | 10        | 10    | 10    |
-- | a      | 20    | 10     | 20        | 10    | 20    |
-- | b      | 7     | 7      | 7         | 7     | 7     |
-- | a      | 30    | 20     | 30        | 10    | 30    |
-- | a      |       | 30     | 50        | 10    | 30    |
-- | a      | 50    |        | 50        | 10    | 50    |

-- @case of expressions, and of some rows only
CREATE STREAM o AS
SELECT *, sum(price * 2) OVER (PARTITION BY symbol ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS doubled,
  count(*) FILTER (WHERE price > 15) OVER (PARTITION BY symbol ORDER BY ts ROWS BETWEEN 5 PRECEDING AND CURRENT ROW) AS dear
FROM trades WHERE price IS NOT NULL;
-- @expect o
-- | symbol | price | doubled | dear |
-- | a      | 10    | 20      | 0    |
-- | a      | 20    | 60      | 1    |
-- | b      | 7     | 14      | 0    |
-- | a      | 30    | 100     | 2    |
-- | a      | 50    | 160     | 3    |

-- @case under the name of a column
CREATE STREAM o AS SELECT symbol, max(price) OVER (PARTITION BY symbol ORDER BY ts) AS price FROM trades WHERE price < 25;
-- @expect o
-- | symbol | price |
-- | a      | 10    |
-- | a      | 20    |
-- | b      | 7     |

-- @case what follows a row
CREATE STREAM o AS SELECT lead(price) OVER (PARTITION BY symbol ORDER BY ts) AS s FROM trades;
-- @expect error LEAD looks at what follows a row
