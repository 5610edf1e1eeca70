from __future__ import annotations

from itertools import islice
from typing import Any

import pytest

from headrace.demo.check import Expected, check, expect, window_start
from headrace.demo.fleet import Fleet, timestamp
from headrace.demo.pipelines import AVERAGES, HIGH_ALTITUDE, LOW_BATTERY

Rows = dict[str, list[dict[str, Any]]]


@pytest.fixture
def expected() -> Expected:
    return expect(islice(Fleet(5).events(), 2_000))


@pytest.fixture
def rows(expected: Expected) -> Rows:
    """What a faultless run writes."""
    return {
        LOW_BATTERY: [{"id": e.id, "drone": e.drone, "battery": e.battery} for e in expected.alerts.values()],
        HIGH_ALTITUDE: [{"id": e.id, "drone": e.drone, "altitude": e.altitude} for e in expected.heights.values()],
        AVERAGES: [
            {
                "drone": drone,
                "window_start": timestamp(start),
                "reports": average.reports,
                "altitude": average.altitude,
                "battery": average.battery,
                "temperature": average.temperature,
            }
            for (drone, start), average in expected.averages.items()
        ],
    }


def test_faultless_run_is_clean(expected: Expected, rows: Rows) -> None:
    report = check(expected, rows)
    assert report.is_clean
    assert report.examples == []
    assert (report.events_in, report.events_out) == (2_000, expected.row_count)


@pytest.mark.parametrize("topic", [LOW_BATTERY, HIGH_ALTITUDE, AVERAGES])
def test_lost_row_is_found(expected: Expected, rows: Rows, topic: str) -> None:
    rows[topic].pop()
    report = check(expected, rows)
    assert (report.lost, report.duplicated, report.wrong) == (1, 0, 0)
    assert not report.is_clean
    assert report.examples[0].startswith(topic)


@pytest.mark.parametrize("topic", [LOW_BATTERY, HIGH_ALTITUDE, AVERAGES])
def test_doubled_row_is_found(expected: Expected, rows: Rows, topic: str) -> None:
    rows[topic] += rows[topic][:1] * 2
    report = check(expected, rows)
    assert (report.lost, report.duplicated, report.wrong) == (0, 2, 0)


def test_wrong_average_is_found(expected: Expected, rows: Rows) -> None:
    rows[AVERAGES][0]["battery"] += 0.25
    report = check(expected, rows)
    assert (report.lost, report.duplicated, report.wrong) == (0, 0, 1)


def test_window_that_misses_a_row_is_found(expected: Expected, rows: Rows) -> None:
    rows[AVERAGES][3]["reports"] -= 1
    assert check(expected, rows).wrong == 1


@pytest.mark.parametrize("topic", [LOW_BATTERY, HIGH_ALTITUDE, AVERAGES])
def test_row_from_nowhere_is_found(expected: Expected, rows: Rows, topic: str) -> None:
    rows[topic].append({"id": "stranger", "drone": "x"})
    assert check(expected, rows).wrong == 1


def test_altered_alert_is_wrong_and_its_original_lost(expected: Expected, rows: Rows) -> None:
    rows[LOW_BATTERY][0]["battery"] = 55.0
    report = check(expected, rows)
    assert (report.lost, report.wrong) == (1, 1)


def test_examples_are_limited(expected: Expected) -> None:
    report = check(expected, {})
    assert report.lost == expected.row_count
    assert len(report.examples) == 10


def test_windows_are_aligned_to_the_unix_epoch() -> None:
    for event in islice(Fleet(9).events(), 100):
        start = window_start(event.ts)
        assert start.timestamp() % 10 == 0
        assert 0 <= (event.ts - start).total_seconds() < 10
