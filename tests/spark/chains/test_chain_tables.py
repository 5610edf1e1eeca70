"""What tasks of a chain look up: the version that the offsets of their micro-batch name, read once, also behind a
restart."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from headrace.formats import ValueFormat, with_schema
from headrace.graph.schema import Schema
from headrace.operators.arrow_types import column_types
from headrace.operators.columnar import planned, scope_of
from headrace.spark.chains.tables import TableReading, in_versions, rows_of
from headrace.spark.planning.chain_pushdown import wanted_of_inputs
from headrace.spark.specs import TableSpec, TopicLocation

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

pytestmark = pytest.mark.spark

IDLE_TIMEOUT_S = 90.0
COLUMNS = Schema.parse("k STRING, maximum INT")


def reading(stack: Stack, topic: str) -> TableReading:
    """Half of each maximum above one."""
    location = TopicLocation(topic, stack.bootstrap, str(stack.data / "log"))
    spec = TableSpec("limits", location, with_schema(ValueFormat("json"), column_types(COLUMNS)))
    forms = {name: planned(text, scope_of(COLUMNS)) for name, text in (("k", "k"), ("twice", "maximum / 2"))}
    columns = {name: form for name, form in forms.items() if form is not None}
    return TableReading("with", "right", spec, str(COLUMNS), columns, planned("maximum > 1", scope_of(COLUMNS)))


def write_ahead(end: int) -> str:
    """As Spark writes it: a version, what holds for all sources, then the offsets of each."""
    return "\n".join(["v1", "{}", json.dumps({"0": 7, "table:limits:0": end, "table:other:0": 99})])


def test_each_micro_batch_gets_the_version_that_its_offsets_name(stack: Stack) -> None:
    rows = [{"k": "a", "maximum": 1}, {"k": "b", "maximum": 4}, {"k": "a", "maximum": 6}]
    wanted = reading(stack, stack.topic("limits", rows, partitions=1))
    expected = {1: [], 2: [("b", 2.0)], 3: [("b", 2.0), ("a", 3.0)]}
    for end in (1, 2, 3, 1, 3):
        (one,) = in_versions([wanted], write_ahead(end))
        sent = TableReading.from_json(json.loads(json.dumps(one.to_json())))
        assert sent == one
        found = rows_of(sent)
        assert [tuple(row.values()) for row in found.rows.to_pylist()] == expected[end]
        assert rows_of(one) is found


def test_a_query_that_reads_no_topic_gets_the_newest_version(stack: Stack) -> None:
    wanted = reading(stack, stack.topic("limits", [{"k": "a", "maximum": 4}], partitions=1))
    (one,) = in_versions([wanted], "v1\n{}\n-")
    assert one.table.end == {"0": 1}


def test_a_window_behind_a_lookup_goes_on_through_a_restart(stack: Stack) -> None:
    """Each row counts with what the table said when it came; the window that was open is closed by the second run."""
    events, target = stack.topic("events", partitions=1), stack.name("sums")
    limits = stack.topic("limits", [{"k": "a", "maximum": 5}, {"k": "b", "maximum": 1}], partitions=1)
    document = stack.pipeline(
        f"""topic {events} schema="k STRING, n INT, ts TIMESTAMP" event_time=ts watermark="1 second" ! @with.left
        table {limits} schema="{COLUMNS}" key=k as limits ! @with.right
        lookup-join "left.k = right.k" as with ! filter "n < maximum" as few
        ! tumbling-window 10s time=ts keys=k aggregates=["count(*) AS c", "sum(maximum) AS s"] as window
        ! to-topic {target}"""
    )
    assert stack.query(document).plan.in_chain == {"with", "few", "window"}

    def row(key: str, number: int, second: int) -> dict[str, object]:
        return {"k": key, "n": number, "ts": f"2026-01-01T00:00:{second:02d}Z"}

    stack.produce(events, [row("a", 1, 1), row("a", 9, 2), row("b", 0, 3), row("c", 0, 3), row("a", 4, 4)])
    stack.run(document)
    assert stack.rows(target) == []
    stack.produce(limits, [{"k": "a", "maximum": 70}, {"k": "c", "maximum": 2}])
    stack.produce(events, [row("a", 9, 5), row("c", 1, 6)])
    stack.run(document)
    stack.produce(events, [row("a", 0, 40), row("b", 0, 40)])
    stack.run(document)
    found = {made["k"]: (made["c"], made["s"]) for made in stack.rows(target)}
    assert found == {"a": (3, 80), "b": (1, 1), "c": (1, 2)}


def test_a_filter_behind_a_lookup_comes_to_the_same_before_it(stack: Stack) -> None:
    """What it says of the stream is looked at by the reader, what it says of the table behind the lookup."""
    limits = stack.topic("limits", [{"k": "a", "maximum": 5}, {"k": "b", "maximum": 1}], partitions=1)
    rows = [{"k": key, "n": number} for key in ("a", "b", "c", None) for number in range(4)]
    events, target = stack.topic("events", rows), stack.name("found")
    document = stack.pipeline(
        f"""topic {events} schema="k STRING, n INT" as events ! @with.left
        table {limits} schema="{COLUMNS}" key=k as limits ! @with.right
        lookup-join "left.k = right.k" kind=left as with
        ! filter "n > 1 AND (maximum IS NULL OR maximum > 3)" as few ! to-topic {target}"""
    )
    query = stack.query(document)
    assert query.chain is not None
    assert list(wanted_of_inputs(query.plan, query.chain, query.validated)) == [0]
    stack.engine.start(document)
    assert stack.engine.wait_idle(document.name, IDLE_TIMEOUT_S)
    (status,) = stack.engine.stop(document.name).queries
    expected = {(key, n, 5 if key == "a" else None) for key in ("a", "c", None) for n in (2, 3)}
    assert {(row["k"], row["n"], row["maximum"]) for row in stack.rows(target)} == expected
    counts = {count.node: count.rows_out_total for count in status.nodes}
    assert (counts["events"], counts["few"]) == (len(rows), len(expected))
