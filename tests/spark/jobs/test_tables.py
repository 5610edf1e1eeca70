"""Tables on Spark: written by key, looked up in the version of each micro-batch, through restarts and crashes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headrace.errors import InvalidInput, JobFailed
from headrace.graph.document import Document
from headrace.spark.planning.plan import identity
from headrace.spark.reading.table_versions import pinned
from headrace.spark.writing.commit import CommitLog, CommitRecord
from headrace.tables.definition import declared_in
from headrace.tables.keys import record_key
from headrace.wire.client import Client

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

pytestmark = pytest.mark.spark

IDLE_TIMEOUT_S = 90.0
EVENTS = 'schema="k STRING, n INT"'
# Notes what it is given; a task without rows gives nothing.
MODULE = """
def note(rows, delivery):
    with open({path!r}, "a") as file:
        print(rows.column("maximum").to_pylist(), file=file)
"""
LIMITS = 'schema="k STRING, maximum INT" key=k'
OTHERS = 'topic others schema="k STRING, n INT, ts TIMESTAMP, maximum INT" event_time=ts ! @both.in_2'


def committed(stack: Stack, document: Document, query: str) -> CommitRecord:
    log = CommitLog(Client(stack.bootstrap), f"{document.name}.{query}")
    try:
        record = log.peek()
        assert record is not None
        return record
    finally:
        log.close()


def wait(stack: Stack, document: Document) -> None:
    assert stack.engine.wait_idle(document.name, IDLE_TIMEOUT_S), stack.engine.status(document.name)


def looked_up(stack: Stack, events: str, limits: str, result: str) -> Document:
    return stack.pipeline(
        f"""topic {events} {EVENTS} as events ! @with.left
        table {limits} {LIMITS} as limits ! select k "maximum AS most" ! @with.right
        lookup-join "left.k = right.k" kind=left as with ! filter "n >= 0" ! to-topic {result}"""
    )


def way_in(stack: Stack, document: Document) -> str | None:
    """How rows come into the chain of the only query."""
    placement = stack.query(document).placement
    return None if placement is None else placement.way_in


def most(stack: Stack, topic: str) -> dict[int, Any]:
    return {row["n"]: row["most"] for row in stack.rows(topic)}


def test_each_micro_batch_sees_the_table_as_it_is_then(stack: Stack) -> None:
    events, result, limits = stack.topic("events"), stack.name("found"), stack.name("limits")
    document = looked_up(stack, events, limits, result)
    assert way_in(stack, document) == "reader"
    stack.engine.start(document)
    stack.produce(events, [{"k": "a", "n": 1}])
    wait(stack, document)
    stack.produce(limits, [{"k": "a", "maximum": 5}, {"k": "b", "maximum": 6}, {"k": "a", "maximum": 7}])
    stack.produce(events, [{"k": "a", "n": 2}, {"k": "b", "n": 3}])
    wait(stack, document)
    stack.produce(limits, [{"k": "b", "maximum": 8}])
    stack.produce(events, [{"k": "b", "n": 4}, {"k": None, "n": 5}])
    wait(stack, document)
    stack.engine.stop(document.name)
    stack.produce(limits, [{"k": "a", "maximum": 9}])
    stack.produce(events, [{"k": "a", "n": 6}])
    stack.run(document)
    assert most(stack, result) == {1: None, 2: 7, 3: 6, 4: 8, 5: None, 6: 9}
    assert pinned(committed(stack, document, "with").offsets, "limits") == {"0": 5}


def test_a_query_goes_on_where_spark_joined_before(stack: Stack) -> None:
    """Nothing of it has state: where its rows are looked up is no part of what it means."""
    events, result, limits = stack.topic("events"), stack.name("found"), stack.name("limits")
    document = looked_up(stack, events, limits, result)
    plan = stack.query(document).plan
    assert set(plan.in_chain) == {"with"}
    assert identity(plan) == identity(replace(plan, in_chain=frozenset()))


@pytest.mark.parametrize(
    ("text", "in_chain"),
    [
        ('! filter "n > 0" ! @with.left | ! filter "maximum > 1" ! @with.right | ! preview', {"with"}),
        ('! @with.left | ! select k "maximum / 0 AS most" ! @with.right | ! preview', set()),
        ('! @with.left | ! @with.right | ! tumbling-window 1m time=ts aggregates="sum(n) AS s" ! preview', {"with"}),
        ("! @with.left | ! @with.right | ! deduplicate keys=maximum ! preview", set()),
        ("! @with.left | ! @with.right | ! deduplicate keys=k ! preview", {"with"}),
        ("! @with.left | ! @with.right | ! union as both ! preview", set()),
    ],
)
def test_where_a_lookup_runs(stack: Stack, text: str, in_chain: set[str]) -> None:
    left, right, behind = text.split("|")
    document = stack.pipeline(
        f"""topic events schema="k STRING, n INT, ts TIMESTAMP" event_time=ts as events {left}
        table limits {LIMITS} as limits {right}
        lookup-join "left.k = right.k" as with {behind}
        {OTHERS if "union" in behind else ""}"""
    )
    plan = stack.query(document).plan
    assert set(plan.in_chain) & {"with"} == in_chain


def test_a_lookup_behind_a_union_and_its_counts(stack: Stack) -> None:
    first, second = (stack.topic("events", [{"k": key, "n": n} for key in "abc"]) for n in (1, 2))
    limits, result = stack.topic("limits", [{"k": "a", "maximum": 5}, {"k": "b", "maximum": 6}]), stack.name("found")
    document = stack.pipeline(
        f"""topic {first} {EVENTS} as one ! union as both ! @with.left
        topic {second} {EVENTS} as two ! @both.in_2
        table {limits} {LIMITS} as limits ! filter "maximum > 5" ! @with.right
        lookup-join "left.k = right.k" kind=anti as with ! select k n ! to-topic {result}"""
    )
    assert way_in(stack, document) == "reader"
    stack.engine.start(document)
    wait(stack, document)
    (query,) = stack.engine.stop(document.name).queries
    assert {(row["k"], row["n"]) for row in stack.rows(result)} == {(key, n) for key in "ac" for n in (1, 2)}
    counts = {count.node: count.rows_out_total for count in query.nodes}
    assert (counts["one"], counts["two"], counts["with"]) == (3, 3, 4)


def test_rows_take_the_place_of_those_with_their_key_and_are_deleted(stack: Stack) -> None:
    events, table = stack.topic("events"), stack.name("newest")
    document = stack.pipeline(
        f"""topic {events} {EVENTS} as events ! filter "n > 0" ! to-table {table} key=k partitions=2
        @events ! filter "n < 0" ! select k ! to-table {table} key=k mode=delete"""
    )
    stack.produce(events, [{"k": "a", "n": 1}, {"k": "b", "n": 2}, {"k": "a", "n": 3}])
    stack.run(document)
    stack.produce(events, [{"k": "b", "n": -1}])
    stack.run(document)
    result = stack.name("found")
    asked = stack.topic("asked", [{"k": key} for key in "abc"])
    stack.engine.run_batch(
        stack.pipeline(
            f"""topic {asked} schema="k STRING" ! @with.left
            table {table} schema="k STRING, n INT" key=k as newest ! @with.right
            lookup-join "left.k = right.k" as with ! to-topic {result}"""
        )
    )
    assert stack.rows(result) == [{"k": "a", "n": 3}]
    with Client(stack.bootstrap) as client:
        settings = client.topic_settings([table], ["cleanup.policy"])
    assert settings == {table: {"cleanup.policy": "compact"}}


def newest(stack: Stack, table: str) -> dict[str, Any]:
    """What readers of the table find, by key; and that nothing was deleted that was never there."""
    found: dict[str, Any] = {}
    for key, value in stack.keyed_values(table):
        if value is None:
            del found[key]
        else:
            found[key] = json.loads(value)
    return found


@pytest.mark.parametrize("condition", ["c < 3", "round(sqrt(c), 3) < 1.5"])
def test_groups_and_rows_that_left_a_result_are_deleted(stack: Stack, condition: str) -> None:
    """Where the tasks make what sinks take, and where Spark's plan does; through restarts."""
    events, few, best = stack.topic("events", partitions=2), stack.name("few"), stack.name("best")
    document = stack.pipeline(
        f"""topic {events} {EVENTS} as events ! aggregate "count(*) AS c" keys=k ! filter "{condition}"
          ! to-table {few} key=k
        @events ! top-n 2 by=["n DESC"] keys=k ! filter "n > 0" ! to-table {best} key="k, n" """
    )
    for batch in ([("a", 1), ("b", 1)], [("a", 2), ("a", -1)], [("a", 3), ("b", 2), ("c", -5)]):
        stack.produce(events, [{"k": key, "n": n} for key, n in batch])
        stack.run(document)
    assert newest(stack, few) == {"b": {"k": "b", "c": 2}, "c": {"k": "c", "c": 1}}
    assert set(newest(stack, best)) == {'["a","3"]', '["a","2"]', '["b","1"]', '["b","2"]'}


