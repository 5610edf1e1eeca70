-- @name rewritten
-- What is read and put into other words: keys, subqueries, names of other engines, the clock.
CREATE STREAM clicks (page STRING, ms INT) WITH (topic = 'clicks');
CREATE STREAM trades (symbol STRING, price DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (topic = 'trades');
CREATE TABLE limits (symbol STRING PRIMARY KEY, maximum DOUBLE);

CREATE STREAM by_clock AS
SELECT upper(page) AS page, count(*) AS clicks FROM clicks WHERE ms > 10 GROUP BY upper(page) WINDOW TUMBLING(PROCTIME(), 10s);

CREATE STREAM named AS
SELECT lower(symbol) AS name, distinctCount(price) AS prices FROM trades GROUP BY name;

CREATE STREAM limited AS
SELECT symbol, ifThenElse(price > 3, 'large', 'small') AS size, _event_time AS at FROM trades
WHERE price > 1 AND symbol IN (SELECT symbol FROM limits WHERE maximum > 3);

CREATE STREAM unlimited;
INSERT INTO unlimited SELECT * FROM trades AS t WHERE NOT EXISTS (SELECT 1 FROM limits AS l WHERE l.symbol = t.symbol);
