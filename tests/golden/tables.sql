CREATE STREAM trades (symbol STRING, price DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);
CREATE TABLE limits (symbol STRING PRIMARY KEY, maximum DOUBLE, price DOUBLE);

-- @input trades
-- | symbol | price | ts       |
-- | a      | 10    | 00:00:01 |
-- | b      | 20    | 00:00:02 |
-- | c      | 30    | 00:00:03 |
-- |        | 40    | 00:00:04 |
-- | a      | 50    | 00:01:05 |

-- @input limits
-- | symbol | maximum | price |
-- | a      | 5       | 1     |
-- | b      | 25      | 2     |
-- | a      | 40      | 3     |

-- @case a lookup finds the newest row of a key
CREATE STREAM found AS SELECT t.symbol, t.price, l.maximum FROM trades t JOIN limits l ON t.symbol = l.symbol;
-- @expect found
-- | symbol | price | maximum |
-- | a      | 10    | 40      |
-- | b      | 20    | 25      |
-- | a      | 50    | 40      |

-- @case a left lookup keeps rows without a partner
CREATE STREAM found AS SELECT t.symbol, t.price, maximum FROM trades t LEFT JOIN limits ON t.symbol = limits.symbol;
-- @expect found
-- | symbol | price | maximum |
-- | a      | 10    | 40      |
-- | b      | 20    | 25      |
-- | c      | 30    |         |
-- |        | 40    |         |
-- | a      | 50    | 40      |

-- @case columns of one name are told apart
CREATE STREAM found AS
SELECT symbol, trades.price, limits.price AS theirs FROM trades JOIN limits USING (symbol) WHERE trades.price > 15;
-- @expect found
-- | symbol | price | theirs |
-- | b      | 20    | 2      |
-- | a      | 50    | 3      |

-- @case more than equality may be asked
CREATE STREAM above AS SELECT t.symbol, t.price FROM trades t JOIN limits l ON t.symbol = l.symbol AND t.price > l.maximum;
-- @expect above
-- | symbol | price |
-- | a      | 50    |

-- @case a view of a table is a table
CREATE VIEW high AS SELECT symbol, maximum AS most FROM limits WHERE maximum > 30;
CREATE STREAM found AS SELECT t.symbol, price, most FROM trades t JOIN high ON t.symbol = high.symbol;
-- @expect found
-- | symbol | price | most |
-- | a      | 10    | 40   |
-- | a      | 50    | 40   |

-- @case a window behind a lookup
CREATE VIEW known AS SELECT t.symbol, t.price, t.ts, l.maximum FROM trades t JOIN limits l ON t.symbol = l.symbol;
CREATE STREAM sums AS SELECT sum(price) AS total, max(maximum) AS most FROM known WINDOW TUMBLING(ts, 1m);
-- @expect sums
-- | total | most |
-- | 30    | 40   |
-- | 50    | 40   |

-- @case a table is no stream
CREATE STREAM copy AS SELECT * FROM limits;
-- @expect error those of a table
