"""Python functions over Arrow arrays: nulls, arrays at once, groups, and errors that name the row."""

from __future__ import annotations

from typing import Annotated, Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from headrace.errors import InvalidInput
from headrace.serial import sql_aggregate, sql_function


@sql_function
def ratio(a: float, b: float) -> float:
    return a / b


@sql_function
def filled(text: str | None, length: int) -> str:
    return (text or "-") * length


@sql_function
def doubled(x: Annotated[Any, int]) -> Annotated[Any, int]:
    return pc.multiply_checked(x, 2)


@sql_aggregate
def spread(values: list[float]) -> float | None:
    return max(values) - min(values) if values else None


@sql_aggregate
def total(values: Annotated[Any, int]) -> int:
    return int(pc.sum(values, min_count=0).as_py())


def test_a_null_is_passed_on_only_where_it_is_taken() -> None:
    halves = ratio.over([pa.array([1.0, None, 3.0]), pa.array([2, 2, None], pa.int32())])
    assert halves.to_pylist() == [0.5, None, None]
    assert filled.over([pa.array(["ab", None]), pa.array([2, 3])]).to_pylist() == ["abab", "---"]
    assert ratio(1.0, 4.0) == 0.25


def test_arrays_are_taken_at_once() -> None:
    assert doubled.over([pa.array([1, None, 3], pa.int16())]).to_pylist() == [2, None, 6]


def test_an_aggregate_sees_each_group() -> None:
    groups = pa.array([[1.0, 4.0], [], [2.5]], pa.list_(pa.float64()))
    assert spread.over([groups]).to_pylist() == [3.0, None, 0.0]
    assert total.over([pa.array([[1, 2], []], pa.list_(pa.int32()))]).to_pylist() == [3, 0]


def test_an_error_names_the_function_and_the_row() -> None:
    with pytest.raises(InvalidInput, match=r"'ratio' failed with \(2.0, 0.0\): ZeroDivisionError"):
        ratio.over([pa.array([1.0, 2.0]), pa.array([1.0, 0.0])])
    with pytest.raises(InvalidInput, match=r"'doubled' failed with \(9223372036854775807,\): ArrowInvalid"):
        doubled.over([pa.array([1, 2**63 - 1])])


def test_a_value_of_another_type_than_was_said_is_refused() -> None:
    @sql_function
    def wrong(x: int) -> int:
        return "text"  # type: ignore[return-value]

    with pytest.raises(pa.ArrowException):
        wrong.over([pa.array([1])])


def untyped(x):  # type: ignore[no-untyped-def]
    return x


def strange(x: complex) -> float:
    return abs(x)


def mixed(x: Annotated[Any, int]) -> int:
    return 1


def nothing() -> int:
    return 1


def plain(x: float) -> float:
    return x


@pytest.mark.parametrize(
    ("function", "decorate", "words"),
    [
        (untyped, sql_function, "does not say the type of 'x'"),
        (strange, sql_function, "no column has the type"),
        (mixed, sql_function, "must take and give arrays"),
        (nothing, sql_function, "takes no column"),
        (plain, sql_aggregate, "an aggregate takes a list"),
    ],
)
def test_a_function_that_does_not_say_its_columns_is_refused(function: Any, decorate: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        decorate(function)
