"""Cells have the type of their column; rows are compared in one spelling."""

from __future__ import annotations

import pytest

from headrace.cases import Given, compare_rows
from headrace.cases.case_file import Cell
from headrace.cases.cells import comparable, timestamp, typed_rows
from headrace.errors import InvalidInput
from headrace.graph.schema import Schema

SCHEMA = Schema.parse("s STRING, n INT, d DOUBLE, b BOOLEAN, t TIMESTAMP, xs ARRAY<INT>")


def typed(**cells: str) -> dict[str, object]:
    row: dict[str, object] = {name: Cell(cell) for name, cell in cells.items()}
    return typed_rows(Given("t", tuple(row), (row,), 7), SCHEMA)[0]


def test_cells_have_the_type_of_their_column() -> None:
    found = typed(s="'NULL'", n="5", d="-1.5e3", b="TRUE", t="00:00:05", xs="[1, 2]")
    assert found == {
        "s": "NULL", "n": 5, "d": -1500.0, "b": True, "t": "2026-01-01T00:00:05.000000Z", "xs": [1, 2],
    }  # fmt: skip
    assert typed(s="NULL", n="", t="NULL") == {"s": None, "n": None, "t": None}


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1:02", "2026-01-01T01:02:00.000000Z"),
        ("01:02:03.5", "2026-01-01T01:02:03.500000Z"),
        ("2025-12-31 23:59:59", "2025-12-31T23:59:59.000000Z"),
        ("2026-01-01T01:00:00+01:00", "2026-01-01T00:00:00.000000Z"),
        ("2026-01-01T00:00:00.123Z", "2026-01-01T00:00:00.123000Z"),
    ],
)
def test_times(text: str, moment: str) -> None:
    assert timestamp(text) == moment


@pytest.mark.parametrize("cells", [{"n": "five"}, {"t": "soon"}, {"xs": "[1"}])
def test_what_is_no_value_is_told(cells: dict[str, str]) -> None:
    with pytest.raises(InvalidInput, match=r"line 7: .* is no"):
        typed(**cells)


def test_an_unknown_column_is_told_with_near_names() -> None:
    with pytest.raises(InvalidInput, match="line 7: t has no column 'xss'") as caught:
        typed(xss="1")
    assert caught.value.hint == "did you mean xs?"


def test_numbers_and_times_are_compared_by_what_they_mean() -> None:
    columns = ("d", "t", "s")
    one = comparable({"d": 0.1 + 0.2, "t": "2026-01-01T00:00:05.000Z", "s": None}, columns, SCHEMA)
    other = comparable({"d": 0.3, "t": "2026-01-01T00:00:05.000000Z"}, columns, SCHEMA)
    assert one == other == ("0.3", "00:00:05", "NULL")
    assert comparable({"s": "NULL"}, ("s",), SCHEMA) == ("'NULL'",)
    assert comparable({"s": ""}, ("s",), SCHEMA) == ("''",)
    assert comparable({"d": 3}, ("d",), SCHEMA) == comparable({"d": 3.0}, ("d",), SCHEMA)


def test_rows_without_an_order_are_counted() -> None:
    rows = [("a", "1"), ("b", "2"), ("b", "2")]
    assert compare_rows(("x", "y"), rows, [rows[1], rows[0], rows[2]], is_ordered=False) is None
    difference = compare_rows(("x", "y"), rows, [rows[1], ("c", "3")], is_ordered=False)
    assert str(difference) == (
        "  | x | y |\n- | a | 1 |\n  | b | 2 |\n- | b | 2 |\n+ | c | 3 |"
    )  # fmt: skip


def test_what_came_instead_of_a_row_stands_below_it_with_a_mark() -> None:
    expected = [("a", "1", "u"), ("b", "2", "v"), ("c", "3", "w")]
    actual = [("c", "3", "w"), ("b", "15", "v"), ("d", "1", "line\nline")]
    assert str(compare_rows(("x", "y", "z"), expected, actual, is_ordered=False)) == "\n".join((
        "  | x | y  | z          |",
        "- | a | 1  | u          |",
        "+ | d | 1  | line\\nline |",
        "    ^        ^^^^^^^^^^",
        "- | b | 2  | v          |",
        "+ | b | 15 | v          |",
        "        ^^",
        "  | c | 3  | w          |",
    ))  # fmt: skip


def test_an_order_is_kept_where_it_is_asked_for() -> None:
    rows = [("a",), ("b",)]
    assert compare_rows(("x",), rows, rows, is_ordered=True) is None
    assert str(compare_rows(("x",), rows, rows[::-1], is_ordered=True)) == "  | x |\n+ | b |\n  | a |\n- | b |"
