"""What is counted as late where Spark's plan drops rows: by node, and still there when counting fails."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from headrace.errors import NotFound
from headrace.graph.text import parse_text
from headrace.graph.validation import validate
from headrace.operators import Catalogue
from headrace.spark.compiling.recounting import MicroBatch, Recounting, closing_times
from headrace.spark.jobs.late_counts import LateCounts, stateful_nodes
from headrace.spark.planning.plan import QueryPlan
from headrace.spark.planning.queries import plan_queries
from headrace.spark.specs import Offsets
from headrace.spark.writing.checkpoint import Checkpoint

CATALOGUE = Catalogue()
TOPIC = 'topic {0} schema="k STRING, ts TIMESTAMP" event_time=ts as {0}'


def planned(text: str) -> tuple[QueryPlan, dict[str, str]]:
    validated = validate(parse_text(text, CATALOGUE, name="p"), CATALOGUE)
    (plan,) = plan_queries(validated, CATALOGUE)
    return plan, closing_times(plan, validated, CATALOGUE)


def window(name: str, time: str = "ts") -> str:
    return f'tumbling-window 10s time={time} aggregates=["approx_count_distinct(k) AS ks", "first(k) AS k"] as {name}'


def report(batch: int, *dropped: int) -> Any:
    operators = [SimpleNamespace(numRowsDroppedByWatermark=rows) for rows in dropped]
    return SimpleNamespace(batchId=batch, stateOperators=operators)


def test_nodes_with_state_are_listed_as_spark_lists_them() -> None:
    text = (
        f"{TOPIC.format('a')} ! {window('first')} ! @both.left\n"
        f"{TOPIC.format('b')} ! @both.right\n"
        'join "left.k = right.k AND soundex(left.k) = right.k" before=1s after=1s as both'
        ' ! tumbling-window 1m time=_event_time aggregates=["count(*) AS c"] as last ! preview'
    )
    plan, closing = planned(text)
    assert stateful_nodes(plan, CATALOGUE) == ("last", "both", "first")
    assert closing == {"first": "unix_micros(`ts`) - pmod(unix_micros(`ts`), 10000000) + 10000000"}


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        (f"{TOPIC.format('a')} ! {window('w')} ! preview", {"w"}),
        (
            f'{TOPIC.format("a")} ! tumbling-window 10s time=ts keys=k aggregates=["count(*) AS c"] as w ! preview',
            set(),
        ),
        (
            f'generator 5 columns=["timestamp AS ts"] event_time=ts ! {window("w").replace("(k)", "(ts)")} ! preview',
            set(),
        ),
        (f'{TOPIC.format("a")} ! aggregate "approx_count_distinct(k) AS ks" keys=ts as w ! preview', {"w"}),
        (f'{TOPIC.format("a")} ! aggregate "approx_count_distinct(ts) AS all" keys=k as w ! preview', set()),
    ],
)
def test_only_what_spark_sums_up_first_is_counted_once_more_and_only_of_topics(text: str, nodes: set[str]) -> None:
    assert planned(text)[1].keys() == nodes


def test_a_micro_batch_tells_what_it_read_and_what_was_closed() -> None:
    files = [f'v1\n{{"batchWatermarkMs":{at_ms}}}\n{{"0":{end}}}' for at_ms, end in ((5, 10), (7, 20))]
    starts: dict[str, Offsets] = {"t": {"0": 3}}
    first, second = MicroBatch(files[0], None), MicroBatch(files[1], files[0])
    assert (first.late_until_us, second.late_until_us) == (5_000, 5_000)
    read = [(one.start, one.end) for batch in (first, second) for one in batch.ranges(starts).values()]
    assert read == [({"0": 3}, {"0": 10}), ({"0": 10}, {"0": 20})]


def settled(counts: LateCounts) -> dict[str, int]:
    deadline_s = time.monotonic() + 30
    while not counts.is_settled and time.monotonic() < deadline_s:
        time.sleep(0.01)
    return counts.totals()


def counting(tmp_path: Path, operators: Sequence[str]) -> LateCounts:
    """Where no batch can be run."""

    def fails(*_: object) -> Any:
        raise NotFound("the records are gone")

    document = parse_text(f"{TOPIC.format('a')} ! {window('w')} ! preview", CATALOGUE, name="p")
    (tmp_path / "offsets").mkdir()
    for batch in range(2):
        (tmp_path / "offsets" / str(batch)).write_text('v1\n{"batchWatermarkMs":0}\n{"0":1}')
    recounting = Recounting(fails, CATALOGUE, document, {"a": {"0": 0}}, {"w": "unix_micros(ts)"})
    return LateCounts("w", operators, recounting, Checkpoint(tmp_path))


def test_what_cannot_be_counted_is_as_many_as_spark_says(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    counts = counting(tmp_path, ["w"])
    counts.take(report(1, 3))
    assert settled(counts) == {"w": 3}
    assert "node w, batch 1, are counted as Spark tells: the records are gone" in caplog.text
    assert (counts.fresh(), counts.fresh()) == (3, 0)
    counts.take(report(9, 2))
    assert counts.totals() == {"w": 5}
    assert "batch 9 are counted as Spark tells: counting them came too late" in caplog.text
    counts.close()
    counts.take(report(1, 4))
    assert settled(counts) == {"w": 9}


def test_rows_are_counted_at_the_node_that_dropped_them(tmp_path: Path) -> None:
    counts = counting(tmp_path, ["last", "both", "both"])
    counts.take(report(0, 0, 2, 2))
    counts.take(report(1, 1, 0, 0))
    assert counts.totals() == {"both": 2, "last": 1}
    counts.take(report(1, 4))
    assert settled(counts) == {"both": 2, "last": 1, "w": 4}
