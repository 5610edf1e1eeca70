CREATE STREAM a (k STRING, n INT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE STREAM b (k STRING, y DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE TABLE l (k STRING PRIMARY KEY, v INT);

-- Filters of two branches: only rows that one of them may want are handed on.
CREATE STREAM large AS SELECT k, x FROM a WHERE n > 3 AND k IS NOT NULL;
CREATE STREAM small AS SELECT k, x FROM a WHERE n < 1;
-- A branch without a filter wants all.
CREATE STREAM every AS SELECT * FROM b;
CREATE STREAM some AS SELECT * FROM b WHERE y > 1;
-- Behind a lookup it is what a filter says of the stream, not what it says of the table.
CREATE STREAM c (k STRING, z INT);
CREATE STREAM known AS SELECT c.k, c.z, l.v FROM c LEFT JOIN l ON c.k = l.k WHERE c.z > 2 AND l.v IS NULL;
-- Behind a join it is what it says of each side.
CREATE STREAM d (j STRING, w INT, td TIMESTAMP, WATERMARK FOR td AS td);
CREATE STREAM pairs AS SELECT a.k, a.n, d.w FROM a JOIN d ON a.k = d.j AND d.td BETWEEN a.ts AND a.ts + INTERVAL 1 MINUTE
  WHERE d.w = 1;
