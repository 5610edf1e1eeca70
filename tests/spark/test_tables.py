"""Tables on Spark: written by key, looked up in the version of each micro-batch, through restarts and crashes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PythonException

from headrace.errors import InvalidInput
from headrace.graph.document import Document
from headrace.spark.commit import CommitLog, CommitRecord
from headrace.spark.table_versions import pinned
from headrace.tables.changes import record_key
from headrace.tables.definition import declared_in
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


def most(stack: Stack, topic: str) -> dict[int, Any]:
    return {row["n"]: row["most"] for row in stack.rows(topic)}


def test_each_micro_batch_sees_the_table_as_it_is_then(stack: Stack) -> None:
    events, result, limits = stack.topic("events"), stack.name("found"), stack.name("limits")
    document = looked_up(stack, events, limits, result)
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
    expected = {record_key(row, table).decode() for row in rows}
    assert {row["key"] for row in stack.rows(keys)} == expected
    assert '["a","1"]' in expected


def test_a_window_behind_a_lookup(stack: Stack) -> None:
    times = ["00:00:01", "00:00:02", "00:00:03", "01:00:00"]
    rows = [{"k": key, "ts": f"2026-01-01T{time}Z"} for key, time in zip("abca", times, strict=True)]
    events, limits, result = stack.topic("events", rows), stack.name("limits"), stack.name("sums")
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


def test_a_batch_that_is_run_again_sees_the_version_that_its_record_names(stack: Stack, tmp_path: Path) -> None:
    """The process died after the commit, before Spark noted it: what Python delivers outside comes once more."""
    delivered, module = tmp_path / "delivered", tmp_path / f"{stack.name('outside').replace('-', '_')}.py"
    module.write_text(MODULE.format(path=str(delivered)))
    assert stack.engine._spark is not None
    stack.engine._spark.sparkContext.addPyFile(str(module))
    events, limits = stack.topic("events", [{"k": "a", "n": 1}]), stack.topic("limits", partitions=1)
    stack.produce(limits, [{"k": "a", "maximum": 5}])
    document = stack.pipeline(
        f"""topic {events} {EVENTS} as events ! @with.left
        table {limits} {LIMITS} as limits ! @with.right
        lookup-join "left.k = right.k" as with ! to-python {module.stem}:note"""
    )
    stack.run(document)
    stack.produce(limits, [{"k": "a", "maximum": 6}])
    for noted in (stack.data / "jobs" / document.name / "with" / "checkpoint" / "commits").iterdir():
        noted.unlink()
    stack.run(document)
    stack.produce(events, [{"k": "a", "n": 2}])
    stack.run(document)
    assert delivered.read_text().splitlines() == ["[5]", "[5]", "[6]"]


@pytest.mark.parametrize("use", ["preview", "deduplicate keys=k ! preview"])
def test_a_table_is_only_looked_up(stack: Stack, use: str) -> None:
    with pytest.raises(InvalidInput, match="cannot take the rows of a table"):
        stack.engine.start(stack.pipeline(f'table x {LIMITS} ! filter "maximum > 1" ! {use}'))


def test_a_row_without_a_key_fails_the_job(stack: Stack) -> None:
    events = stack.topic("events", [{"n": 1}])
    document = stack.pipeline(f"topic {events} {EVENTS} ! to-table {stack.name('t')} key=k")
    with pytest.raises(PythonException, match="a row without a key cannot be in a table"):
        stack.engine.run_batch(document)
