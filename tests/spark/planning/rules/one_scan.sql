CREATE STREAM a (k STRING, n INT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE STREAM b (k STRING, y DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE TABLE l (k STRING PRIMARY KEY, v INT);

-- Two filters over one topic: one pass.
CREATE STREAM large AS SELECT *, upper(k) AS u FROM a WHERE n > 3;
CREATE STREAM small AS SELECT *, upper(k) AS u FROM a WHERE n < 1;
-- A window has a query of its own.
CREATE STREAM counts AS SELECT k, count(*) AS c FROM a GROUP BY k WINDOW TUMBLING(1m);
