"""OVER in a SELECT list: which operators it becomes, and that SQL says the same of them again."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.graph.document import Document, Json
from headrace.sql import parse, print_sql

STREAM = (
    "CREATE STREAM t (k STRING, x DOUBLE, n INT, ok BOOLEAN, ts TIMESTAMP,"
    " WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);\n"
)
RUNNING = "OVER (PARTITION BY k ORDER BY ts)"
RECENT = "OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW)"


def read(query: str) -> Document:
    return parse(f"{STREAM}CREATE STREAM o AS {query}")


def configs(document: Document) -> dict[str, dict[str, Json]]:
    return {node.id: dict(node.config) for node in document.nodes if node.id == "o" or node.id.startswith("o_")}


def columns(document: Document, node: str) -> Json:
    return document.node(node).config["columns"]


def test_functions_that_look_at_the_same_rows_are_one_operator() -> None:
    document = read(f"SELECT *, lag(x) {RUNNING} AS p, sum(x) {RUNNING} AS s, row_number() {RUNNING} AS r FROM t")
    functions: list[Json] = ["lag(x) AS p", "sum(x) AS s", "row_number() AS r"]
    assert configs(document) == {"o": {"time": "ts", "keys": ["k"], "functions": functions}}


def test_numbers_go_with_either_frame() -> None:
    rows = "OVER (PARTITION BY k ORDER BY ts ROWS UNBOUNDED PRECEDING)"
    document = read(f"SELECT *, lag(x) {RUNNING} AS p, sum(x) {rows} AS s FROM t")
    assert configs(document)["o"]["frame"] == "rows"
    both = read(f"SELECT *, sum(x) {RUNNING} AS p, sum(x) {rows} AS s FROM t")
    assert configs(both).keys() == {"o", "o_over"}


def test_functions_that_look_at_different_rows_are_operators_one_behind_the_other() -> None:
    document = read(f"SELECT k, sum(x) {RUNNING} AS s, avg(x) {RECENT} AS a FROM t WHERE ok")
    assert [document.node(node).operator for node in ("o_filter", "o_over", "o_over_2", "o")] == [
        "filter",
        "over-running",
        "over-window",
        "select",
    ]
    assert columns(document, "o") == ["k", "s", "a"]


def test_a_call_in_an_expression_becomes_a_column_that_goes_again() -> None:
    document = read(f"SELECT *, x - lag(x) {RUNNING} AS d, lag(x) {RUNNING} > 3 AS e FROM t AS z")
    assert configs(document)["o_over"]["functions"] == ["lag(x) AS over_1"]
    assert columns(document, "o") == ["* EXCEPT (over_1)", "x - over_1 AS d", "over_1 > 3 AS e"]


def test_values_and_conditions_are_computed_before() -> None:
    document = read(
        f"SELECT k, sum(z.x * n) FILTER (WHERE z.ok AND n > (1)) {RECENT} AS s,"
        f" count(*) FILTER (WHERE ok) {RECENT} AS c, max(x * 2) {RECENT} AS m FROM t AS z"
    )
    assert columns(document, "o_values") == [
        "*",
        "CASE WHEN ok AND n > (1) THEN x * n END AS value_1",
        "CASE WHEN ok THEN 1 END AS value_2",
        "x * 2 AS value_3",
    ]
    functions = ["sum(value_1) AS s", "count(value_2) AS c", "max(value_3) AS m"]
    assert configs(document)["o_over"]["aggregates"] == functions


def test_names_that_are_made_up_are_those_of_no_column() -> None:
    document = parse(
        "CREATE STREAM t (k STRING, over_1 DOUBLE, value_1 INT, ts TIMESTAMP, WATERMARK FOR ts AS ts);"
        f"CREATE STREAM o AS SELECT 1 + lag(over_1 + value_1) {RUNNING} AS over_2 FROM t"
    )
    assert columns(document, "o_values") == ["*", "over_1 + value_1 AS value_2"]
    assert columns(document, "o") == ["1 + over_3 AS over_2"]


def test_a_function_may_have_the_name_of_a_column() -> None:
    document = read(f"SELECT k, max(x) {RUNNING} AS x FROM t")
    assert columns(document, "o") == ["k", "over_1 AS x"]


@pytest.mark.parametrize(
    ("bound", "operator"),
    [
        ("WHERE r <= 3", "top-n"),
        ("WHERE r % 2 = 0", "over-running"),
        ("", "over-running"),
        ("WHERE r > 3", "over-running"),
    ],
)
def test_only_a_bound_makes_a_ranking_of_numbers(bound: str, operator: str) -> None:
    document = read(f"SELECT * FROM (SELECT *, row_number() {RUNNING} AS r FROM t) {bound}")
    assert document.node("o_from").operator == operator


def test_the_event_time_has_a_name_of_its_own() -> None:
    document = read("SELECT *, lag(x) OVER (ORDER BY _event_time) AS p FROM t")
    assert configs(document)["o"] == {"time": "ts", "functions": ["lag(x) AS p"]}


_calls = st.sampled_from((
    "count(*)", "count(*) FILTER (WHERE ok)", "sum(x)", "sum(t.x * n)", "avg(x) FILTER (WHERE n > 3)", "min(n)",
    "max(ts)", "first_value(x)", "last_value(x + 1)", "last_value(k) IGNORE NULLS",
))  # fmt: skip
_frames = st.sampled_from((
    "", "ROWS UNBOUNDED PRECEDING", "RANGE UNBOUNDED PRECEDING", "ROWS 3 PRECEDING", "ROWS CURRENT ROW",
    "RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW",
))  # fmt: skip
_frameless = st.sampled_from(("lag(x)", "lag(x, 2, 0)", "lag(k || '!')", "row_number()", "rank()", "dense_rank()"))
_parts = st.sampled_from(("", "PARTITION BY k ", "PARTITION BY k, n "))
_overs = st.one_of(
    st.builds("{} OVER ({}ORDER BY ts {})".format, _calls, _parts, _frames),
    st.builds("{} OVER ({}ORDER BY ts)".format, _frameless, _parts),
)
_items = st.builds(str.format, st.sampled_from(("{}", "coalesce({}, NULL)", "{} IS NULL")), _overs)


@given(st.lists(_items, min_size=1, max_size=5), st.sampled_from(("*", "k, x AS y", "* EXCEPT (ok)")), st.booleans())
@settings(max_examples=100, deadline=None)
def test_whatever_stands_with_over_survives(items: Sequence[str], others: str, is_filtered: bool) -> None:
    named = ", ".join(f"{item} AS c{place}" for place, item in enumerate(items))
    document = read(f"SELECT {others}, {named} FROM t{' WHERE ok' if is_filtered else ''}")
    assert parse(print_sql(document)) == document
    assert print_sql(parse(print_sql(document))) == print_sql(document)
