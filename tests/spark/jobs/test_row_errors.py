"""Rows that an expression fails for: kept, dropped, null, or the end of the job, with the row and its offset."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

SCHEMA = 'schema="a INT, b INT, s STRING, ts TIMESTAMP"'
ROWS = [
    {"a": 6, "b": 2, "s": "1", "ts": "2026-01-01T00:00:01Z"},
    {"a": 6, "b": 0, "s": "1", "ts": "2026-01-01T00:00:02Z"},
    {"a": 6, "b": 3, "s": "abc", "ts": "2026-01-01T00:00:03Z"},
    {"a": None, "b": 0, "s": "4", "ts": "2026-01-01T00:00:04Z"},
]


def _bad(stack: Stack, pipeline: str) -> dict[str, int]:
    counts = [count for query in stack.engine.status(pipeline).queries for count in query.nodes]
    return {count.node: count.bad_total for count in counts if count.bad_total}


def test_where_a_dead_letter_is_declared_failing_rows_go_there(stack: Stack) -> None:
    source, target, letters = stack.topic("in", ROWS, partitions=1), stack.name("out"), stack.name("bad")
    document = stack.pipeline(
        f"topic {source} {SCHEMA} on_error=dead_letter dead_letter={letters}"
        f' ! select "a / b AS q" "CAST(s AS INT) AS n" as sel ! to-topic {target}'
    )
    stack.run(document)
    assert sorted(stack.rows(target), key=lambda row: int(row["n"])) == [
        {"q": 3.0, "n": 1}, {"q": None, "n": 4}
    ]  # fmt: skip
    found = sorted(stack.rows(letters), key=lambda letter: int(letter["offset"]))
    assert [(one["node"], one["topic"], one["partition"], one["offset"]) for one in found] == [
        ("sel", source, 0, 1), ("sel", source, 0, 2)
    ]  # fmt: skip
    assert found[0]["reason"] == "division by zero in a / b"
    assert found[1]["reason"] == "abc is no INT in CAST(s AS INT)"
    assert json.loads(found[0]["row"])["b"] == 0
    assert _bad(stack, document.name) == {"sel": 2}
    newest = [json.loads(text) for text in stack.engine.errors(document.name, "sel")]
    assert sorted(one["offset"] for one in newest) == [1, 2]


def test_before_a_window_they_are_left_out_of_it_and_kept(stack: Stack) -> None:
    later = {"a": 1, "b": 1, "s": "1", "ts": "2026-01-01T00:10:00Z"}
    source, target, letters = stack.topic("in", [*ROWS, later], partitions=1), stack.name("out"), stack.name("bad")
    document = stack.pipeline(
        f"topic {source} {SCHEMA} event_time=ts on_error=dead_letter dead_letter={letters}"
        ' ! tumbling-window "1 minute" time=ts aggregates=["sum(a / b) AS q", "count(*) AS n"] as win'
        f" ! to-topic {target}"
    )
    stack.run(document)
    assert [(row["q"], row["n"]) for row in stack.rows(target)] == [(5.0, 3)]
    assert [(one["node"], one["offset"]) for one in stack.rows(letters)] == [("win", 1)]
    assert _bad(stack, document.name) == {"win": 1}


def test_a_node_says_what_becomes_of_its_rows(stack: Stack) -> None:
    source, dropped, nulled = stack.topic("in", ROWS, partitions=1), stack.name("out"), stack.name("out")
    document = stack.pipeline(
        f"""
        topic {source} {SCHEMA} as src
        @src ! select "a / b AS q" s on_error=drop as one ! to-topic {dropped}
        @src ! select "a / b AS q" s on_error="null" as two ! filter "s::INT > 0" on_error="null" ! to-topic {nulled}
        """
    )
    stack.run(document)
    assert [(row.get("q"), row["s"]) for row in stack.rows(dropped)] == [(3.0, "1"), (2.0, "abc"), (None, "4")]
    assert [(row.get("q"), row["s"]) for row in stack.rows(nulled)] == [(3.0, "1"), (None, "1"), (None, "4")]
    assert _bad(stack, document.name) == {"one": 1}


def test_without_a_policy_the_job_fails_with_the_row_and_its_offset(stack: Stack) -> None:
    source = stack.topic("in", ROWS[:2], partitions=1)
    document = stack.pipeline(f'topic {source} {SCHEMA} ! select "CAST(a / b AS STRING) AS q" as sel ! preview')
    details = _failure(stack, document)
    assert details["message"] == f"division by zero in a / b (record {source}-0 at offset 1)"
    assert details["node"] == "sel"
    assert (details["record"]["topic"], details["record"]["offset"]) == (source, 1)
    assert "on_error=dead_letter" in details["hint"]


def _failure(stack: Stack, document: Any) -> dict[str, Any]:
    events = stack.engine.events.follow()
    stack.engine.start(document)
    event = next(event for event in events if event.kind == "error" and event.pipeline == document.name)
    events.close()
    return {"node": event.node, **event.details}
