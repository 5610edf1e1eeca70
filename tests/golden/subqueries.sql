-- IN and EXISTS over a table, as conditions of WHERE.
CREATE STREAM trades (symbol STRING, price INT, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE STREAM quotes (symbol STRING, bid INT, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE TABLE limits (symbol STRING PRIMARY KEY, price INT, venue STRING);

-- @input trades
-- | symbol | price | ts       |
-- |--------|-------|----------|
-- | a      | 5     | 00:00:01 |
-- | b      | 20    | 00:00:02 |
-- | c      | 30    | 00:00:03 |
-- |        | 40    | 00:00:04 |
-- | A      | 50    | 00:00:05 |
-- | a      | 60    | 00:00:06 |

-- @input limits
-- | symbol | price | venue |
-- | a      | 10    | x     |
-- | b      | 10    | y     |
-- | d      | 10    | x     |

-- @case IN keeps rows that the table has, each once
CREATE STREAM o AS SELECT symbol, price FROM trades WHERE symbol IN (SELECT symbol FROM limits);
-- @expect o
-- | symbol | price |
-- | a      | 5     |
-- | b      | 20    |
-- | a      | 60    |

-- @case IN with conditions inside and beside it
CREATE STREAM o AS SELECT * FROM trades WHERE price > 10 AND lower(symbol) IN (SELECT symbol FROM limits WHERE venue = 'x') AND price < 55;
-- @expect o
-- | symbol | price | ts       |
-- | A      | 50    | 00:00:05 |

-- @case EXISTS with a condition over both
CREATE STREAM o AS SELECT symbol, price FROM trades AS t WHERE EXISTS (SELECT 1 FROM limits AS l WHERE l.symbol = t.symbol AND t.price > l.price);
-- @expect o
-- | symbol | price |
-- | b      | 20    |
-- | a      | 60    |

-- @case NOT EXISTS keeps rows that have none, also those whose key is null
CREATE STREAM o AS SELECT symbol, price FROM trades WHERE NOT EXISTS (SELECT * FROM limits WHERE limits.symbol = trades.symbol);
-- @expect o
-- | symbol | price |
-- | c      | 30    |
-- |        | 40    |
-- | A      | 50    |

-- @case a name that both have is the table's inside
CREATE STREAM o AS SELECT symbol, price FROM trades WHERE EXISTS (SELECT 1 FROM limits WHERE symbol = trades.symbol AND price = 10 AND venue = 'y');
-- @expect o
-- | symbol | price |
-- | b      | 20    |

-- @case two of them, before a window
CREATE STREAM o AS SELECT symbol, count(*) AS n FROM trades
WHERE symbol IN (SELECT symbol FROM limits) AND NOT EXISTS (SELECT 1 FROM limits WHERE limits.symbol = trades.symbol AND venue = 'y')
GROUP BY symbol WINDOW TUMBLING(10s);
-- @expect o
-- | symbol | n |
-- | a      | 2 |

-- @case over a view of the table
CREATE VIEW at_x AS SELECT symbol FROM limits WHERE venue = 'x';
CREATE STREAM o AS SELECT symbol FROM trades WHERE symbol IN (SELECT symbol FROM at_x);
-- @expect o
-- | symbol |
-- | a      |
-- | a      |

-- @case rows and table are brought together by key
CREATE STREAM o AS SELECT * FROM `lookup-join`(left => TABLE trades, right => TABLE limits, on => 'left.symbol = right.symbol AND right.price > left.price',
  kind => 'semi', spread => 'by_key');
-- @expect o
-- | symbol | price |
-- | a      | 5     |

-- @case a lookup by key keeps rows without a partner
CREATE VIEW places AS SELECT symbol, venue FROM limits;
CREATE STREAM o AS SELECT * FROM `lookup-join`(left => TABLE trades, right => TABLE places, on => 'left.symbol = right.symbol',
  kind => 'left', spread => 'by_key');
-- @expect o
-- | symbol | price | venue |
-- | a      | 5     | x     |
-- | b      | 20    | y     |
-- | c      | 30    |       |
-- |        | 40    |       |
-- | A      | 50    |       |
-- | a      | 60    | x     |

-- @case SEMI JOIN and ANTI JOIN are EXISTS and NOT EXISTS
CREATE STREAM o AS SELECT t.symbol, price FROM trades AS t LEFT SEMI JOIN limits AS l ON t.symbol = l.symbol AND l.venue = 'x'
UNION ALL SELECT symbol, price FROM trades ANTI JOIN limits USING (symbol);
-- @expect o
-- | symbol | price |
-- | a      | 5     |
-- | a      | 60    |
-- | c      | 30    |
-- |        | 40    |
-- | A      | 50    |

-- @case NOT IN keeps rows that the table does not have, and no row whose value is null
CREATE STREAM o AS SELECT symbol, price FROM trades WHERE symbol NOT IN (SELECT symbol FROM limits);
-- @expect o
-- | symbol | price |
-- | c      | 30    |
-- | A      | 50    |

-- @case NOT IN among rows of the table that are chosen
CREATE STREAM o AS SELECT symbol, price FROM trades WHERE NOT symbol IN (SELECT symbol FROM limits WHERE venue = 'x' AND price > 3) AND price < 50;
-- @expect o
-- | symbol | price |
-- | b      | 20    |
-- | c      | 30    |

-- @case a null among the values of NOT IN lets no row through
CREATE STREAM o AS SELECT symbol, price FROM trades WHERE symbol NOT IN (SELECT if(venue = 'y', NULL, symbol) FROM limits);
-- @expect o

-- @case NOT IN no values at all lets every row through, also nulls
CREATE STREAM o AS SELECT symbol, price FROM trades WHERE symbol NOT IN (SELECT symbol FROM limits WHERE price > 100) AND price > 20;
-- @expect o
-- | symbol | price |
-- | c      | 30    |
-- |        | 40    |
-- | A      | 50    |
-- | a      | 60    |

-- @case NOT IN among the rows of the table that belong to the row: a null among those lets it not through
CREATE STREAM o AS SELECT symbol, price FROM trades WHERE price NOT IN (SELECT if(venue = 'y', NULL, 60) FROM limits WHERE limits.symbol = trades.symbol);
-- @expect o
-- | symbol | price |
-- | a      | 5     |
-- | c      | 30    |
-- |        | 40    |
-- | A      | 50    |

-- @case a subquery as a value
CREATE STREAM o AS SELECT symbol, (SELECT venue FROM limits WHERE limits.symbol = trades.symbol) AS venue FROM trades;
-- @expect o
-- | symbol | venue |
-- | a      | x     |
-- | b      | y     |
-- | c      |       |
-- | NULL   |       |
-- | A      |       |
-- | a      | x     |

-- @case no row makes a value null, whatever the subquery computes
CREATE STREAM o AS SELECT symbol, (SELECT coalesce(upper(venue), 'none') FROM limits WHERE symbol = trades.symbol) || '!' AS venue FROM trades WHERE price > 10;
-- @expect o
-- | symbol | venue |
-- | b      | Y!    |
-- | c      |       |
-- | NULL   |       |
-- | A      |       |
-- | a      | X!    |

-- @case values in WHERE and beside *
CREATE STREAM o AS SELECT *, (SELECT venue FROM limits AS l WHERE l.symbol = t.symbol) AS venue FROM trades AS t
WHERE price > (SELECT price FROM limits AS l WHERE l.symbol = t.symbol) AND price < 55;
-- @expect o
-- | symbol | price | ts       | venue |
-- | b      | 20    | 00:00:02 | y     |

-- @case a value that could be several is refused
CREATE STREAM o AS SELECT symbol, (SELECT venue FROM limits WHERE limits.price = trades.price) AS venue FROM trades;
-- @expect error this subquery could give several rows of limits, and a value is one: its key symbol is not compared with =

-- @case a value beside groups is refused
CREATE STREAM o AS SELECT symbol, count(*) AS n, (SELECT venue FROM limits WHERE limits.symbol = trades.symbol) AS venue FROM trades GROUP BY symbol;
-- @expect error a subquery that is a value stands beside plain columns only

-- @case a subquery over a stream is refused
CREATE STREAM o AS SELECT * FROM trades WHERE symbol IN (SELECT symbol FROM quotes);
-- @expect error quotes is a stream, of which a subquery would keep every row for ever

-- @case a subquery beside OR is refused
CREATE STREAM o AS SELECT * FROM trades WHERE price > 3 OR symbol IN (SELECT symbol FROM limits);
-- @expect error a subquery can only be a condition of its own in WHERE, [NOT] IN (SELECT …) or [NOT] EXISTS (SELECT …), or a value

-- @case an aggregate of a table is refused
CREATE STREAM o AS SELECT * FROM trades WHERE symbol IN (SELECT max(symbol) FROM limits);
-- @expect error a table is looked up row by row

-- @case an EXISTS that no row has a part in is refused
CREATE STREAM o AS SELECT * FROM trades WHERE EXISTS (SELECT 1 FROM limits);
-- @expect error this EXISTS is the same for every row
