from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.errors import InvalidInput, InvalidSyntax
from headrace.graph import UNKNOWN, Schema
from headrace.graph.schema import parse_type
from headrace.operators.expression_types import check_types, type_of
from headrace.operators.expressions import MAX_EXPRESSION_CHARACTERS, aggregates, check_columns, parse_expression

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = Schema.parse(
    "b BOOLEAN, t TINYINT, s SMALLINT, i INT, l BIGINT, f FLOAT, d DOUBLE, x STRING, y BINARY, dt DATE, ts TIMESTAMP, "
    "n DECIMAL(10,2), arr ARRAY<INT>, st STRUCT<q:INT>, m MAP<STRING,DOUBLE>, `we ird` INT"
)

# Expression → type; what Spark says about each is checked below.
TOLD = {
    "i": "INT", "`we ird`": "INT", "I + 1": "INT", "i + l": "BIGINT", "i + d": "DOUBLE", "i * f": "DOUBLE",
    "f + f": "FLOAT", "i / l": "DOUBLE", "f / f": "DOUBLE", "i % 2": "INT", "t + s": "SMALLINT", "t + 1": "INT",
    "-i": "INT", "d * 1.8 + 32": "DOUBLE", "n + d": "DOUBLE", "i DIV 2": "BIGINT", "1": "INT", "3000000000": "BIGINT",
    "1.5": "DECIMAL(2,1)", "0.05": "DECIMAL(2,2)", "1e3": "DOUBLE", "'a'": "STRING", '"a"': "STRING", "true": "BOOLEAN",
    "i > 1": "BOOLEAN", "x LIKE 'a%'": "BOOLEAN", "i BETWEEN 1 AND 2": "BOOLEAN", "i IN (1, 2)": "BOOLEAN",
    "b AND NOT b": "BOOLEAN", "i IS NULL": "BOOLEAN", "x RLIKE 'a'": "BOOLEAN", "i <=> l": "BOOLEAN",
    "sum(i)": "BIGINT", "sum(f)": "DOUBLE", "avg(t)": "DOUBLE", "count(*)": "BIGINT", "count(DISTINCT i)": "BIGINT",
    "count_if(b)": "BIGINT", "approx_count_distinct(x)": "BIGINT", "min(ts)": "TIMESTAMP", "max(x)": "STRING",
    "first(n)": "DECIMAL(10,2)", "any_value(x)": "STRING", "max_by(x, ts)": "STRING", "stddev(i)": "DOUBLE",
    "var_pop(i)": "DOUBLE", "bool_or(b)": "BOOLEAN", "sum(i) FILTER (WHERE b)": "BIGINT", "max(i) - min(i)": "INT",
    "sum(i) / count(*)": "DOUBLE", "upper(x)": "STRING", "concat(x, 'a')": "STRING", "x || 'a'": "STRING",
    "length(x)": "INT", "substring(x, 1, 2)": "STRING", "trim(x)": "STRING", "abs(d)": "DOUBLE",
    "round(d, 1)": "DOUBLE",
    "floor(d)": "BIGINT", "ceil(f)": "BIGINT", "sqrt(i)": "DOUBLE", "power(i, 2)": "DOUBLE", "exp(d)": "DOUBLE",
    "coalesce(i, l)": "BIGINT", "coalesce(x, 'a')": "STRING", "if(b, i, l)": "BIGINT", "greatest(i, d)": "DOUBLE",
    "CASE WHEN b THEN i ELSE 2 END": "INT", "CASE WHEN b THEN x END": "STRING",
    "CASE WHEN b THEN NULL ELSE d END": "DOUBLE",
    "CAST(x AS int)": "INT", "x::double": "DOUBLE", "CAST(i AS decimal(10, 2))": "DECIMAL(10,2)",
    "CAST(arr AS array<string>)": "ARRAY<STRING>", "date_trunc('hour', ts)": "TIMESTAMP", "hour(ts)": "INT",
    "ts + INTERVAL 5 SECONDS": "TIMESTAMP", "current_timestamp()": "TIMESTAMP", "DATE '2020-01-01'": "DATE",
    "st": "STRUCT<q:INT>", "sum(n)": "DECIMAL(20,2)", "avg(n)": "DECIMAL(14,6)",
    "collect_list(x)": "ARRAY<STRING>", "mode(x)": "STRING",
    "max_by(x, i)": "STRING", "first(x) IGNORE NULLS": "STRING", "bit_xor(i)": "INT", "every(b)": "BOOLEAN",
    "corr(i, d)": "DOUBLE", "median(i)": "DOUBLE", "percentile(i, array(0.1, 0.9))": "ARRAY<DOUBLE>",
    "approx_percentile(i, 0.5)": "INT", "listagg(x, ', ')": "STRING",
}  # fmt: skip
# Types that only Spark can tell.
NOT_TOLD = (
    "n * n", "i + 1.5", "i + n", "st.q", "arr[0]", "m['a']", "round(i)", "round(n, 1)", "ts - ts",
    "year(ts)", "max_by(x, ts, 3)", "floor(n)", "floor(d, 1)", "from_json(x, 'a INT')", "transform(arr, z -> z + 1)",
    "nullif(i, 1)", "size(arr)", "concat(arr, arr)", "substring(y, 1, 2)", "coalesce(i, n)", "if(b, i, x)", "i & 1",
    "NULL", "explode(arr)", "my_function(i)", "x + 1", "dt + 1",
)  # fmt: skip


