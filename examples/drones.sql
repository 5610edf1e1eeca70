-- @name drones
-- @description Low batteries at once, averages for every minute.
CREATE STREAM telemetry (
  drone STRING, battery DOUBLE, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (topic = 'telemetry', format = 'json');

CREATE STREAM low_battery WITH (key = 'drone') AS
SELECT drone, battery, ts
FROM telemetry
WHERE battery < 20;

CREATE STREAM averages WITH (key = 'drone') AS
SELECT drone, avg(battery) AS battery, _window_start AS minute
FROM telemetry
GROUP BY drone
WINDOW TUMBLING(1m)
EMIT FINAL;
