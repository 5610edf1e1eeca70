"""Aggregates of serial windows: what is kept for each, how rows are taken in, how two of them are put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
import pyarrow as pa
from sqlglot import exp

from headrace.errors import InvalidInput
from headrace.graph.schema import Column, Schema, is_numeric
from headrace.operators.arrow_types import arrow_type
from headrace.operators.expressions import check_columns, parse_expression
from headrace.serial import KeyedTable
from headrace.serial.keys import Integers

Function = Literal["count", "sum", "avg", "min", "max"]
FUNCTIONS: tuple[Function, ...] = ("count", "sum", "avg", "min", "max")
_NODES: dict[type[exp.Expr], Function] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
}
AGGREGATES = "`aggregate AS name` items: count(*), or count, sum, avg, min or max of a column."

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`function(column) AS name`; `column` is None for count(*)."""

    function: Function
    column: str | None
    name: str
    type: str

    @property
    def kept_type(self) -> pa.DataType:
        """Of the number that is kept while a window is open."""
        if self.function in ("min", "max"):
            return arrow_type(self.type)
        return pa.int64() if self.type == "BIGINT" else pa.float64()

    def fields(self, index: int) -> list[tuple[str, pa.DataType]]:
        """What is kept in state: how many values there were, and a number."""
        return [(f"n{index}", pa.int64()), (f"v{index}", self.kept_type)]


def parse_aggregates(
    items: Sequence[str], schema: Schema, functions: Sequence[Function] = FUNCTIONS
) -> list[Aggregate]:
    """Raises InvalidInput for an item that is no aggregate of these functions over a column."""
    return [_parse(item, schema, functions) for item in items]


def _parse(text: str, schema: Schema, functions: Sequence[Function]) -> Aggregate:
    item = parse_expression(text)
    function = _NODES.get(type(item.tree))
    if item.alias is None:
        raise InvalidInput(f"the aggregate {text!r} has no name", hint=f"write `{text} AS name`")
    plain = isinstance(item.tree.this, exp.Column | exp.Star)
    if function is None or function not in functions or not plain:
        raise InvalidInput(f"{text!r} is no aggregate of a column", valid=functions)
    if isinstance(item.tree.this, exp.Star):
        return Aggregate(function, None, item.alias, "BIGINT")
    check_columns(item, schema)
    column = schema.require(item.tree.this.name)
    return Aggregate(function, column.name, item.alias, _result_type(function, column, text))


def _result_type(function: Function, column: Column, text: str) -> str:
    if function == "count":
        return "BIGINT"
    if not is_numeric(column.type) and not (function in ("min", "max") and column.type in ("TIMESTAMP", "DATE")):
        raise InvalidInput(f"{text!r}: {column.name} is {column.type}")
    if column.type.startswith("DECIMAL"):
        raise InvalidInput(f"{text!r}: {column.name} is {column.type}", hint="cast it to DOUBLE in a select before")
    if function == "avg":
        return "DOUBLE"
    if function == "sum":
        return "DOUBLE" if column.type in ("FLOAT", "DOUBLE") else "BIGINT"
    return column.type


@dataclass(frozen=True, slots=True)
class Partial:
    """One aggregate over groups of rows: how many values each had, and its number."""

    counts: Integers
    numbers: Array


def partial(aggregate: Aggregate, rows: pa.RecordBatch, codes: Integers, group_count: int) -> Partial:
    """Rows with the same code are put together; nulls count for nothing."""
    if aggregate.column is None:
        counts = np.bincount(codes, minlength=group_count)
        return Partial(counts, np.zeros(group_count, np.int64))
    values, valid = numbers_of(rows.column(aggregate.column), aggregate.kept_type)
    if valid is not None:
        codes, values = codes[valid], values[valid]
    counts = np.bincount(codes, minlength=group_count)
    numbers = np.full(group_count, _start(aggregate, values.dtype), values.dtype)
    if aggregate.function in ("sum", "avg"):
        np.add.at(numbers, codes, values)
    elif aggregate.function in ("min", "max"):
        _extreme(aggregate).at(numbers, codes, values)
    return Partial(counts, numbers)


def numbers_of(column: pa.Array[Any], kept: pa.DataType) -> tuple[Array, Array | None]:
    """A column as numbers, and which of them are no nulls (None: all)."""
    if pa.types.is_temporal(column.type):
        column = column.view(pa.int32() if column.type.bit_width == 32 else pa.int64())
    elif column.type != kept and pa.types.is_primitive(column.type):
        column = column.cast(kept)
    if not pa.types.is_primitive(column.type):
        return np.zeros(len(column)), column.is_valid().to_numpy(zero_copy_only=False)
    if not column.null_count:
        return column.to_numpy(zero_copy_only=False), None
    valid = cast("Array", column.is_valid().to_numpy(zero_copy_only=False))
    return column.fill_null(0).to_numpy(zero_copy_only=False), valid


def merge(table: KeyedTable, aggregates: Sequence[Aggregate], partials: Sequence[Partial], slots: Integers) -> None:
    """Takes partial results into the state of these slots, each at most once. New slots hold zeros."""
    for index, (aggregate, part) in enumerate(zip(aggregates, partials, strict=True)):
        counts, numbers = table[f"n{index}"], table[f"v{index}"]
        if aggregate.function in ("sum", "avg"):
            numbers[slots] += part.numbers
        elif aggregate.function in ("min", "max"):
            both = _extreme(aggregate)(numbers[slots], part.numbers)
            # An empty side has no number to compare.
            kept = np.where(counts[slots] == 0, part.numbers, np.where(part.counts == 0, numbers[slots], both))
            numbers[slots] = kept
        counts[slots] += part.counts


def results(table: KeyedTable, aggregates: Sequence[Aggregate], slots: Integers) -> list[pa.Array[Any]]:
    """The aggregates' columns for these slots."""
    return [
        result(aggregate, table[f"n{index}"][slots], table[f"v{index}"][slots])
        for index, aggregate in enumerate(aggregates)
    ]


def result(aggregate: Aggregate, counts: Array, numbers: Array) -> pa.Array[Any]:
    """One aggregate's column; null where there was no value to aggregate."""
    if aggregate.function == "count":
        return cast("pa.Array[Any]", pa.array(counts, pa.int64()))
    empty = counts == 0
    if aggregate.function == "avg":
        numbers = numbers / np.where(empty, 1, counts)
    made: Any = pa.array(numbers, mask=empty) if empty.any() else pa.array(numbers)
    if aggregate.type == "DATE":
        made = made.cast(pa.int32())
    return cast("pa.Array[Any]", made.cast(arrow_type(aggregate.type)))


def _extreme(aggregate: Aggregate) -> np.ufunc:
    return np.minimum if aggregate.function == "min" else np.maximum


def _start(aggregate: Aggregate, kind: np.dtype[Any]) -> Any:
    if aggregate.function not in ("min", "max"):
        return 0
    low = aggregate.function == "max"
    if kind.kind == "f":
        return -np.inf if low else np.inf
    limits = np.iinfo(kind)
    return limits.min if low else limits.max
