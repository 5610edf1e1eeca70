"""Triggers as a source of Spark: which rows a micro-batch has, and that none is lost or doubled through restarts."""

from __future__ import annotations

import time
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable

from headrace.errors import InvalidInput
from headrace.operators.trigger_source import TriggerConfig, TriggerSource
from headrace.spark.sources.trigger_source import FIRED, FIRINGS_PER_BATCH_MAX, TriggerStreamReader

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

DEADLINE_S = 90.0
EVERY_MS = 200
OPENED_MS = 1_763_300_000_050


class Clock:
    def __init__(self) -> None:
        self.now_ms = OPENED_MS

    def __call__(self) -> int:
        return self.now_ms


def config(**settings: str) -> TriggerConfig:
    return TriggerSource().configure(settings)


def made(reader: TriggerStreamReader, start: dict[str, int]) -> tuple[dict[str, int], list[int]]:
    """Where a micro-batch ends now, and its firings."""
    end = reader.latestOffset(start, reader.getDefaultReadLimit())
    rows = [row for part in reader.partitions(start, end) for batch in reader.read(part) for row in batch.to_pylist()]
    return end, [int(row["triggered_at"].timestamp() * 1000) for row in rows]


def test_firings_come_when_their_time_has_come_and_once() -> None:
    clock = Clock()
    reader = TriggerStreamReader(config(every="5 seconds"), OPENED_MS, clock)
    start = reader.initialOffset()
    assert made(reader, start) == (start, [])
    clock.now_ms += 9_949
    start, firings = made(reader, start)
    assert firings == [OPENED_MS - 50 + 5_000]
    clock.now_ms += 10_001
    end, firings = made(reader, start)
    assert firings == [OPENED_MS - 50 + count * 5_000 for count in (2, 3, 4)] == [*firings[:2], end[FIRED]]
    assert made(reader, end) == (end, [])


def test_a_long_time_down_comes_in_bounded_micro_batches() -> None:
    clock = Clock()
    reader = TriggerStreamReader(config(every="1 second"), OPENED_MS, clock)
    clock.now_ms += 15_000 * 1_000
    start, first = made(reader, reader.initialOffset())
    end, second = made(reader, start)
    assert (len(first), len(second)) == (FIRINGS_PER_BATCH_MAX, 5_000)
    assert all(later - earlier == 1_000 for earlier, later in pairwise([*first, *second]))
    assert reader.latestOffset(reader.initialOffset(), ReadAllAvailable()) == end == reader.reportLatestOffset()


def test_only_the_last_of_missed_firings_where_that_is_wanted() -> None:
    clock = Clock()
    reader = TriggerStreamReader(config(cron="* * * * *", missed="last"), OPENED_MS, clock)
    clock.now_ms += 3 * 3_600_000
    end, firings = made(reader, reader.initialOffset())
    assert firings == [clock.now_ms // 60_000 * 60_000] == [end[FIRED]]
    assert made(reader, end) == (end, [])


def test_a_start_fires_once_also_after_a_restart() -> None:
    clock = Clock()
    start, firings = made(first := TriggerStreamReader(config(), OPENED_MS, clock), {FIRED: 0})
    assert first.initialOffset() == {FIRED: 0}
    assert firings == [OPENED_MS]
    again = TriggerStreamReader(config(), OPENED_MS + 5_000, clock)
    assert made(again, start) == (start, [])


@pytest.mark.spark
def test_no_firing_is_lost_or_doubled_while_a_pipeline_is_stopped(stack: Stack) -> None:
    target = stack.name("fired")
    document = stack.pipeline(f'trigger "{EVERY_MS} ms" as beat ! select triggered_at ! to-topic {target}')
    stack.engine.start(document)
    before = _wait_for_rows(stack, target, 2)
    stack.engine.stop(document.name)
    stack.engine.start(document)
    after = _wait_for_rows(stack, target, len(before) + 2)
    stack.engine.stop(document.name)
    assert all(later - earlier == EVERY_MS for earlier, later in pairwise(after))


@pytest.mark.spark
def test_a_batch_has_no_clock(stack: Stack) -> None:
    with pytest.raises(InvalidInput, match="node 'beat': a trigger fires by the clock"):
        stack.engine.run_batch(stack.pipeline('trigger cron="* * * * *" as beat ! preview'))


@pytest.mark.spark
def test_somebody_who_looks_sees_the_newest_firings(stack: Stack) -> None:
    document = stack.pipeline('trigger "1 hour" as beat ! preview\ntrigger as begun ! preview')
    sampling = stack.engine.sampling()
    rows = sampling.edge(document, "beat", "out", 3).rows
    moments = [datetime.fromisoformat(row["triggered_at"]).timestamp() for row in rows]
    assert [later - earlier for earlier, later in pairwise(moments)] == [3_600, 3_600]
    assert len(sampling.edge(document, "begun", "out", 3).rows) == 1


def _wait_for_rows(stack: Stack, topic: str, count: int) -> list[int]:
    """The firings in the topic, in milliseconds, once there are so many."""
    deadline_s = time.monotonic() + DEADLINE_S
    while True:
        rows = [round(datetime.fromisoformat(row["triggered_at"]).timestamp() * 1000) for row in stack.rows(topic)]
        if len(rows) >= count:
            return rows
        assert time.monotonic() < deadline_s, rows
        time.sleep(0.1)
