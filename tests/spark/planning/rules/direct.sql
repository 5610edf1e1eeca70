CREATE STREAM a (k STRING, n INT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE STREAM b (k STRING, y DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE TABLE l (k STRING PRIMARY KEY, v INT);

-- Columns and a comparison: all that is done to a row, the reader does.
CREATE STREAM chosen AS SELECT k, n FROM a WHERE n > 3;
-- A function that only Spark has in the list: rows pass its plan.
CREATE STREAM named AS SELECT initcap(k) AS u, y FROM b;