@pytest.mark.parametrize(("text", "type_"), TOLD.items())
def test_types_that_can_be_told(text: str, type_: str) -> None:
    assert type_of(parse_expression(text), SCHEMA) == type_


@pytest.mark.parametrize("text", NOT_TOLD)
def test_types_that_are_left_to_spark(text: str) -> None:
    assert type_of(parse_expression(text), SCHEMA) == UNKNOWN


@pytest.mark.spark
@pytest.mark.parametrize("text", TOLD)
def test_spark_says_the_same(text: str, spark: SparkSession) -> None:
    frame = spark.createDataFrame([], str(SCHEMA)).selectExpr(text)
    assert parse_type(frame.schema[0].dataType.simpleString()) == TOLD[text]


MISMATCHES = (
    "b + 1",
    "y * 2",
    "sum(b)",
    "avg(y)",
    "ts > 5",
    "b = 1.5",
    "y < 3",
    "dt >= i",
    "upper(x) = 'A' AND ts < 1",
    "sum(arr)",
    "avg(m)",
    "arr + 1",
    "abs(st)",
    "-arr",
    "round(b)",
    "arr = 1",
    "arr = 'a'",
    "st > arr",
    "upper(arr)",
    "trim(m)",
    "arr LIKE 'a%'",
    "CAST(arr AS INT)",
    "CAST(st AS DOUBLE)",
    "CASE WHEN b THEN 'a' ELSE arr END",
    "coalesce(i, m)",
    "if(b, arr, st)",
)


@pytest.mark.parametrize("text", MISMATCHES)
def test_operands_that_do_not_fit(text: str) -> None:
    with pytest.raises(InvalidInput, match="does not work with") as caught:
        check_types(parse_expression(text), SCHEMA)
    assert caught.value.place is not None


@pytest.mark.spark
@pytest.mark.parametrize("text", MISMATCHES)
def test_spark_refuses_the_same(text: str, spark: SparkSession) -> None:
    from pyspark.errors import AnalysisException

    with pytest.raises(AnalysisException):
        spark.createDataFrame([], str(SCHEMA)).selectExpr(text)


