"""For which rows an expression fails is told by another one, which agrees with Spark in ANSI mode."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from headrace.graph.schema import Schema
from headrace.operators.row_failures import Derived, NotDerivable, derived, derived_items, reason_of

SCHEMA = Schema.parse(
    "i INT, b BIGINT, y TINYINT, d DOUBLE, m DECIMAL(10,2), s STRING, u STRING, f BOOLEAN, t TIMESTAMP, a ARRAY<STRING>"
)
NUMBERS = [None, 0, 1, -1, 7]
VALUES: dict[str, list[Any]] = {
    "i": [*NUMBERS, (1 << 31) - 1, -(1 << 31)],
    "b": [*NUMBERS, (1 << 63) - 1, -(1 << 63)],
    "y": [None, 0, 127, -128],
    "d": [None, 0.0, -0.0, 1.5, 1e300, float("nan")],
    "m": [None, Decimal("0.00"), Decimal("1.25"), Decimal("99999999.99")],
    "s": [None, "", "7", " 12 ", "abc", "2024-02-30", "2024-02-29", "true", "1e3", "99999999999"],
    "u": [None, "x", "3"],
    "f": [None, True, False],
    "t": [None, datetime(2024, 2, 29, 12, tzinfo=UTC)],
    "a": [None, [], ["p"], ["p", None, "q"]],
}
WRITTEN = (
    "i + 1", "i * i", "b - i", "b * 2", "y + y", "m * m", "m / i", "i / b", "d / d", "i % b", "b div i", "b div y",
    "-i", "-b", "-y", "abs(i)", "abs(d)", "CAST(s AS INT)", "CAST(s AS DOUBLE)", "CAST(s AS DATE)",
    "CAST(s AS TIMESTAMP)", "s::BOOLEAN", "CAST(b AS INT)", "CAST(d AS INT)", "CAST(d AS BIGINT)",
    "CAST(m AS TINYINT)", "CAST(i AS STRING)", "CAST(b AS DECIMAL(5,1))", "try_cast(s AS INT)",
    "to_timestamp(s, 'yyyy-MM-dd')", "to_date(s, 'yyyy-MM-dd')", "to_date(s)", "to_timestamp(s)", "s = 7", "i < s",
    "b >= s", "s = d", "t = s", "f = s", "s <> u", "i BETWEEN 0 AND 10 / b", "i IN (1, 7)",
    "CASE WHEN i > 0 THEN 10 / i WHEN b = 0 THEN i / b ELSE CAST(s AS INT) END",
    "CASE i WHEN 1 THEN 1 / b ELSE 0 END", "if(b = 0, 0, i / b)", "if(CAST(s AS INT) > 3, i / b, 0)",
    "coalesce(i, 1 / b)", "coalesce(1 / b, i)", "nvl2(i, 1 / b, 2)", "nullif(i / b, 1)", "b <> 0 AND i / b > 1",
    "b = 0 OR i / b > 1", "NOT (i / b > 1)", "i / b IS NULL", "(i / b) + (b / i)", "(i + i) / b", "i / (b + b)",
    "concat(s, CAST(i + 1 AS STRING))", "round(i / b, 2)", "upper(s)", "s || u", "a[0]", "a[i]", "element_at(a, i)",
    "split(s, '-')[1]", "a[CAST(s AS INT)]", "year(t)", "greatest(i / b, 1)", "t + INTERVAL 1 DAY", "length(s) / i",
    "f AND CAST(s AS INT) = 7", "(CAST(s AS INT) + 1) * i", "s LIKE '7%'", "size(a) / i",
)  # fmt: skip
ROW_COUNT = 150
MADE_COUNT = 60
FAILING_MAX = 30


def _rows() -> list[dict[str, Any]]:
    chosen = random.Random(7)
    rows = [{name: chosen.choice(values) for name, values in VALUES.items()} for _ in range(ROW_COUNT)]
    return [{"n": number, **row} for number, row in enumerate(rows)]


def _made(chosen: random.Random, depth: int) -> str:
    """A number, of numbers and texts."""
    if depth == 0:
        return chosen.choice(["i", "b", "y", "d", "1", "0", "2.5e0", "CAST(s AS INT)", "CAST(b AS INT)"])
    one, other = _made(chosen, depth - 1), _made(chosen, depth - 1)
    condition = chosen.choice([f"{one} > {other}", "f", f"f AND {one} = 1", f"i = 0 OR {other} < 2", f"{one} IS NULL"])
    return chosen.choice([
        f"({one} + {other})", f"({one} / {other})", f"({one} * {other})", f"({one} % {other})",
        f"coalesce({one}, {other})",
        f"CASE WHEN {condition} THEN {one} ELSE {other} END", f"if({condition}, {one}, {other})", f"CAST({one} AS INT)",
    ])  # fmt: skip


def _all_derived() -> dict[str, Derived]:
    chosen = random.Random(11)
    found: dict[str, Derived] = {}
    for text in (*WRITTEN, *(_made(chosen, 1 + number % 2) for number in range(MADE_COUNT))):
        try:
            found[text] = derived(text, SCHEMA)
        except NotDerivable:
            assert text not in WRITTEN, text
    return found


def test_fails_for_just_the_rows_that_spark_fails_for(spark: SparkSession) -> None:
    expressions = _all_derived()
    assert len(expressions) > len(WRITTEN) + MADE_COUNT // 2
    rows = spark.createDataFrame(_rows(), f"n INT, {SCHEMA}").cache()
    columns = []
    for number, (text, one) in enumerate(expressions.items()):
        columns += [
            f"({one.failed}) AS f{number}",
            # Where it does not fail, Spark does not, and the values are the same.
            f"if({one.failed}, true, ({text}) <=> ({one.safe})) AS e{number}",
            f"typeof({text}) = typeof({one.safe}) AS t{number}",
            f"(({reason_of(one.failures)}) IS NOT NULL) = ({one.failed}) AS r{number}",
        ]
    found = rows.selectExpr("n", *columns).collect()
    failing: list[tuple[str, int]] = []
    for number, text in enumerate(expressions):
        assert all(row[f"t{number}"] for row in found), text
        assert all(row[f"e{number}"] for row in found), text
        assert all(row[f"r{number}"] for row in found), text
        assert {row[f"f{number}"] for row in found} <= {True, False}, text
        failing += [(text, row["n"]) for row in found if row[f"f{number}"]][:2]
    assert len(failing) > FAILING_MAX
    for text, row in random.Random(3).sample(failing, FAILING_MAX):
        alone = rows.where(f"n = {row}").selectExpr(f"({text}) AS x")
        with pytest.raises(PySparkException):
            alone.collect()


def test_names_given_further_left_count_with_what_they_stand_for() -> None:
    first, second = derived_items([("half", "10 / i"), ("more", "half + 1")], SCHEMA)
    assert first.failures
    assert "10" in second.failed


@pytest.mark.parametrize("text", ["conv(s, 10, 16)", "make_date(i, 1, 1)", "raise_error(s)"])
def test_says_which_part_nobody_can_tell_it_of(text: str) -> None:
    with pytest.raises(NotDerivable):
        derived(text, SCHEMA)


def test_what_never_fails_stays_as_it_is_written() -> None:
    assert derived("Upper( s )", SCHEMA) == Derived("Upper( s )")
