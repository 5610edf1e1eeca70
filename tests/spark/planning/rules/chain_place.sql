CREATE STREAM a (k STRING, n INT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE STREAM b (k STRING, y DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE TABLE l (k STRING PRIMARY KEY, v INT);

-- Rows go from the reader into the chain, by key.
CREATE STREAM usual AS SELECT *, avg(x) AS usual FROM a GROUP BY k WINDOW LENGTH(3);
-- Behind a window of Spark's plan.
CREATE VIEW counts AS SELECT k, count(*) AS c FROM b GROUP BY k WINDOW TUMBLING(1m);
CREATE STREAM around AS SELECT *, avg(c) AS usual FROM counts GROUP BY k WINDOW LENGTH(3);
-- What follows is Spark's alone.
CREATE VIEW lengths AS SELECT *, avg(y) AS usual FROM b GROUP BY k WINDOW LENGTH(4);
CREATE STREAM titled AS SELECT initcap(k) AS title, usual FROM lengths;
-- Without a serial operator there is no chain.
CREATE STREAM plain AS SELECT k FROM b WHERE y > 1;
-- Without a key there is one lane.
CREATE STREAM whole AS SELECT count(*) AS c FROM b WINDOW TUMBLING(1m);