# An expression that each row would fail by, or that is not what it seems: part of the message, part of the hint.
NEVER_RIGHT = (
    ("x + 1", "does not work with STRING and INT", "CAST(text AS DOUBLE)"),
    ("avg(x)", "does not work with STRING", "CAST(text AS DOUBLE)"),
    ("'a' * 2", "does not work with STRING and INT", "CAST(text AS DOUBLE)"),
    ("i = 'abc'", "'abc' is no number", "CAST the other side AS STRING"),
    ("i IN ('a', 'b')", "'a' is no number", "CAST the other side AS STRING"),
    ("i BETWEEN 'a' AND 'b'", "'a' is no number", "CAST the other side AS STRING"),
    ("CASE i WHEN 'a' THEN 1 END", "'a' is no number", "CAST the other side AS STRING"),
    ("CASE WHEN b THEN 'a' ELSE 2 END", "'a' is no number", "CAST the other side AS STRING"),
    ("ts > 'yesterday'", "'yesterday' is no DATE or TIMESTAMP", "INTERVAL '1' DAY"),
    ("b = 'yess'", "'yess' is no BOOLEAN", ""),
    ("x = NULL", "is never true", "write x IS NULL"),
    ("x != NULL", "is never true", "write x IS NOT NULL"),
    ("\"x\" = 'abc'", '"x" is a text, not the column', "`x` in backquotes"),
    ('"x"', '"x" is a text, not the column', "`x` in backquotes"),
    ('i > "we ird"', '"we ird" is a text, not the column', "`we ird` in backquotes"),
    ("date_format(ts, 'YYYY-MM-DD')", "'Y' is no letter of a pattern", "'yyyy-MM-dd HH:mm:ss'"),
    ("to_date(x, 'YYYY')", "'Y' is no letter of a pattern", "'yyyy-MM-dd HH:mm:ss'"),
    ("date_trunc(ts, 'hour')", "no unit 'TS'", "the unit comes first"),
    ("date_trunc('hours', ts)", "no unit 'HOURS'", "did you mean HOUR"),
    ("NOT i", "the condition 'i' is INT", "compare it"),
    ("x AND b", "the condition 'x' is STRING", "compare it"),
    ("CASE WHEN i THEN 1 END", "the condition 'i' is INT", "compare it"),
    ("if(x, 1, 2)", "the condition 'x' is STRING", "compare it"),
    ("st.w", "st has no field 'w'", ""),
    ("nullif(i, 'abc')", "'abc' is no number", ""),
    ("CAST('abc' AS INT)", "'abc' is no INT", "TRY_CAST"),
    ("'soon'::TIMESTAMP", "'soon' is no TIMESTAMP", "TRY_CAST"),
    ("EXTRACT(EPOCH FROM ts)", "EXTRACT knows no EPOCH", "unix_seconds(ts)"),
    ("date_trunc('hour', l)", "does not work with BIGINT", "timestamp_millis(number)"),
    ("hour(l)", "does not work with BIGINT", "timestamp_millis(number)"),
)


@pytest.mark.parametrize(("text", "message", "hint"), NEVER_RIGHT)
def test_what_fails_for_each_row(text: str, message: str, hint: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)) as caught:
        check_types(parse_expression(text), SCHEMA)
    assert caught.value.place is not None
    assert hint in (caught.value.hint or "")


