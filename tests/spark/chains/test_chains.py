"""Chains of serial operators on Spark, from topic to topic: restarts, retries, empty partitions, ticks, a swap."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from headrace.errors import NeedsBegin
from headrace.spark.planning.plan import identity

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

pytestmark = pytest.mark.spark

# The last column is in no row and read by nobody.
SCHEMA = 'schema="k STRING, n BIGINT, ts TIMESTAMP, unused DOUBLE"'
ROWS: list[dict[str, Any]] = [
    {"k": f"d{i % 5}", "n": i, "ts": f"2026-01-01T00:{i // 60:02d}:{i % 60:02d}Z"} for i in range(300)
]
DEADLINE_S = 60.0


def eventually(condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.1)


def running_totals(rows: list[dict[str, Any]], length: int) -> list[tuple[str, int, int]]:
    seen: dict[str, list[int]] = defaultdict(list)
    out = []
    for row in rows:
        seen[row["k"]].append(row["n"])
        out.append((row["k"], row["n"], sum(seen[row["k"]][-length:])))
    return sorted(out)


def totals_of(rows: list[dict[str, Any]]) -> list[tuple[str, int, int]]:
    return sorted((row["k"], row["n"], row["total"]) for row in rows)


WINDOW = 'length-window 7 keys=k aggregates=["sum(n) AS total"]'


CUSTOM = "custom partitioner=headrace.operators.samples:by_last_digit"


@pytest.mark.parametrize(
    ("before", "partitioned"),
    [("", "by_key"), ("", "as_topic"), ("", CUSTOM), ('! filter "n >= 0"', CUSTOM)],
    ids=["by_key", "as_topic", "custom", "custom-rows"],
)
def test_state_goes_on_through_batches_and_restarts(stack: Stack, before: str, partitioned: str) -> None:
    source, target = stack.topic("in", ROWS[:100]), stack.name("out")
    document = stack.pipeline(
        f"topic {source} {SCHEMA} max_rows_per_batch=40 {before} ! {WINDOW} partitioned={partitioned}"
        f' ! select k n total ! filter "n >= 0" ! to-topic {target} key=k'
    )
    stack.run(document)
    stack.produce(source, ROWS[100:])
    stack.run(document)
    assert totals_of(stack.rows(target)) == running_totals(ROWS, 7)


@pytest.mark.parametrize("until_end", [False, True])
def test_a_time_window_closes_on_a_quiet_stream_and_equals_batch(stack: Stack, until_end: bool) -> None:
    closing = [{"k": f"end{i}", "n": 0, "ts": "2026-01-01T09:00:00Z"} for i in range(20)]
    source, streamed, batched = stack.topic("in", [*ROWS, *closing]), stack.name("streamed"), stack.name("batched")
    window = 'time-window "1 minute" time=ts keys=["k"] aggregates=["sum(n) AS total", "count(*) AS c"]'
    text = f'topic {source} {SCHEMA} event_time=ts watermark="2 seconds" max_rows_per_batch=70 ! {window} ! to-topic '
    document = stack.pipeline(text + streamed)
    # Nothing more comes: only a batch without rows can close the windows.
    stack.engine.start(document, until_end=until_end)
    if until_end:
        eventually(lambda: stack.engine.status(document.name).state == "stopped")
    else:
        stack.finish(document)
    stack.engine.run_batch(stack.pipeline(text + batched))
    final = [row for row in stack.rows(batched) if not row["k"].startswith("end")]
    by_window = lambda row: (row["_window_start"], row["k"])  # noqa: E731
    assert sorted(stack.rows(streamed), key=by_window) == sorted(final, key=by_window)
    assert len(final) == 25


def test_an_empty_partition_keeps_its_lane(stack: Stack) -> None:
    source, target = stack.topic("in", partitions=3), stack.name("out")
    document = stack.pipeline(
        f"topic {source} {SCHEMA} ! {WINDOW} partitioned=as_topic ! select k n total ! to-topic {target}"
    )
    stack.engine.start(document)
    sent: list[dict[str, Any]] = []
    for start, end in ((0, 40), (40, 41), (41, 80)):
        stack.produce(source, ROWS[start:end])
        sent += ROWS[start:end]
        assert stack.engine.wait_idle(document.name, DEADLINE_S)
    stack.engine.stop(document.name)
    assert totals_of(stack.rows(target)) == running_totals(sent, 7)


@pytest.mark.parametrize("spread", ["as_topic", "round_robin"])
@pytest.mark.parametrize("before", ["", '! filter "value >= 0" ! select value'])
def test_rows_that_a_function_cannot_handle_are_kept_apart(stack: Stack, before: str, spread: str) -> None:
    source = stack.topic("in", [{"value": n} for n in (-1, 4, 0, 5)][not before :], partitions=1)
    target, bad = stack.name("out"), stack.name("bad")
    document = stack.pipeline(
        f'topic {source} schema="value BIGINT" {before} ! python headrace.operators.samples:reciprocal'
        f" on_error=dead_letter dead_letter={bad} partitioned={spread} ! to-topic {target}"
    )
    stack.run(document)
    assert sorted(row["value"] for row in stack.rows(target)) == [20, 25]
    (letter,) = stack.rows(bad)
    assert letter["row"] == '{"value": 0}'
    assert letter["reason"].startswith("ZeroDivisionError")
    assert (letter["partition"], letter["offset"]) == (0, 2 if before else 1)


def test_a_stopped_pipeline_goes_on_with_another_number_of_lanes(stack: Stack) -> None:
    source, target = stack.topic("in", ROWS[:100]), stack.name("out")
    document = stack.pipeline(
        f'topic {source} {SCHEMA} event_time=ts watermark="1 second" max_rows_per_batch=40 ! {WINDOW}'
        f' ! length-window 3 keys=k aggregates=["count(*) AS c"] ! select k n total ! to-topic {target}'
    )
    stack.engine.start(document)
    assert stack.engine.wait_idle(document.name, DEADLINE_S)
    for lanes in (3, 1):
        stack.engine.stop(document.name)
        stack.repartition(document, lanes)
        stack.produce(source, ROWS[100:200] if lanes == 3 else ROWS[200:])
        stack.engine.start(document)
        assert stack.engine.wait_idle(document.name, DEADLINE_S)
    # One that runs is not disturbed for long: it finds other lanes than it began with, and starts again with those.
    stack.repartition(document, 2)
    stack.produce(source, [{"k": "d0", "n": 1000, "ts": ROWS[-1]["ts"]}])
    eventually(lambda: len(stack.rows(target)) == len(ROWS) + 1)
    stack.engine.stop(document.name)
    assert totals_of(stack.rows(target)) == running_totals([*ROWS, {"k": "d0", "n": 1000}], 7)


def test_operators_are_swapped_inside_a_running_query(stack: Stack) -> None:
    """Rows below the commit that names the new operators went through the old ones, all others through the new."""
    source, target = stack.topic("in", partitions=1), stack.name("out")
    text = f'topic {source} schema="k STRING, n BIGINT" as src ! faulty-total factor=%s as total ! to-topic {target}'
    old, new = (stack.pipeline(text % factor, stack.name("swap")) for factor in (1, 1000))
    new = replace(new, name=old.name)
    stack.engine.start(old)
    stack.produce(source, [{"k": "a", "n": 1}])
    eventually(lambda: len(stack.rows(target)) == 1)
    swapped = stack.query(new)
    assert swapped.chain is not None
    (running,) = stack.engine._job(old.name).queries
    before = running.query.runId
    running.replace_chain(swapped.chain, stack.engine.catalogue, identity(swapped.plan))
    sent = 1
    while not any(row["total"] >= 1000 for row in stack.rows(target)):
        stack.produce(source, [{"k": "a", "n": 1}])
        sent += 1
        eventually(lambda: len(stack.rows(target)) == sent)  # noqa: B023
    assert running.query.runId == before
    stack.engine.stop(old.name)
    with pytest.raises(NeedsBegin, match="would begin empty"):
        stack.engine.start(old)
    stack.produce(source, [{"k": "a", "n": 2}])
    stack.run(new)
    found = [row["total"] for row in stack.rows(target)]
    assert found == sorted(found)
    assert found == [*range(1, sent), 1000 + sent - 1, 3000 + sent - 1]
