"""Expressions around aggregates, and columns that nobody uses, have no say in where the state of a node is."""

from __future__ import annotations

import pytest

from headrace.graph.text import parse_text
from headrace.graph.validation import Validated, validate
from headrace.operators import Catalogue
from headrace.spark.planning.meaning import Meaning
from headrace.spark.planning.plan import QueryPlan
from headrace.spark.planning.queries import plan_queries
from headrace.spark.planning.runnable import runnable

TIMED = 'schema="k STRING, x DOUBLE, n INT, ts TIMESTAMP" event_time=ts'
WINDOW = "tumbling-window size=10s time=ts keys=k aggregates="


def made(text: str, catalogue: Catalogue) -> tuple[Validated, QueryPlan]:
    found = runnable(parse_text(text, catalogue), catalogue)
    (plan,) = plan_queries(found, catalogue)
    return found, plan


def window(item: str, *, before: str = "", behind: str = "") -> str:
    items = f'["count(*) AS c", "{item}"]'
    return f"topic t {TIMED} as t {before} ! {WINDOW}{items} as w {behind} ! to-topic o as o"


@pytest.mark.parametrize(
    "item",
    [
        "round(avg(x), 2) AS a",
        "sum(x) / count(*) AS a",
        "coalesce(max(n), 0) + 1 AS a",
        "concat(k, '/', CAST(count(*) AS STRING)) AS a",
        "sum(x) FILTER (WHERE n > 1) / sum(x) AS a",
    ],
)
def test_an_expression_around_aggregates_is_behind_the_node(item: str, catalogue: Catalogue) -> None:
    validated, plan = made(window(item), catalogue)
    assert "w" in plan.in_chain
    assert plan.base.id == "w"
    assert validated.schemas["w__hoisted"].columns == validate(validated.as_written, catalogue).schemas["w"].columns


def test_an_aggregate_that_stands_twice_is_computed_once(catalogue: Catalogue) -> None:
    validated, _ = made(window("sum(x) / (sum(x) + count(n)) AS a"), catalogue)
    items = validated.document.node("w").config["aggregates"]
    assert items == ["count(*) AS c", "SUM(x) AS hoisted__0", "COUNT(n) AS hoisted__1"]


def test_the_meaning_is_that_of_the_written_node(catalogue: Catalogue) -> None:
    text = window("round(avg(x), 2) AS a", behind='! filter "c > 1" as f')
    validated, plan = made(text, catalogue)
    meaning = Meaning.of(plan)
    assert meaning.nodes == tuple(validated.as_written.node(name) for name in ("t", "w"))
    assert not {name for edge in meaning.edges for name in (edge.source, edge.target)} & plan.aside.keys()
    assert "w__hoisted" in plan.hidden


def test_a_node_that_only_spark_can_run_is_left_as_it_is(catalogue: Catalogue) -> None:
    validated, plan = made(window("round(approx_count_distinct(x), 2) AS a"), catalogue)
    assert validated.written is None
    assert not plan.in_chain


def test_a_node_whose_event_time_is_read_behind_it_is_left_as_it_is(catalogue: Catalogue) -> None:
    behind = '! tumbling-window size=1m time=_event_time aggregates=["sum(a) AS s"] as w2'
    validated, _ = made(window("round(avg(x), 2) AS a", behind=behind), catalogue)
    assert validated.written is None


@pytest.mark.parametrize(
    "before", ['! filter "abs(x) > 1"', '! select k x n ts "sqrt(x) AS r"', '! filter "k RLIKE \'a\'" ! filter "n > 1"']
)
def test_what_only_spark_computes_of_a_row_leaves_the_window_in_a_chain(before: str, catalogue: Catalogue) -> None:
    _, plan = made(window("max(n) AS m", before=before), catalogue)
    assert "w" in plan.in_chain


def test_rows_that_are_no_records_keep_the_window_in_sparks_plan(catalogue: Catalogue) -> None:
    before = '! select k x n ts "explode(array(1, 2)) AS e"'
    _, plan = made(window("max(n) AS m", before=before), catalogue)
    assert not plan.in_chain


def test_a_column_that_nobody_uses_has_no_say(catalogue: Catalogue) -> None:
    text = window("max(n) AS m").replace("n INT,", "n INT, more STRUCT<a: INT>, other MAP<STRING, INT>,")
    _, plan = made(text, catalogue)
    assert plan.in_chain == {"w"}
