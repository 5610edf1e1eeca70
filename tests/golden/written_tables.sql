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

-- @case rows of a table are updated by those of a stream
CREATE TABLE limits (symbol STRING PRIMARY KEY, maximum DOUBLE, price INT);
UPDATE limits SET maximum = t.price + limits.maximum FROM trades AS t WHERE limits.symbol = t.symbol;
-- @input limits
-- | symbol | maximum | price |
-- | a      | 5       | 1     |
-- | d      | 6       | 2     |
-- @expect into_limits
-- | symbol | maximum | price |
-- | a      | 15      | 1     |
-- | a      | 55      | 1     |

-- @case rows of a table are deleted by those of a stream
CREATE TABLE limits (name STRING PRIMARY KEY, maximum DOUBLE);
CREATE VIEW dear AS SELECT * FROM trades WHERE price > 20 AND symbol IS NOT NULL;
DELETE FROM limits USING dear WHERE limits.name = dear.symbol;
-- @expect limits
-- | name |
-- | c    |
-- | a    |

-- @case rows take the place of others
CREATE TABLE limits (symbol STRING PRIMARY KEY, maximum DOUBLE);
UPSERT INTO limits SELECT symbol, price AS maximum FROM trades WHERE symbol < 'c' ON limits.symbol = trades.symbol;
-- @expect limits
-- | symbol | maximum |
-- | a      | 10      |
-- | b      | 20      |
-- | a      | 50      |

-- @case a table knows its rows by several columns
CREATE TABLE limits (symbol STRING, price DOUBLE, maximum DOUBLE, PRIMARY KEY (symbol, price));
UPDATE limits SET maximum = maximum + t.price FROM trades AS t WHERE limits.price = t.price AND limits.symbol = t.symbol;
-- @input limits
-- | symbol | price | maximum |
-- | a      | 10    | 1       |
-- | a      | 10    | 2       |
-- | a      | 20    | 3       |
-- | b      | 20    | 4       |
-- @expect into_limits
-- | symbol | price | maximum |
-- | a      | 10    | 12      |
-- | b      | 20    | 24      |

-- @case rows of a table with several keys are deleted by all of them
CREATE TABLE limits (name STRING PRIMARY KEY, at DOUBLE PRIMARY KEY, maximum DOUBLE);
CREATE VIEW dear AS SELECT * FROM trades WHERE price > 20 AND symbol IS NOT NULL;
DELETE FROM limits USING dear WHERE limits.at = dear.price AND limits.name = dear.symbol;
-- @expect limits
-- | name | at |
-- | c    | 30 |
-- | a    | 50 |

-- @case each column of the key tells which row is meant
CREATE TABLE limits (name STRING PRIMARY KEY, at DOUBLE PRIMARY KEY, maximum DOUBLE);
DELETE FROM limits USING trades WHERE limits.name = trades.symbol;
-- @expect error the key says which row of the table is meant

-- @case a query may name several keys of a table
CREATE TABLE sums AS SELECT symbol PRIMARY KEY, price PRIMARY KEY, 1 AS one FROM trades WHERE symbol = 'a';
-- @expect sums
-- | symbol | price |
-- | a      | 10    |
-- | a      | 50    |
