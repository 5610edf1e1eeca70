-- @name keys
CREATE STREAM trades (symbol STRING, venue STRING, price DOUBLE);
CREATE TABLE limits (symbol STRING, venue STRING, maximum DOUBLE, PRIMARY KEY (symbol, venue));
CREATE TABLE newest AS SELECT symbol PRIMARY KEY, upper(venue) AS venue PRIMARY KEY, price FROM trades;
INSERT INTO limits SELECT symbol, venue, price AS maximum FROM trades;
DELETE FROM limits USING trades WHERE trades.venue = limits.venue AND limits.symbol = trades.symbol;
CREATE STREAM dear AS
SELECT t.symbol, price FROM trades AS t JOIN limits AS l ON t.symbol = l.symbol AND t.venue = l.venue WHERE price > maximum;
