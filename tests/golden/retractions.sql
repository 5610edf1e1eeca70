-- Rows that leave a changing result: a stream retracts what it emitted, a table deletes their keys.
CREATE STREAM trades (symbol STRING, price INT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);

-- @input trades
-- | symbol | price | ts       |
-- | a      | 10    | 00:00:01 |
-- | b      | 20    | 00:00:02 |
-- | a      | 30    | 00:00:03 |
-- | c      | 40    | 00:00:04 |
-- | a      | 50    | 00:00:05 |
-- | b      | 5     | 00:00:06 |
-- | a      | 60    | 00:00:07 |
-- | a      | 1     | 00:00:08 |

-- @case a group that its HAVING no longer holds for leaves the table
CREATE TABLE few AS SELECT symbol PRIMARY KEY, count(*) AS n FROM trades GROUP BY symbol HAVING count(*) < 3;
-- @expect few
-- | symbol | n |
-- | b      | 2 |
-- | c      | 1 |

-- @case a group that an outer WHERE no longer holds for leaves the table
CREATE TABLE small AS SELECT symbol PRIMARY KEY, total FROM
  (SELECT symbol, sum(price) AS total FROM trades GROUP BY symbol) AS sums WHERE total < 50;
-- @expect small
-- | symbol | total |
-- | b      | 25    |
-- | c      | 40    |

-- @case a row that others pushed out of the best two leaves the table
CREATE TABLE best AS SELECT symbol PRIMARY KEY, price PRIMARY KEY, ts FROM (
  SELECT symbol, price, ts, row_number() OVER (PARTITION BY symbol ORDER BY price DESC) AS place FROM trades
) AS ranked WHERE place <= 2;
-- @expect best
-- | symbol | price |
-- | a      | 60    |
-- | a      | 50    |
-- | b      | 20    |
-- | b      | 5     |
-- | c      | 40    |

-- @case a newest row that is filtered out leaves the table
CREATE TABLE dear AS SELECT symbol PRIMARY KEY, price FROM (
  SELECT symbol, price, row_number() OVER (PARTITION BY symbol ORDER BY ts DESC) AS place FROM trades
) AS ranked WHERE place = 1 AND price >= 20;
-- @expect dear
-- | symbol | price |
-- | c      | 40    |
