"""A fleet of drones: telemetry that is the same for the same seed, event by event.

Numbers are multiples of a quarter, so that sums are exact in floating point and averages can be compared for equality.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

# Where event time begins; telemetry says when it was measured, not when it was sent.
EPOCH: Final = datetime(2026, 1, 1, tzinfo=UTC)
REPORT_INTERVAL_MS: Final = 1_000
DISORDER_MS: Final = 4_000

# Closing events come this much later than everything else, so that every window before them closes.
CLOSING_GAP: Final = timedelta(days=1)
CLOSING_DRONE: Final = "closing"

FULL_BATTERY: Final = 100.0
LANDING_BATTERY: Final = 10.0


@dataclass(frozen=True, slots=True)
class Event:
    """One report of a drone. `id` is unique within a fleet."""

    id: str
    drone: str
    ts: datetime
    latitude: float
    longitude: float
    altitude: float
    battery: float
    temperature: float

    def to_json(self) -> bytes:
        fields = {name: getattr(self, name) for name in self.__slots__}
        return json.dumps({**fields, "ts": timestamp(self.ts)}).encode()


@dataclass(slots=True)
class _Drone:
    name: str
    latitude: float
    longitude: float
    altitude: float
    battery: float


class Fleet:
    """`events()` never ends and begins anew with every call.

    Reports leave in the order of their sending times; each was measured up to DISORDER_MS before it was sent. So a
    watermark of at least DISORDER_MS never makes one late, as long as their order is kept.
    """

    def __init__(self, seed: int, drone_count: int = 50) -> None:
        self.seed = seed
        self.drone_count = drone_count

    @property
    def step_ms(self) -> float:
        """Event time between two reports of the fleet."""
        return REPORT_INTERVAL_MS / self.drone_count

    def events(self) -> Iterator[Event]:
        source = random.Random(self.seed)  # noqa: S311 - the same events for the same seed
        drones = [_new_drone(source, index) for index in range(self.drone_count)]
        index = 0
        while True:
            drone = drones[index % self.drone_count]
            _fly(source, drone)
            sent_ms = DISORDER_MS + round(index * self.step_ms)
            measured = EPOCH + timedelta(milliseconds=sent_ms - source.randrange(DISORDER_MS + 1))
            yield _report(source, drone, f"{self.seed}-{index}", measured)
            index += 1

    def closing_event(self, index: int, event_count: int) -> Event:
        """Far later than the first `event_count` events. All closing events share one time: their window stays open."""
        ts = EPOCH + timedelta(milliseconds=event_count * self.step_ms) + CLOSING_GAP
        return Event(f"{self.seed}-closing-{index}", CLOSING_DRONE, ts, 0.0, 0.0, 0.0, FULL_BATTERY, 0.0)


def timestamp(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _new_drone(source: random.Random, index: int) -> _Drone:
    # Spread from the start, so that a short run has alerts and heights too.
    battery = _quarter(source.uniform(LANDING_BATTERY, FULL_BATTERY))
    position = source.uniform(47.0, 48.0), source.uniform(11.0, 12.0)
    return _Drone(f"drone-{index:03d}", *position, _quarter(source.uniform(0, 120)), battery)


def _fly(source: random.Random, drone: _Drone) -> None:
    drone.latitude += source.uniform(-0.001, 0.001)
    drone.longitude += source.uniform(-0.001, 0.001)
    drone.altitude = _quarter(min(150.0, max(0.0, drone.altitude + source.uniform(-8, 8))))
    drone.battery -= 0.25 * source.randrange(4)
    if drone.battery < LANDING_BATTERY:
        drone.battery = FULL_BATTERY


def _report(source: random.Random, drone: _Drone, event_id: str, ts: datetime) -> Event:
    temperature = _quarter(20 - drone.altitude / 40 + source.uniform(-2, 2))
    place = round(drone.latitude, 6), round(drone.longitude, 6)
    return Event(event_id, drone.name, ts, *place, drone.altitude, drone.battery, temperature)


def _quarter(value: float) -> float:
    return round(value * 4) / 4
