"""Where the queries of another version begin: they go on exactly, or somebody says where."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pytest
from tests.spark.conftest import IDLE_TIMEOUT_S, Stack

from headrace.errors import ExternalFailure, InvalidInput, NeedsBegin, NotFound
from headrace.graph.document import Document
from headrace.spark.jobs.sending import signal_to
from headrace.sql import parse
from headrace.wire.client import Client
from headrace.wire.client.signals import send_signal

pytestmark = pytest.mark.spark

ROWS = [{"id": number, "k": "ab"[number % 2], "v": number} for number in range(5)]
MORE = [{"id": number, "k": "ab"[number % 2], "v": number} for number in range(5, 8)]


def deduplicated(stack: Stack, name: str, source: str, target: str, node: str) -> Document:
    text = f'topic {source} schema="id BIGINT" ! deduplicate id as {node} ! to-topic {target}'
    return stack.pipeline(text, name)


def counted(stack: Stack, name: str, source: str, target: str, select: str) -> Document:
    declared = f"CREATE STREAM t (id BIGINT, k STRING, v INT) WITH (topic = '{source}');"
    sql = f"{declared} CREATE STREAM o WITH (topic = '{target}') AS {select};"
    return parse(sql, name, catalogue=stack.engine.catalogue)


def _fails(*_: object, **__: object) -> None:
    raise ExternalFailure("the disk is full")


def queries(stack: Stack, name: str) -> list[str]:
    return [query.name for query in stack.engine.status(name).queries]


def totals(stack: Stack, name: str) -> dict[str, int]:
    """Rows of each node, as the status shows them."""
    found: Counter[str] = Counter()
    for query in stack.engine.status(name).queries:
        found.update({count.node: count.rows_out_total for count in query.nodes})
    return dict(found)


def test_totals_go_on_in_a_query_that_begins_anew_once_for_each_node(stack: Stack) -> None:
    source, target, name = stack.topic("u", ROWS), stack.topic("uout"), stack.name("counted-on")
    read = f'topic {source} schema="id BIGINT, k STRING, v INT" as in'
    text = f"{read} ! deduplicate {{key}} as once ! to-topic {target} as out"
    stack.run(stack.pipeline(text.format(key="id"), name))
    assert totals(stack, name) == {"in": 5, "once": 5, "out": 5}
    stack.produce(source, MORE)
    changed = f"{text.format(key='k')}\n@in ! deduplicate v as other ! to-topic {target} as out2"
    document = stack.pipeline(changed, name)
    stack.engine.start(document, begin="last-commit")
    stack.finish(document)
    found = totals(stack, name)
    assert (found["once"], found["out"], found["other"]) == (5 + 2, 5 + 2, 3)
    assert found["in"] in (5 + 3, 5 + 2 * 3), "read by one query, or by each"


def test_a_renamed_node_goes_on_with_its_state_and_its_query_keeps_its_name(stack: Stack) -> None:
    source, target, name = stack.topic("m", ROWS), stack.topic("mout"), stack.name("renamed")
    stack.run(deduplicated(stack, name, source, target, "a"))
    assert len(stack.rows(target)) == 5
    stack.produce(source, [*ROWS, *MORE])
    stack.run(deduplicated(stack, name, source, target, "b"))
    assert queries(stack, name) == ["a"]
    assert sorted(row["id"] for row in stack.rows(target)) == list(range(8))
    stack.produce(source, ROWS)
    stack.run(deduplicated(stack, name, source, target, "a"))
    assert len(stack.rows(target)) == 8


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "SELECT k, count(*) AS n FROM t GROUP BY k EMIT CHANGES",
            "SELECT k, COUNT( * ) AS n FROM t GROUP BY k EMIT CHANGES",
        ),
        (
            "SELECT k, count(*) AS n FROM t GROUP BY k EMIT CHANGES",
            "SELECT k, count(*) AS n FROM t GROUP BY k HAVING count(*) > 0 EMIT CHANGES",
        ),
        (
            "SELECT x.k, count(*) AS n FROM (SELECT k FROM t WHERE v<50) x GROUP BY x.k EMIT CHANGES",
            "SELECT y.k, count(*) AS n FROM (SELECT k FROM t WHERE V < 50) y GROUP BY y.k EMIT CHANGES",
        ),
    ],
    ids=["spelling", "having", "subquery"],
)  # fmt: skip
def test_what_means_the_same_goes_on_with_its_state(stack: Stack, before: str, after: str) -> None:
    source, target, name = stack.topic("s", ROWS), stack.topic("sout"), stack.name("same")
    stack.run(counted(stack, name, source, target, before))
    stack.produce(source, MORE)
    stack.run(counted(stack, name, source, target, after))
    rows = stack.rows(target)
    assert {row["k"]: row["n"] for row in rows} == {"a": 4, "b": 4}
    assert len(rows) == 4


def test_another_order_of_aggregates_is_refused_and_says_what_differs(stack: Stack) -> None:
    source, target, name = stack.topic("r", ROWS), stack.topic("rout"), stack.name("reordered")
    first = counted(stack, name, source, target, "SELECT k, count(*) AS n, sum(v) AS s FROM t GROUP BY k EMIT CHANGES")
    other = counted(stack, name, source, target, "SELECT k, sum(v) AS s, count(*) AS n FROM t GROUP BY k EMIT CHANGES")
    stack.run(first)
    written = len(stack.rows(target))
    with pytest.raises(NeedsBegin) as refused:
        stack.engine.start(other)
    message = str(refused.value)
    assert 'node o: aggregates ["count(*) AS n","sum(v) AS s"] → ["sum(v) AS s","count(*) AS n"]' in message
    assert "the state of o would begin empty" in message
    assert refused.value.valid == ("latest", "last-commit", "earliest")
    stack.produce(source, MORE)
    stack.engine.start(other, begin="last-commit")
    stack.finish(other)
    new = stack.rows(target)[written:]
    assert {row["k"]: row["n"] for row in new} == {"a": 1, "b": 2}
    (begun,) = stack.engine.beginnings(name)
    assert begun.empty == ("o",)
    assert begun.summary.endswith("the state of o begins empty")
    # Back again: the state of the first version is as old as the change, and its rows would come twice.
    with pytest.raises(NeedsBegin, match="the state of o would begin empty"):
        stack.engine.start(first)
    stack.produce(source, MORE)
    stack.engine.start(first, begin="latest")
    stack.finish(first)
    assert len(stack.rows(target)) == written + len(new)


def test_a_new_branch_says_where_it_begins(stack: Stack) -> None:
    source, target, name = stack.topic("b", ROWS, partitions=1), stack.topic("bout"), stack.name("branch")
    one = f'topic {source} schema="id BIGINT, k STRING" as t ! deduplicate id as a ! to-topic {target}'
    stack.run(stack.pipeline(one, name))
    two = stack.pipeline(f"{one}\n@t ! deduplicate k as b ! to-topic {target}", name)
    stack.produce(source, MORE)
    with pytest.raises(NeedsBegin, match=r"query b is new, and has no commit \(nodes t, b\); the state of b"):
        stack.engine.start(two)
    assert len(stack.rows(target)) == 5
    stack.engine.start(two, begin="last-commit")
    stack.finish(two)
    # 3 more of the first branch, and the 2 keys of those 3 of the new one.
    assert len(stack.rows(target)) == 5 + 3 + 2
    begun = {one.plan.name: one for one in stack.engine.beginnings(name)}
    assert begun["a"].goes_on
    assert begun["b"].starts == {"t": {"0": 5}}


def test_a_refused_version_leaves_what_is_stored_as_it_was(stack: Stack) -> None:
    source, target, name = stack.topic("u", ROWS), stack.topic("uout"), stack.name("untouched")
    good = deduplicated(stack, name, source, target, "a")
    stack.engine.start(good)
    assert stack.engine.wait_idle(name, IDLE_TIMEOUT_S)
    status = stack.engine.status(name)
    missing = deduplicated(stack, name, stack.name("nowhere"), target, "a")
    with pytest.raises(NeedsBegin):
        stack.engine.check(counted(stack, name, source, target, "SELECT DISTINCT k FROM t"))
    with pytest.raises(NotFound, match="nowhere"):
        stack.engine.check(missing, begin="earliest")
    assert stack.engine.status(name).started_ms == status.started_ms
    assert stack.engine.status(name).state == "running"
    stack.finish(good)
    assert len(stack.rows(target)) == 5


def test_a_version_that_fails_to_start_leaves_the_one_before_its_state(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target, name = stack.topic("f", ROWS), stack.topic("fout"), stack.name("fails")
    good = deduplicated(stack, name, source, target, "a")
    stack.run(good)
    other = stack.pipeline(
        f'topic {source} schema="id BIGINT, k STRING" ! deduplicate k as a ! to-topic {target}', name
    )
    with monkeypatch.context() as patch:
        patch.setattr("headrace.spark.jobs.launching.align", _fails)
        with pytest.raises(ExternalFailure, match="the disk is full"):
            stack.engine.start(other, begin="earliest")
    stack.produce(source, [*ROWS, *MORE])
    stack.run(good)
    assert len(stack.rows(target)) == 8


def test_what_committed_nothing_is_taken_back_without_a_question(stack: Stack) -> None:
    """Also where the version began in another place: nothing of it was read or written."""
    source, target, name = stack.topic("n", ROWS), stack.topic("nout"), stack.name("taken-back")
    good = deduplicated(stack, name, source, target, "a")
    other = stack.pipeline(
        f'topic {source} schema="id BIGINT, k STRING" ! deduplicate k as a ! to-topic {target}', name
    )
    stack.run(good)
    stack.engine.start(other, begin="latest")
    stack.engine.stop(name)
    with pytest.raises(NeedsBegin):
        stack.engine.start(counted(stack, name, source, target, "SELECT DISTINCT v FROM t"))
    stack.produce(source, [*ROWS, *MORE])
    stack.run(good)
    assert queries(stack, name) == ["a"]
    assert len(stack.rows(target)) == 8


def test_files_are_not_overwritten_by_what_begins_anew(stack: Stack, tmp_path: Path) -> None:
    source, name = stack.topic("w", ROWS), stack.name("files")
    document = stack.pipeline(f'topic {source} schema="id BIGINT" ! deduplicate id as a ! to-file {tmp_path}', name)
    stack.run(document)
    counted = totals(stack, name)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    stack.run(document, reset=True)
    assert queries(stack, name) == ["a.2"]
    assert totals(stack, name) == {node: 2 * rows for node, rows in counted.items()}, "they go on"
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert before.items() < after.items()
    assert sum(content.count(b"\n") for content in after.values()) == 10


def test_files_cannot_begin_elsewhere(stack: Stack, tmp_path: Path) -> None:
    target, name = stack.topic("gout"), stack.name("from-file")
    (tmp_path / "a.json").write_text('{"id": 1}\n')
    text = f'file {tmp_path} schema="id BIGINT, v BIGINT" ! deduplicate {{key}} as a ! to-topic {target}'
    stack.run(stack.pipeline(text.format(key="id"), name))
    with pytest.raises(InvalidInput, match="reads files"):
        stack.engine.start(stack.pipeline(text.format(key="v"), name), begin="latest")


def test_a_stop_of_before_does_not_stop_what_begins_anew(stack: Stack) -> None:
    source, target, name = stack.topic("z", ROWS), stack.topic("zout"), stack.name("signalled")
    document = deduplicated(stack, name, source, target, "a")
    stack.engine.start(document)
    assert stack.engine.wait_idle(name, IDLE_TIMEOUT_S)
    with Client(stack.bootstrap) as client:
        send_signal(client, signal_to(document, "stop", stack.engine.catalogue))
    deadline_s = time.monotonic() + IDLE_TIMEOUT_S
    while stack.engine.status(name).state != "stopped":
        assert time.monotonic() < deadline_s
        time.sleep(0.1)
    stack.produce(source, MORE)
    stack.engine.start(document, reset=True)
    stack.finish(document)
    assert len(stack.rows(target)) == 5 + 8
