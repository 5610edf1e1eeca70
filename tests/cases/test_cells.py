"""Cells have the type of their column; rows are compared by it, in one spelling."""

from __future__ import annotations

from decimal import Decimal

import pytest

from headrace.cases import Given, compare_rows
from headrace.cases.case_file import Cell
from headrace.cases.cells import timestamp, typed_rows
from headrace.cases.spelling import spelled_alike, spelled_row
from headrace.errors import InvalidInput
from headrace.graph.schema import Column, Schema

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


def spelled(name: str, value: object, expected: object = None, schema: Schema = SCHEMA) -> str:
    """A value as it is compared with an expected one."""
    ((found,),) = spelled_alike([{name: value}], [{name: expected}], (name,), schema)
    return found


def is_same(name: str, value: object, expected: object, schema: Schema = SCHEMA) -> bool:
    return spelled(name, value, expected, schema) == spelled_row({name: expected}, (name,), schema)[0]


def test_values_are_compared_by_what_they_mean() -> None:
    assert is_same("t", "2026-01-01T00:00:05.000Z", "2026-01-01T00:00:05.000000Z")
    assert spelled("t", "2026-01-01T00:00:05.000Z") == "00:00:05"
    assert (spelled("s", None), spelled("s", "NULL"), spelled("s", "")) == ("NULL", "'NULL'", "''")
    assert is_same("d", 3, Decimal("3.0"))
    assert is_same("d", "NaN", "NaN")
    assert not is_same("d", "Infinity", "-Infinity")


def test_real_numbers_are_the_same_up_to_a_few_units_in_the_last_place() -> None:
    schema = Schema.parse("d DOUBLE, f FLOAT, xs ARRAY<DOUBLE>")
    assert is_same("d", 0.1 + 0.2, Decimal("0.3"))
    assert not is_same("d", 0.3 + 1e-14, Decimal("0.3"))
    assert not is_same("d", Decimal("0.3333333333333333"), Decimal("0.333333333"))
    assert is_same("f", Decimal("0.1"), Decimal("0.10000001"), schema)
    assert not is_same("f", Decimal("0.1"), Decimal("0.10001"), schema)
    assert is_same("xs", [0.1 + 0.2, None], [Decimal("0.3"), None], schema)
    assert not is_same("xs", [0.1 + 0.2], [Decimal("0.3"), None], schema)


@pytest.mark.parametrize("type_", ["BIGINT", "DECIMAL(30,10)", "?"])
def test_other_numbers_are_compared_to_the_last_digit(type_: str) -> None:
    schema = Schema((Column("n", type_),))
    assert is_same("n", 1234567890123, 1234567890123, schema)
    assert not is_same("n", 1234567890123, 1234567890124, schema)
    one, other = Decimal("12345678901234567890.1234567891"), Decimal("12345678901234567890.1234567892")
    assert type_ == "BIGINT" or not is_same("n", one, other, schema)
    assert type_ == "BIGINT" or is_same("n", Decimal("1.50"), Decimal("1.5"), schema)


@pytest.mark.parametrize("cell", ["2.0", "2e0", "true"])
def test_a_whole_number_is_written_as_one(cell: str) -> None:
    with pytest.raises(InvalidInput, match="in column 'n' of t is no INT"):
        typed(n=cell)


def test_objects_are_taken_as_they_are_but_for_times_of_day() -> None:
    row: dict[str, object] = {"t": 10000, "n": Decimal("2.0")}
    assert typed_rows(Given("t", tuple(row), (row,), 7), SCHEMA) == [row]
    day: dict[str, object] = {"t": "00:00:05"}
    assert typed_rows(Given("t", ("t",), (day,), 7), SCHEMA) == [{"t": "2026-01-01T00:00:05.000000Z"}]


def test_times_with_a_format_of_their_own_are_written_in_it() -> None:
    row: dict[str, object] = {"t": Cell("05.01.2026 10:00")}
    assert typed_rows(Given("t", ("t",), (row,), 7), SCHEMA, "t") == [{"t": "05.01.2026 10:00"}]


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