def test_a_key_of_several_columns_is_written_as_by_hand(stack: Stack) -> None:
    rows: list[dict[str, Any]] = [{"k": key, "n": n} for key, n in (("a", 1), ("a", 2), ('"é\\/ü,', -3))]
    events, pairs = stack.topic("events", [*rows, *rows]), stack.name("pairs")
    stack.run(stack.pipeline(f'topic {events} {EVENTS} ! to-table {pairs} key="k, n" partitions=2'))
    asked, found, keys = stack.topic("asked", [{"k": "a", "n": 2}]), stack.name("found"), stack.name("keys")
    stack.engine.run_batch(
        stack.pipeline(
            f"""topic {asked} {EVENTS} ! @with.left
            table {pairs} {EVENTS} key="k, n" as pairs ! @with.right
            lookup-join "left.k = right.k AND left.n = right.n" as with ! to-topic {found}
            topic {pairs} {EVENTS} ! select k n "CAST(_key AS STRING) AS key" ! to-topic {keys}"""
        )
    )
    assert stack.rows(found) == [{"k": "a", "n": 2}]
    (table,) = declared_in("CREATE TABLE pairs (k STRING, n INT, PRIMARY KEY (k, n))", stack.engine.catalogue)
    expected = {record_key([row[key] for key in table.keys], table).decode() for row in rows}
    assert {row["key"] for row in stack.rows(keys)} == expected
    assert '["a","1"]' in expected


