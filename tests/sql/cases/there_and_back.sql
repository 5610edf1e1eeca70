-- @name loop
CREATE STREAM orders (id BIGINT, state STRING) WITH (topic = 'orders', format = 'arrow');
CREATE STREAM cleaned (id BIGINT, state STRING) WITH (topic = 'orders.clean', key = 'id', partitions = 8, start = 'latest');
INSERT INTO cleaned SELECT id, lower(state) AS state FROM orders;
CREATE STREAM report WITH (connector = 'preview') AS SELECT * FROM cleaned WHERE state = 'lost';
