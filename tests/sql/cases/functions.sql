-- @name temperatures
CREATE FUNCTION warmth AS 'headrace.operators.samples:fahrenheit' LANGUAGE PYTHON;
CREATE FUNCTION gap AS 'headrace.operators.samples:spread';
CREATE STREAM readings (sensor STRING, celsius DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts);

CREATE STREAM warm AS
SELECT sensor, warmth(celsius) AS degrees, upper(sensor) AS name FROM readings AS r WHERE Warmth(r.celsius) > 50;

CREATE STREAM gaps AS
SELECT sensor, gap(warmth(celsius)) AS gap, max(celsius) AS most
FROM readings GROUP BY sensor WINDOW TUMBLING(10s) HAVING gap(celsius) > 1;
