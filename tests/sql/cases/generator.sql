-- @name made-up
CREATE STREAM made (
  value,
  drone AS concat('drone-', value % 5),
  battery AS rand() * 100,
  timestamp,
  WATERMARK FOR timestamp AS timestamp
) WITH (connector = 'generator', rows_per_second = 100, rows = 5000);
CREATE STREAM look WITH (connector = 'preview', rows = 20);
INSERT INTO look SELECT * EXCEPT (value) FROM made;
CREATE STREAM archive WITH (connector = 'file', path = 'archive/', format = 'parquet');
INSERT INTO archive SELECT drone, battery FROM made WHERE battery < 20;
INSERT INTO look SELECT drone, count(*) AS n FROM made GROUP BY drone WINDOW TUMBLING(timestamp, 500 ms);
