-- @name calls
CREATE VIEW numbers AS SELECT * FROM generator(rows_per_second => 5, columns => ARRAY['value', 'value % 2 = 0 AS even']);
CREATE VIEW evens AS SELECT * FROM filter(TABLE numbers, condition => 'even -- only these');
CREATE STREAM `select` WITH (topic = 'evens') AS SELECT * FROM evens;