def test_a_window_behind_a_lookup(stack: Stack) -> None:
    times = ["00:00:01", "00:00:02", "00:00:03", "01:00:00"]
    rows = [{"k": key, "ts": f"2026-01-01T{time}Z"} for key, time in zip("abca", times, strict=True)]
    events, limits, result = stack.topic("events", rows, partitions=1), stack.name("limits"), stack.name("sums")
    document = stack.pipeline(
        f"""topic {events} schema="k STRING, ts TIMESTAMP" event_time=ts as events ! @with.left
        table {limits} {LIMITS} as limits ! @with.right
        lookup-join "left.k = right.k" as with
          ! tumbling-window 1m time=ts aggregates="sum(maximum) AS total" ! to-topic {result}"""
    )
    with Client(stack.bootstrap) as client:
        client.create_topics({limits: 1})
    stack.produce(limits, [{"k": "a", "maximum": 5}, {"k": "b", "maximum": 6}])
    stack.run(document)
    assert [row["total"] for row in stack.rows(result)] == [11]


@pytest.mark.parametrize(("spread", "again"), [("by_key", ["[5]"]), ("whole", [])])
def test_a_batch_that_is_run_again_sees_the_version_that_its_record_names(
    stack: Stack, tmp_path: Path, spread: str, again: list[str]
) -> None:
    """The process died after the commit, before Spark noted it: what Python delivers outside comes once more, unless
    the lookup runs in a chain, for that is not called for a batch which is committed."""
    delivered, module = tmp_path / "delivered", tmp_path / f"{stack.name('outside').replace('-', '_')}.py"
    module.write_text(MODULE.format(path=str(delivered)))
    assert stack.engine._spark is not None
    stack.engine._spark.sparkContext.addPyFile(str(module))
    events, limits = stack.topic("events", [{"k": "a", "n": 1}]), stack.topic("limits", partitions=1)
    stack.produce(limits, [{"k": "a", "maximum": 5}])
    document = stack.pipeline(
        f"""topic {events} {EVENTS} as events ! @with.left
        table {limits} {LIMITS} as limits ! @with.right
        lookup-join "left.k = right.k" spread={spread} as with ! to-python {module.stem}:note"""
    )
    stack.run(document)
    stack.produce(limits, [{"k": "a", "maximum": 6}])
    for noted in (stack.data / "jobs" / document.name / "with" / "checkpoint" / "commits").iterdir():
        noted.unlink()
    stack.run(document)
    stack.produce(events, [{"k": "a", "n": 2}])
    stack.run(document)
    assert delivered.read_text().splitlines() == ["[5]", *again, "[6]"]


@pytest.mark.parametrize("use", ["preview", "deduplicate keys=k ! preview"])
def test_a_table_is_only_looked_up(stack: Stack, use: str) -> None:
    with pytest.raises(InvalidInput, match="cannot take the rows of a table"):
        stack.engine.start(stack.pipeline(f'table x {LIMITS} ! filter "maximum > 1" ! {use}'))


def test_a_row_without_a_key_fails_the_job(stack: Stack) -> None:
    events = stack.topic("events", [{"n": 1}])
    document = stack.pipeline(f"topic {events} {EVENTS} ! to-table {stack.name('t')} key=k")
    with pytest.raises(JobFailed, match="a row without a key cannot be in a table"):
        stack.engine.run_batch(document)
