-- @name drones
-- @description Averages per drone, and alerts for low batteries
CREATE STREAM telemetry (
  id STRING, drone STRING, ts TIMESTAMP, altitude DOUBLE, battery DOUBLE,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (topic = 'fleet.telemetry', format = 'json', bad_rows = 'dead_letter', 'dead_letter.topic' = 'telemetry.bad');

CREATE STREAM averages WITH (topic = 'drone-averages', key = 'drone') AS
SELECT drone, _window_start AS window_start, count(*) AS reports, avg(altitude) AS altitude, avg(battery) AS battery
FROM telemetry
WHERE altitude IS NOT NULL
GROUP BY drone
WINDOW TUMBLING(10s)
HAVING count(*) >= 3
EMIT FINAL;

CREATE STREAM alerts AS
SELECT id, drone, ts, battery FROM telemetry WHERE battery < 20;
