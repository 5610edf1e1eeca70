CREATE STREAM trades (symbol STRING, price DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);

-- @input trades
-- | symbol | price | ts       |
-- | a      | 10    | 00:00:01 |
-- | b      | 20    | 00:00:02 |
-- | c      | 30    | 00:00:03 |
-- |        | 40    | 00:00:04 |
-- | a      | 50    | 00:01:05 |

-- @case rows go into a table by their key
CREATE TABLE sums (symbol STRING, total DOUBLE, PRIMARY KEY (symbol));
INSERT INTO sums SELECT symbol, sum(price) AS total FROM trades WHERE symbol IS NOT NULL GROUP BY symbol WINDOW TUMBLING(1h);
-- @mode batch
-- @expect sums
-- | symbol | total |
-- | a      | 60    |
-- | b      | 20    |
-- | c      | 30    |

-- @case a table made by a query
CREATE TABLE newest AS SELECT symbol PRIMARY KEY, price * 2 AS twice FROM trades WHERE symbol = 'a';
-- @expect newest
-- | symbol | twice |
-- | a      | 20    |
-- | a      | 100   |

-- @case a table without a key is refused
CREATE TABLE newest AS SELECT symbol, price FROM trades;
-- @expect error the table newest has no key
