CREATE STREAM a (k STRING, n INT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE STREAM b (k STRING, y DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE TABLE l (k STRING PRIMARY KEY, v INT);

-- Filters of two branches: only rows that one of them may want are handed on.
CREATE STREAM large AS SELECT k, x FROM a WHERE n > 3 AND k IS NOT NULL;
CREATE STREAM small AS SELECT k, x FROM a WHERE n < 1;
-- A branch without a filter wants all.
CREATE STREAM every AS SELECT * FROM b;
CREATE STREAM some AS SELECT * FROM b WHERE y > 1;
