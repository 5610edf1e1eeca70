CREATE STREAM a (k STRING, n INT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE STREAM b (k STRING, y DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE TABLE l (k STRING PRIMARY KEY, v INT);

CREATE STREAM looked AS SELECT a.*, v FROM a JOIN l ON a.k = l.k;
CREATE STREAM spread AS SELECT * FROM `lookup-join`(left => TABLE b, right => TABLE l, on => 'left.k = right.k',
  spread => 'by_key');
