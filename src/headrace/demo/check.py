"""What must come out for what was sent, compared with what did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeAlias

from headrace.demo.fleet import EPOCH, Event
from headrace.demo.pipelines import ALTITUDE_LIMIT, AVERAGES, BATTERY_LIMIT, HIGH_ALTITUDE, LOW_BATTERY, WINDOW_S

Row: TypeAlias = Mapping[str, Any]
WindowKey: TypeAlias = tuple[str, datetime]

EXAMPLES_MAX: Final = 10
AVERAGED: Final = ("altitude", "battery", "temperature")


@dataclass(frozen=True, slots=True)
class Average:
    reports: int
    altitude: float
    battery: float
    temperature: float


@dataclass(frozen=True, slots=True)
class Expected:
    """What the two pipelines must make of some events, once every window is closed."""

    event_count: int
    alerts: Mapping[str, Event]
    heights: Mapping[str, Event]
    averages: Mapping[WindowKey, Average]

    @property
    def row_count(self) -> int:
        return len(self.alerts) + len(self.heights) + len(self.averages)


@dataclass(slots=True)
class Report:
    """`lost` and `duplicated` count rows by event id, or by drone and window; `wrong` counts rows with other values,
    and rows that nothing sent accounts for. `examples` names the first few of each."""

    events_in: int
    events_out: int
    lost: int = 0
    duplicated: int = 0
    wrong: int = 0
    examples: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        return not (self.lost or self.duplicated or self.wrong)

    def note(self, example: str) -> None:
        if len(self.examples) < EXAMPLES_MAX:
            self.examples.append(example)


def expect(events: Iterable[Event]) -> Expected:
    alerts: dict[str, Event] = {}
    heights: dict[str, Event] = {}
    windows: dict[WindowKey, list[Event]] = {}
    count = 0
    for event in events:
        count += 1
        if event.battery < BATTERY_LIMIT:
            alerts[event.id] = event
        if event.altitude > ALTITUDE_LIMIT:
            heights[event.id] = event
        windows.setdefault((event.drone, window_start(event.ts)), []).append(event)
    return Expected(count, alerts, heights, {key: _average(group) for key, group in windows.items()})


def check(expected: Expected, rows: Mapping[str, Iterable[Row]]) -> Report:
    """`rows` are all committed rows of each output topic. Nothing is read or waited for here."""
    outputs = {topic: list(found) for topic, found in rows.items()}
    report = Report(expected.event_count, sum(map(len, outputs.values())))
    _check_events(report, LOW_BATTERY, expected.alerts, outputs.get(LOW_BATTERY, []), "battery")
    _check_events(report, HIGH_ALTITUDE, expected.heights, outputs.get(HIGH_ALTITUDE, []), "altitude")
    _check_averages(report, expected.averages, outputs.get(AVERAGES, []))
    return report


def window_start(moment: datetime) -> datetime:
    """Windows are aligned to the Unix epoch, and EPOCH is the start of one."""
    return EPOCH + (moment - EPOCH) // timedelta(seconds=WINDOW_S) * timedelta(seconds=WINDOW_S)


def _average(group: list[Event]) -> Average:
    sums = (sum(getattr(event, name) for event in group) for name in AVERAGED)
    return Average(len(group), *(total / len(group) for total in sums))


def _check_events(report: Report, topic: str, expected: Mapping[str, Event], rows: Iterable[Row], measure: str) -> None:
    seen: Counter[str] = Counter()
    for row in rows:
        event = expected.get(str(row.get("id")))
        if event is None or (row.get("drone"), row.get(measure)) != (event.drone, getattr(event, measure)):
            report.wrong += 1
            report.note(f"{topic}: wrong row {dict(row)}")
        else:
            seen[event.id] += 1
    _count(report, topic, seen, expected)


def _check_averages(report: Report, expected: Mapping[WindowKey, Average], rows: Iterable[Row]) -> None:
    seen: Counter[WindowKey] = Counter()
    for row in rows:
        key, found = _window_of(row)
        if key in expected:
            seen[key] += 1
        if expected.get(key) != found:
            report.wrong += 1
            report.note(f"{AVERAGES}: wrong row {dict(row)}, expected {expected.get(key)}")
    _count(report, AVERAGES, seen, expected)


def _window_of(row: Row) -> tuple[WindowKey, Average]:
    """A row without its fields is no window of ours: its key fits none that is expected."""
    try:
        key = str(row["drone"]), _moment(row["window_start"])
        return key, Average(row["reports"], *(row[name] for name in AVERAGED))
    except (KeyError, ValueError):
        return ("", datetime.min), Average(0, 0.0, 0.0, 0.0)


def _count(report: Report, topic: str, seen: Counter[Any], expected: Mapping[Any, object]) -> None:
    for key in expected:
        times = seen[key]
        if times == 0:
            report.lost += 1
            report.note(f"{topic}: {key} is lost")
        elif times > 1:
            report.duplicated += times - 1
            report.note(f"{topic}: {key} came {times} times")


def _moment(written: str | int) -> datetime:
    """ISO 8601, or epoch milliseconds."""
    if isinstance(written, int):
        return datetime.fromtimestamp(written / 1_000, UTC)
    moment = datetime.fromisoformat(written)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
