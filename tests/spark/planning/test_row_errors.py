"""Nodes are put in for failing rows: computed where their node is, and no part of what its state means."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headrace.errors import InvalidGraph, InvalidInput
from headrace.graph.text import parse_text
from headrace.graph.validation import Validated, validate
from headrace.operators import Catalogue
from headrace.spark.planning.direct import direct_query
from headrace.spark.planning.meaning import Meaning
from headrace.spark.planning.plan import QueryPlan, identity
from headrace.spark.planning.queries import plan_queries
from headrace.spark.planning.row_errors import probes
from headrace.spark.planning.runnable import runnable

CATALOGUE = Catalogue()
TOPIC = 'topic t schema="a INT, b INT, s STRING, ts TIMESTAMP" event_time=ts'
LETTERS = f"{TOPIC} on_error=dead_letter dead_letter=bad as src"


def _plain(text: str) -> Validated:
    return validate(replace(parse_text(text, CATALOGUE), name="p"), CATALOGUE)


def _guarded(text: str) -> Validated:
    return runnable(_plain(text).document, CATALOGUE)


def _plans(validated: Validated) -> dict[str, QueryPlan]:
    return {plan.name: plan for plan in plan_queries(validated, CATALOGUE)}


def test_a_reader_that_does_all_the_work_does_it_with_a_policy_too() -> None:
    topic = 'topic t schema="a INT, b INT, s STRING" on_error=dead_letter dead_letter=bad as src'
    validated = _guarded(f'{topic} ! select "a / b AS q" s as sel ! to-topic out')
    (plan,) = _plans(validated).values()
    assert {branch.sink.id for branch in plan.branches} == {"to_topic_1", "sel__errors", "sel__letters"}
    kept = validated.schemas["src"].keep({"a", "b", "s", "_partition", "_offset"})
    assert direct_query(plan, kept, "bad", CATALOGUE) is not None


@pytest.mark.parametrize(
    "text",
    [
        '! tumbling-window "1 minute" time=ts aggregates=["sum(a / b) AS q"] as win ! to-topic out',
        '! select "a + b AS q" s ts as sel ! tumbling-window "1 minute" time=ts aggregates=["sum(q) AS q"] as win'
        " ! to-topic out",
        '! select "a / b AS q" s as sel ! aggregate "sum(q) AS q" keys=["s"] as win ! to-topic out',
    ],
)
def test_state_stays_where_it_is_and_means_the_same(text: str) -> None:
    before, after = _plans(_plain(f"{LETTERS} {text}"))["win"], _plans(_guarded(f"{LETTERS} {text}"))
    assert after["win"].in_chain - after["win"].aside.keys() == before.in_chain
    assert identity(after["win"]) == identity(before)
    assert Meaning.of(after["win"]) == Meaning.of(before)
    assert [name for name, plan in after.items() if plan.is_for_errors] == ["src"]


def test_the_offset_travels_through_selects_and_earlier_guards() -> None:
    last = 'select "CAST(s AS INT) AS n" as two ! to-topic out'
    document = _guarded(f'{LETTERS} ! select "a / b AS q" s as one ! {last}').document
    assert document.node("two__letter").config["columns"][3:5] == [  # type: ignore[index]
        "error__partition AS partition", "error__offset AS offset"
    ]  # fmt: skip
    (copy,) = (edge.source for edge in document.inputs_of("two__failed"))
    assert [edge.source for edge in document.inputs_of(copy)] == ["one__guard"]


def test_behind_a_join_the_row_that_was_computed_is_kept() -> None:
    text = f"""
        {LETTERS} ! @both.left
        topic u schema="s STRING, c INT, at TIMESTAMP" event_time=at as other ! @both.right
        join "left.s = right.s" after="10 seconds" as both ! select "a / c AS q" as sel ! to-topic out
    """
    document = _guarded(text).document
    letter = document.node("sel__letter").config["columns"]
    assert "CAST(NULL AS BIGINT) AS offset" in letter  # type: ignore[operator]
    assert [edge.source for edge in document.inputs_of("sel__failed")] == ["both"]


def test_what_nobody_can_tell_is_refused_where_a_node_asks_for_it() -> None:
    with pytest.raises(InvalidInput, match=r"on_error is drop, and CONV\(s, 10, 16\) may fail") as refused:
        _guarded(f'{TOPIC} ! select "conv(s, 10, 16) AS x" on_error=drop as sel ! to-topic out')
    assert refused.value.node == "sel"


def test_what_nobody_can_tell_fails_as_before_where_the_topic_says_so() -> None:
    text = f'{LETTERS} ! select "conv(s, 10, 16) AS x" "a / b AS q" as sel ! to-topic out'
    conditions = [node.config.get("condition") for node in _guarded(text).document.nodes]
    assert any("try_divide" in str(condition) for condition in conditions)
    assert _guarded(f'{LETTERS} ! select "conv(s, 10, 16) AS x" as sel ! to-topic out').aside == {}


def test_a_dead_letter_needs_a_topic() -> None:
    with pytest.raises(InvalidInput, match="no topic is named"):
        _guarded(f'{TOPIC} ! select "a / b AS x" on_error=dead_letter as sel ! to-topic out')


def test_without_a_policy_nothing_is_put_in() -> None:
    for said in ("", " on_error=fail", " on_error=retry", " bad_rows=drop"):
        assert _guarded(f'{TOPIC}{said} ! select "a / b AS x" ! to-topic out').written is None


def test_failing_rows_are_looked_for_where_no_state_is_needed() -> None:
    last = 'aggregate "sum(x) AS x" keys=["s"] ! select "1 / x AS y" as last ! to-topic out'
    text = f'{TOPIC} ! select "a / b AS x" s as sel ! {last}'
    assert [*probes(_plain(text), CATALOGUE)] == ["sel"]


def test_null_without_quotes_is_nothing_said() -> None:
    with pytest.raises(InvalidGraph, match="on_error is null without quotes"):
        _plain(f'{TOPIC} ! select "a / b AS x" on_error=null ! to-topic out')
    document = _guarded(f'{TOPIC} ! select "a / b AS x" on_error="null" as sel ! to-topic out').document
    assert "CASE WHEN NOT" in str(document.node("sel").config["columns"])