@pytest.mark.parametrize(
    "text",
    [
        *TOLD,
        "x > 5",
        "ts > '2020-01-01'",
        "dt < ts",
        "dt + 1",
        "x + INTERVAL 1 DAY",
        "ts > '2020-01-01 10:00:00'",
        "dt = '2020'",
        "i IN ('1', '2')",
        "i BETWEEN '1' AND '2'",
        "b = 'yes'",
        "x IS NULL",
        "TRY_CAST('abc' AS INT)",
        "CAST('2020-01-01' AS DATE)",
        "EXTRACT(HOUR FROM ts)",
        'x = "abc"',
        "date_format(ts, 'yyyy-MM-dd')",
        "date_format(ts, \"yyyy 'Week' MM\")",
        "date_trunc('hour', ts)",
        "date_trunc(x, ts)",
        "to_char(i, '999')",
        "CASE x WHEN 'a' THEN 1 END",
        "CASE WHEN b THEN 1 END",
        "if(b AND NOT i > 1, i, l)",
        "st.Q",
        "n > d",
        "arr = arr",
        "st = st",
        "CAST(arr AS STRING)",
        "coalesce(arr, NULL)",
        "size(arr) + 1",
        "m['a'] > 1",
        "arr[0] = i",
        "st.q + 1",
        "CASE WHEN b THEN arr END",
        "length(y)",
        "upper(i)",
    ],
)
def test_operands_that_fit(text: str) -> None:
    check_types(parse_expression(text), SCHEMA)


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("a >", 1, 3, "incomplete near '>'"),
        ("a > 1)", 1, 6, "unexpected ')'"),
        ("a\n  FROM b", 2, 3, "unexpected 'FROM'"),
        ("SELECT a", 1, 1, "unexpected 'SELECT'"),
        ("DROP TABLE a", 1, 1, "unexpected 'DROP'"),
        ("a, b", 1, 2, "unexpected ','"),
        ("f(a", 1, 3, "unexpected 'a'"),
        ("a[1", 1, 3, "expected ]"),
        ("a = 'x", 1, 5, "missing '"),
        ("a; b", 1, 2, "separated by ';'"),
        ("  ", 1, 1, "an empty expression"),
        ("a IN (SELECT 1)", 1, 1, "a subquery cannot stand"),
        ("EXISTS (SELECT b FROM c)", 1, 16, "a subquery cannot stand"),
        ("x + row_number() OVER (ORDER BY a)", 1, 33, "a window function"),
        ("a = :name", 1, 1, "a parameter cannot stand"),
        ("t.*", 1, 1, "only a plain *"),
        ("(" * 5_000, 1, 1, "nested too deeply"),
    ],
)
def test_what_is_no_expression_is_refused_with_its_place(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(InvalidSyntax) as caught:
        parse_expression(text)
    assert message in caught.value.message
    assert caught.value.place is not None
    assert (caught.value.place.line, caught.value.place.column) == (line, column)


def test_an_expression_has_a_limit() -> None:
    with pytest.raises(InvalidSyntax, match="are allowed"):
        parse_expression("a" * (MAX_EXPRESSION_CHARACTERS + 1))


_PIECES = (
    "a",
    "1",
    "'x'",
    "(",
    ")",
    "+",
    " AND ",
    ".",
    ",",
    "[",
    "]",
    "*",
    " AS b",
    "count",
    ";",
    "`c`",
    "\n",
    "->",
    ":",
    "@",
    "/*",
    "--",
    "\\",
)


@given(st.lists(st.sampled_from(_PIECES), max_size=12).map("".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        expression = parse_expression(text)
    except InvalidSyntax as refused:
        assert str(refused)  # noqa: PT017 - either outcome is right
    else:
        # Within backquotes a backquote is written twice.
        assert all(name.lower() in text.replace("``", "`") for name in expression.columns)


def test_columns_and_names() -> None:
    expression = parse_expression("upper(a) || `b c`.d || transform(e, z -> z + f) AS g")
    assert expression.columns == {"a", "b c", "e", "f"}
    assert [reference.place.column for reference in expression.references] == [7, 13, 34, 46]
    assert (expression.name, expression.column) == ("g", None)
    assert (parse_expression("a.b.c").name, parse_expression("a.b.c").column) == ("c", None)
    assert (parse_expression("Abc").name, parse_expression("Abc").column) == ("Abc", "abc")
    assert (parse_expression("Abc AS d").name, parse_expression("Abc AS d").column) == ("d", "abc")
    assert parse_expression("a + 1").name is None
    assert parse_expression("* EXCEPT (a)").is_star


def test_unknown_columns_are_marked() -> None:
    with pytest.raises(InvalidInput, match="unknown column 'tss'") as caught:
        check_columns(parse_expression("i > 1 AND tss IS NULL"), SCHEMA)
    assert caught.value.place is not None
    assert caught.value.place.marked() == "i > 1 AND tss IS NULL\n          ^^^"
    assert caught.value.hint is not None
    assert "ts" in caught.value.hint


@pytest.mark.parametrize(
    "text", ["sum(i)", "mean(d)", "try_sum(i)", "any(b)", "collect_list(i)", "percentile_approx(d, 0.5)"]
)
def test_aggregates_are_known(text: str) -> None:
    assert len(list(aggregates(parse_expression(f"1 + {text}").tree))) == 1
    assert not list(aggregates(parse_expression("abs(i) + my_sum(i)").tree))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("i = 'abc'", "'abc' is no number"),
        ("'abc' < d", "'abc' is no number"),
        ("b = 'maybe'", "'maybe' is no BOOLEAN"),
        ("CASE WHEN b THEN 'a' ELSE 2 END", "'a' is no number"),
        ("coalesce(i, 'none')", "'none' is no number"),
        ("\"x\" = 'abc'", '"x" is a text, not the column .x.'),
    ],
)
def test_texts_that_would_fail_for_the_first_row_or_say_nothing(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        check_types(parse_expression(text), SCHEMA)
    assert caught.value.hint is not None


@pytest.mark.parametrize(
    "text", ["i = '7'", "d < ' 1e3 '", "b = 'yes'", "CASE WHEN b THEN '1' ELSE 2 END", "'x' = \"y2\""]
)
def test_texts_that_can_be_read(text: str) -> None:
    check_types(parse_expression(text), SCHEMA)
