-- @name lookups
CREATE STREAM trades (symbol STRING, price DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts)
  WITH ('event.time.format' = 'dd.MM.yyyy HH:mm:ss');
CREATE TABLE limits (symbol STRING PRIMARY KEY, maximum DOUBLE, venue STRING);
CREATE STREAM unknown AS SELECT * FROM trades WHERE symbol NOT IN (SELECT symbol FROM limits WHERE venue = 'x') AND price > 1;
CREATE STREAM above AS SELECT symbol, (SELECT venue FROM limits AS l WHERE l.symbol = t.symbol) AS venue FROM trades AS t
  WHERE price > (SELECT maximum FROM limits AS l WHERE l.symbol = t.symbol);
CREATE STREAM listed AS SELECT * FROM trades AS t LEFT SEMI JOIN limits AS l ON t.symbol = l.symbol;
PARTITION WITH (symbol OF trades) BEGIN CREATE STREAM some AS SELECT * FROM trades OUTPUT LAST EVERY 5 EVENTS; END;
CREATE STREAM marked AS SELECT symbol PRIMARY KEY, SET_HEADER('price', price), REMOVE_HEADER('trace') FROM trades;
