"""No expression in the condition of a join, and no type of its keys, decides where its state is."""

from __future__ import annotations

import pytest

from headrace.errors import InvalidGraph
from headrace.graph.text import parse_text
from headrace.graph.validation import Validated, validate
from headrace.operators import Catalogue
from headrace.operators.join_keys import why_in_spark
from headrace.spark.planning.meaning import Meaning, difference
from headrace.spark.planning.plan import QueryPlan
from headrace.spark.planning.queries import plan_queries
from headrace.spark.planning.runnable import runnable

TYPES = "k STRING, d BIGINT, i INT, x DOUBLE, f FLOAT, m DECIMAL(10,2), b BINARY, day DATE, ts TIMESTAMP"
TIMED = f'schema="{TYPES}" event_time=ts'
RIGHT = " ".join(f'"{name} AS {name}2"' for name in ("k", "d", "i", "x", "f", "m", "b", "day", "ts"))
WINDOW = 'tumbling-window size=10s time=ts keys=k aggregates=["count(*) AS c"]'


def joined(on: str, kind: str = "left", *, more: str = "", behind: str = "") -> str:
    return (
        f"topic a {TIMED} as a ! @j.left\ntopic b {TIMED} as b ! select {RIGHT} as r ! @j.right\n"
        f'join "{on}" kind={kind} before=1s after=1s {more} as j {behind} ! to-topic o as o'
    )


def made(text: str, catalogue: Catalogue) -> tuple[Validated, QueryPlan]:
    found = runnable(parse_text(text, catalogue), catalogue)
    (plan,) = plan_queries(found, catalogue)
    return found, plan


@pytest.mark.parametrize("kind", ["inner", "left", "right", "full"])
@pytest.mark.parametrize(
    ("on", "left", "right"),
    [
        ("abs(left.d) = abs(right.d2)", "ABS(`d`)", "ABS(`d2`)"),
        ("right.i2 = left.i + 1 AND left.x < right.x2", "`i` + 1", "`i2`"),
        ("left.i = right.d2", "CAST(`i` AS BIGINT)", "`d2`"),
        ("left.day = right.ts2", "CAST(`day` AS TIMESTAMP)", "`ts2`"),
        ("left.b = right.b2", "CAST(hex(`b`) AS STRING)", "CAST(hex(`b2`) AS STRING)"),
        (
            "left.f = right.x2",
            "CAST(CAST(`f` AS DOUBLE) + CAST(0 AS DOUBLE) AS STRING)",
            "CAST(CAST(`x2` AS DOUBLE) + CAST(0 AS DOUBLE) AS STRING)",
        ),
        (
            "left.m = right.i2",
            "CAST(CAST(`m` AS DECIMAL(12,2)) AS STRING)",
            "CAST(CAST(`i2` AS DECIMAL(12,2)) AS STRING)",
        ),
    ],
)
def test_keys_are_columns_before_the_join(kind: str, on: str, left: str, right: str, catalogue: Catalogue) -> None:
    text = joined(on, kind)
    validated, plan = made(text, catalogue)
    assert "j" in plan.in_chain
    for node, item in (("j__left", left), ("j__right", right)):
        assert list(validated.document.node(node).config["columns"]) == ["*", f"{item} AS `_join_key_0`"]  # type: ignore[arg-type]
    written = validate(validated.as_written, catalogue)
    assert validated.schemas["j"].columns == written.schemas["j"].columns
    assert validated.schemas["j"].event_time == written.schemas["j"].event_time
    assert why_in_spark(written.configs["j"], {"left": written.schemas["a"], "right": written.schemas["r"]}) is None


def test_the_meaning_is_that_of_the_written_join(catalogue: Catalogue) -> None:
    validated, plan = made(joined("abs(left.d) = abs(right.d2) AND left.k LIKE right.k2", "inner"), catalogue)
    meaning = Meaning.of(plan)
    assert {node.id: node for node in meaning.nodes} == {
        name: validated.as_written.node(name) for name in ("a", "b", "r", "j")
    }
    assert meaning.edges == tuple(edge for edge in validated.as_written.edges if edge.target in ("r", "j"))
    assert {"j__left", "j__right", "j__kept"} <= plan.hidden


def test_state_that_was_in_sparks_plan_is_not_gone_on_from(catalogue: Catalogue) -> None:
    """The user says where such a query begins."""
    _, plan = made(joined("lower(left.k) = right.k2"), catalogue)
    new = Meaning.of(plan)
    old = Meaning("other", new.nodes, new.edges, frozenset())
    assert difference(old, new, catalogue).changes == ("~ node j: this release keeps its state elsewhere",)


def test_what_only_spark_computes_of_pairs_filters_those_of_an_inner_join(catalogue: Catalogue) -> None:
    on = "left.k = right.k2 AND soundex(left.k) = soundex(right.k2)"
    validated, plan = made(joined(on, "inner"), catalogue)
    assert plan.in_chain == {"j"}
    assert validated.document.node("j").config["on"] == "left.k = right.k2"
    assert validated.document.node("j__kept").config["condition"] == "SOUNDEX(`k`) = SOUNDEX(`k2`)"
    _, plan = made(joined(on, "left"), catalogue)
    assert not plan.in_chain


@pytest.mark.parametrize(
    ("on", "reason"),
    [
        ("left.k = right.k2 AND soundex(left.k) = soundex(right.k2)", "is left to Spark"),
        ("left.k = right.i2", "'k' is STRING on the left"),
        (r"left.k = right.k2 AND left.k <> 'a\\n'", "is left to Spark"),
    ],
)
def test_an_outer_join_that_stays_in_sparks_plan_says_why(on: str, reason: str, catalogue: Catalogue) -> None:
    validated, plan = made(joined(on), catalogue)
    assert not plan.in_chain
    assert validated.written is None
    inputs = {"left": validated.schemas["a"], "right": validated.schemas["r"]}
    assert reason in (why_in_spark(validated.configs["j"], inputs) or "")
    with pytest.raises(InvalidGraph, match="cannot be dead letters"):
        made(joined(on, more="late=dead_letter dead_letter=l"), catalogue)


def test_late_rows_of_a_join_on_expressions_can_be_dead_letters(catalogue: Catalogue) -> None:
    _, plan = made(joined("lower(left.k) = right.k2", more="late=dead_letter dead_letter=l"), catalogue)
    assert "j" in plan.in_chain


@pytest.mark.parametrize("kind", ["inner", "left"])
def test_a_window_behind_a_join_is_in_its_chain(kind: str, catalogue: Catalogue) -> None:
    _, plan = made(joined("left.k = right.k2", kind, behind=f"! {WINDOW} as w"), catalogue)
    assert plan.in_chain == {"j", "w"}
