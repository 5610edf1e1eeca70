"""What has no form, and how little is computed."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from headrace.errors import InvalidInput
from headrace.graph.schema import Schema
from headrace.operators.columnar import Form, kernels, may_raise, planned, scope_of
from headrace.operators.columnar.values import Made, Values

SCHEMA = Schema.parse("i INT, b BIGINT, s STRING, f BOOLEAN, m DECIMAL(38,10), t TIMESTAMP, x FLOAT, r BINARY")
ROWS = pa.record_batch(
    {
        "i": pa.array([1, 0, None], pa.int32()),
        "b": [5, (1 << 63) - 1, 7],
        "s": ["a/b", "a", None],
        "f": [True, False, None],
    }
)


def form_of(text: str) -> Form:
    form = planned(text, scope_of(SCHEMA))
    assert form is not None, text
    return form


def values_of(text: str) -> list[Any]:
    return list(Values(ROWS).array(form_of(text)).to_pylist())


@pytest.mark.parametrize(
    "text",
    [
        "iff(f, 1, 2)", "strpos(s, 'a')", "initcap(s)", "s = 'it''s'", r"s = 'a\nb'", "i = '5'", "s > 5", "t > '2026'",
        "x = x", "x + 1", "r = r", "m * m", "m + 1", "m / 2", "i IN (b)", "substring(s, -2)", "substring(s, i)",
        "replace(s, s, '')", "trim('x' FROM s)", "s LIKE s", "s LIKE 'a!%' ESCAPE '!'", "split(s, '.')",
        "split(s, '/', 2)", "split(s, '//')", "get(split(s, '/'), i)", "split(s, '/')[-1]", "lower(i)", "concat(s, i)",
        "regexp_extract(s, 'a$', 0)", "regexp_extract(s, '(a|b)*', 1)", "regexp_extract(s, '(a)', 2)",
        "regexp_extract(s, 'a*+', 0)", "regexp_extract(s, '[a&&b]', 0)", "regexp_extract(s, '[z-a]', 0)",
        "regexp_extract(s, 'ä', 0)", "regexp_extract(s, '(?i)a', 0)", "regexp_extract(s, s, 0)",
        "date_format(t, 'YYYY')", "date_format(t, 'yy')", "date_format(t, 'M')", "date_format(t, 'hh')",
        "date_format(s, 'yyyy')", "hour(s)", "a.b", "unknown", "count(*)", "b > 99999999999999999999.5", "f = NOT f",
        "i BETWEEN SYMMETRIC 2 AND 1", "1e999", "-0e0", "NULL + i IS NULL AND foo(i)", "CASE WHEN i THEN 1 END",
        "cast(s AS INT)", "s COLLATE UTF8_LCASE = 'a'",
    ],
)  # fmt: skip
def test_what_may_differ_from_spark_has_no_form(text: str) -> None:
    assert planned(text, scope_of(SCHEMA)) is None


def test_equal_parts_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    split = kernels.KERNELS["split"]

    def counted(*given: Any) -> Any:
        calls.append("split")
        return split(*given)

    monkeypatch.setitem(kernels.KERNELS, "split", counted)
    values = Values(ROWS)
    found = [values.array(form_of(f"get(split(s, '/'), {place})")).to_pylist() for place in range(3)]
    assert found == [["a", "a", None], ["b", None, None], [None, None, None]]
    assert calls == ["split"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("b + 1", "the result of \\+ does not fit its type, int64"),
        ("-(b + 1) IS NULL", "does not fit"),
        ("b % i", "division by zero"),
        ("7 / i", "division by zero"),
        ("split(s, '/')[1]", "no item at 1"),
    ],
)
def test_a_row_that_fails_in_spark_fails_here(text: str, message: str) -> None:
    assert may_raise(form_of(text))
    with pytest.raises(InvalidInput, match=message):
        values_of(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CASE WHEN f THEN b + 1 ELSE 0 END", [6, 0, 0]),
        ("CASE WHEN i = 0 THEN 0 WHEN b % i = 0 THEN 1 END", [1, 0, None]),
        ("i <> 0 AND 7 / i > 1", [True, False, None]),
        ("i = 0 OR 7 / i > 1", [True, True, None]),
        ("if(f, split(s, '/')[1], s)", ["b", "a", None]),
        ("coalesce(CASE WHEN i = 0 THEN 'none' END, split(s, '/')[1])", ["b", "none", None]),
        ("CASE WHEN f THEN i END + (b + 1)", [7, None, None]),
    ],
)
def test_what_may_fail_is_computed_only_for_rows_that_want_it(text: str, expected: list[Any]) -> None:
    assert values_of(text) == expected


def test_a_failure_names_the_node_that_wanted_the_value() -> None:
    made = Made(
        {
            "_made0": ["total", form_of("b + 1")],
            "_made1": ["other", ["negate!", "BIGINT", ["made!", "BIGINT", "_made0"]]],
        }
    )
    with pytest.raises(InvalidInput) as failure:
        Values(ROWS, made).named("_made1")
    assert failure.value.node == "total"


def test_no_rows_and_literals_alone() -> None:
    for text in ("1 + 1", "lower('A')", "date_format(t, 'yyyy')", "CASE WHEN true THEN 'a' END", "length('ab') % 2"):
        nothing = pa.RecordBatch.from_pylist([], pa.schema({"t": pa.timestamp("us", tz="UTC")}))
        assert len(Values(nothing).array(form_of(text))) == 0
    assert values_of("get(split('a/b', '/'), 1)") == ["b", "b", "b"]
    assert values_of("regexp_extract('xay', '(a)', 1)") == ["a", "a", "a"]
    assert values_of("-7 % 3") == [-1, -1, -1]
