"""The demo's two pipelines, one in SQL and one in text notation."""

from __future__ import annotations

from typing import Final

from headrace.demo.fleet import DISORDER_MS

TELEMETRY: Final = "telemetry"
AVERAGES: Final = "drone-averages"
LOW_BATTERY: Final = "low-battery"
HIGH_ALTITUDE: Final = "high-altitude"

DRONES: Final = "drones"
HEIGHTS: Final = "heights"

WINDOW_S: Final = 10
BATTERY_LIMIT: Final = 20.0
ALTITUDE_LIMIT: Final = 100.0
WATERMARK_S: Final = DISORDER_MS // 1_000 + 1


def drones_sql(watermark_s: int = WATERMARK_S) -> str:
    """Averages per drone and window, and an alert for every report of a low battery."""
    return f"""\
-- @name {DRONES}
CREATE STREAM telemetry (
  id STRING, drone STRING, ts TIMESTAMP, altitude DOUBLE, battery DOUBLE, temperature DOUBLE,
  WATERMARK FOR ts AS ts - INTERVAL '{watermark_s}' SECOND
) WITH (topic = '{TELEMETRY}', format = 'json');

CREATE STREAM averages WITH (topic = '{AVERAGES}', format = 'json', key = 'drone') AS
SELECT drone, _window_start AS window_start, count(*) AS reports,
       avg(altitude) AS altitude, avg(battery) AS battery, avg(temperature) AS temperature
FROM telemetry
GROUP BY drone
WINDOW TUMBLING({WINDOW_S}s)
EMIT FINAL;

CREATE STREAM alerts WITH (topic = '{LOW_BATTERY}', format = 'json', key = 'drone') AS
SELECT id, drone, ts, battery
FROM telemetry
WHERE battery < {BATTERY_LIMIT:g};
"""  # noqa: S608 - numbers and names of this file


def heights_text() -> str:
    """Reports from above the height that drones may fly."""
    return (
        f'topic {TELEMETRY} schema="id STRING, drone STRING, ts TIMESTAMP, altitude DOUBLE"'
        f' ! filter "altitude > {ALTITUDE_LIMIT:g}" ! to-topic {HIGH_ALTITUDE} key=drone'
    )
