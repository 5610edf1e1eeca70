-- @name "by hand"
CREATE STREAM `a-b` (`we ird` STRING, position STRUCT<lat: DOUBLE, lon: DOUBLE>, tags ARRAY<STRING>) WITH (topic = 'a-b');
CREATE VIEW north AS
SELECT `we ird`, position.lat AS lat, size(tags) AS tag_count
FROM `a-b`
WHERE `a-b`.position.lat > 60 -- the north
  AND /* not empty */ size(tags) > 0;
CREATE STREAM out_1 AS SELECT * FROM north;
CREATE STREAM out_2 WITH (key = 'we ird') AS SELECT * FROM north WHERE lat > 80;
