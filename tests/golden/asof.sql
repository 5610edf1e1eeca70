-- Rows with the newest row of another stream that is not later.
CREATE STREAM trades (symbol STRING, volume INT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '10' SECOND);
CREATE STREAM quotes (symbol STRING, price DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '10' SECOND);

-- @input trades
-- | symbol | volume | ts       |
-- | a      | 1      | 00:00:00 |
-- | a      | 2      | 00:00:05 |
-- | b      | 3      | 00:00:07 |
-- | a      | 4      | 00:00:03 |
-- | c      | 5      | 00:00:09 |
-- | a      | 6      | 00:00:20 |
-- |        | 7      | 00:00:21 |

-- @input quotes
-- | symbol | price | ts       |
-- | a      | 10.5  | 00:00:02 |
-- | b      | 7     | 00:00:01 |
-- | a      | 11    | 00:00:05 |
-- | b      |       | 00:00:06 |
-- | a      | 12    | 00:00:19 |
-- |        | 99    | 00:00:10 |

-- @case pairs only
CREATE STREAM priced AS
SELECT t.symbol, volume, price FROM trades AS t ASOF JOIN quotes AS q ON t.symbol = q.symbol AND t.ts >= q.ts;
-- @expect priced
-- | symbol | volume | price |
-- | a      | 4      | 10.5  |
-- | a      | 2      | 11    |
-- | b      | 3      |       |
-- | a      | 6      | 12    |

-- @case rows without a partner as well, with nulls
CREATE STREAM priced AS
SELECT t.symbol, volume, q.symbol AS quoted, price, q.ts AS since
FROM trades AS t ASOF LEFT JOIN quotes AS q ON t.symbol = q.symbol AND q.ts <= t.ts;
-- @expect priced ordered
-- | symbol | volume | quoted | price | since    |
-- | a      | 1      |        |       |          |
-- | a      | 4      | a      | 10.5  | 00:00:02 |
-- | a      | 2      | a      | 11    | 00:00:05 |
-- | b      | 3      | b      |       | 00:00:06 |
-- | c      | 5      |        |       |          |
-- | a      | 6      | a      | 12    | 00:00:19 |
-- |        | 7      |        |       |          |

-- @case no older than two seconds
CREATE STREAM priced AS SELECT volume, price FROM trades ASOF LEFT JOIN quotes USING (symbol) WITHIN 2 SECONDS;
-- @expect priced
-- | volume | price |
-- | 1      |       |
-- | 4      | 10.5  |
-- | 2      | 11    |
-- | 3      |       |
-- | 5      |       |
-- | 6      | 12    |
-- | 7      |       |

-- @case behind a filter and a computed key
CREATE VIEW dear AS SELECT upper(symbol) AS name, price, ts FROM quotes WHERE price > 10.6;
CREATE VIEW sold AS SELECT upper(symbol) AS symbol, volume, ts FROM trades;
CREATE STREAM priced AS SELECT symbol, volume, price FROM sold ASOF JOIN dear ON sold.symbol = dear.name;
-- @expect priced
-- | symbol | volume | price |
-- | A      | 2      | 11    |
-- | A      | 6      | 12    |

-- @case a stream with itself, whatever the symbol
CREATE STREAM again AS
SELECT a.volume, b.volume AS small FROM trades AS a
ASOF JOIN (SELECT volume, ts FROM trades WHERE volume < 4) AS b ON a.ts >= b.ts WHERE a.volume > 3;
-- @expect again
-- | volume | small |
-- | 4      | 1     |
-- | 5      | 3     |
-- | 6      | 3     |
-- | 7      | 3     |
