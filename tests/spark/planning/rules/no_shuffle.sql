CREATE STREAM a (k STRING, n INT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE STREAM b (k STRING, y DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE TABLE l (k STRING PRIMARY KEY, v INT);

CREATE STREAM near AS SELECT * FROM `length-window`(TABLE a, length => 3, keys => ARRAY['k'],
  aggregates => ARRAY['avg(x) AS usual'], partitioned => 'as_topic');
CREATE STREAM moved AS SELECT * FROM `length-window`(TABLE b, length => 3, keys => ARRAY['k'],
  aggregates => ARRAY['avg(y) AS usual']);
