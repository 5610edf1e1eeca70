from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.errors import InvalidGraph
from headrace.graph import Schema
from headrace.operators.schedules import Cron, Every, Once, Schedule, firings_ms, newest_firings_ms
from headrace.operators.trigger_source import TriggerSource, schedule_of

MONDAY = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
DAY_MS = 86_400_000
SCHEDULES = (Every(700), Every(60_000), Cron("*/7 * * * *"), Cron("15 10,22 * * MON-FRI"), Cron("*/20 * * * * *"))


def ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def times(line: str, count: int) -> list[str]:
    """The first firings after Monday noon."""
    schedule, found, after_ms = Cron(line), list[str](), ms(MONDAY)
    while len(found) < count:
        next_ms = schedule.next_ms(after_ms)
        assert next_ms is not None
        found.append(f"{datetime.fromtimestamp(next_ms / 1000, UTC):%a %d %b %H:%M:%S}")
        after_ms = next_ms
    return found


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("*/5 * * * *", ["Mon 16 Nov 12:05:00", "Mon 16 Nov 12:10:00"]),
        ("30 6,18 * * *", ["Mon 16 Nov 18:30:00", "Tue 17 Nov 06:30:00"]),
        ("0 9-17/4 * * tue-wed", ["Tue 17 Nov 09:00:00", "Tue 17 Nov 13:00:00", "Tue 17 Nov 17:00:00"]),
        ("0 0 1 jan,feb *", ["Fri 01 Jan 00:00:00", "Mon 01 Feb 00:00:00"]),
        ("0 0 13 * FRI", ["Fri 20 Nov 00:00:00", "Fri 27 Nov 00:00:00"]),  # one of the two is enough, as in cron
        ("*/30 * * * * *", ["Mon 16 Nov 12:00:30", "Mon 16 Nov 12:01:00"]),
    ],
)
def test_cron_lines_mean_what_cron_means(line: str, expected: list[str]) -> None:
    assert times(line, len(expected)) == expected


def test_every_is_aligned_to_the_epoch() -> None:
    after_ms = ms(MONDAY) + 1_200
    assert list(firings_ms(Every(5_000), after_ms, after_ms + 10_000)) == [ms(MONDAY) + 5_000, ms(MONDAY) + 10_000]


def test_a_start_fires_once() -> None:
    assert list(firings_ms(Once(7), 0, 100)) == [7]
    assert list(firings_ms(Once(7), 7, 100)) == []


@given(st.sampled_from(SCHEDULES), st.integers(0, DAY_MS), st.lists(st.integers(0, DAY_MS), max_size=6))
def test_wherever_a_span_is_cut_each_firing_comes_once(schedule: Schedule, start: int, cuts: list[int]) -> None:
    begin_ms = ms(MONDAY) + start
    moments = sorted({begin_ms, begin_ms + 1_000_000, *(begin_ms + cut % 1_000_000 for cut in cuts)})
    parts = [found for after, until in pairwise(moments) for found in firings_ms(schedule, after, until)]
    assert parts == list(firings_ms(schedule, moments[0], moments[-1]))


@given(st.sampled_from(SCHEDULES), st.integers(0, DAY_MS))
def test_backwards_come_the_same_moments_as_forwards(schedule: Schedule, offset_ms: int) -> None:
    until_ms = ms(MONDAY) + offset_ms
    newest = newest_firings_ms(schedule, until_ms, 3)
    assert newest == list(firings_ms(schedule, newest[0] - 1, until_ms))


def test_the_rows() -> None:
    source = TriggerSource()
    schema = source.output_schema(source.configure({}), {})
    assert (schema, schema.event_time) == (Schema.parse("triggered_at TIMESTAMP"), "triggered_at")


def test_the_schedule_of_a_config() -> None:
    configure = TriggerSource().configure
    assert schedule_of(configure({"every": "90s"}), 5) == Every(90_000)
    assert schedule_of(configure({"cron": " 0 0  * * * "}), 5) == Cron("0 0 * * *")
    assert schedule_of(configure({}), 5) == Once(5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"every": "5 seconds", "cron": "* * * * *"}, "every and cron are both set"),
        ({"every": "99 ms"}, "shorter than 100 milliseconds"),
        ({"every": "0 s"}, "shorter than 100 milliseconds"),
        ({"cron": "61 * * * *"}, "bad minute"),
        ({"cron": "* * * *"}, "wrong number of fields"),
        ({"cron": "0 0 30 2 *"}, "bad day-of-month"),
        ({"cron": "0 0 * 2 MON#9"}, "bad day-of-week"),
        ({"missed": "some"}, "all"),
    ],
)
def test_settings_that_are_wrong(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidGraph, match=message):
        TriggerSource().configure(settings)


def test_a_moment_that_never_comes_is_found_out() -> None:
    with pytest.raises(InvalidGraph, match="never comes"):
        TriggerSource().configure({"cron": "0 0 */31 * MON#2"})


def test_a_moment_that_comes_every_four_years() -> None:
    leap = Cron("0 0 29 2 *").next_ms(ms(MONDAY))
    assert leap == ms(datetime(2028, 2, 29, tzinfo=UTC))
    assert Cron("0 0 29 2 *").last_ms(leap + int(timedelta(days=1).total_seconds() * 1000)) == leap
