"""Aggregates of serial windows: what is kept for each, how rows are taken in, how two of them are put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
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
LARGEST = (1 << 63) - 1
_HALF_BITS = 32
AGGREGATES = "`aggregate AS name` items: count(*), or count, sum, avg, min or max of a column."

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`function(column) AS name`; `column` is None for count(*)."""

    function: Function
    column: str | None
    name: str
    type: str
    keeps_number: bool = True
    """A count needs none; some windows keep a zero for it, and their state has it already."""

    @property
    def kept_type(self) -> pa.DataType:
        """Of the number that is kept while a window is open."""
        if self.function in ("min", "max"):
            return arrow_type(self.type)
        return pa.int64() if self.type == "BIGINT" else pa.float64()

    def fields(self, index: int) -> list[tuple[str, pa.DataType]]:
        """What is kept in state: how many values there were, and a number."""
        number = [(f"v{index}", self.kept_type)] if self.keeps_number else []
        return [(f"n{index}", pa.int64()), *number]


def aggregate_function(call: exp.Expr) -> Function | None:
    """The function that is called; None for any other tree."""
    return _NODES.get(type(call))


def parse_aggregates(
    items: Sequence[str], schema: Schema, functions: Sequence[Function] = FUNCTIONS
) -> list[Aggregate]:
    """Raises InvalidInput for an item that is no aggregate of these functions over a column."""
    return [_parse(item, schema, functions) for item in items]


def _parse(text: str, schema: Schema, functions: Sequence[Function]) -> Aggregate:
    item = parse_expression(text)
    function = aggregate_function(item.tree)
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
    """One aggregate over groups of rows: how many values each had, and its number, or text."""

    counts: Integers
    numbers: Array


def partial(aggregate: Aggregate, rows: pa.RecordBatch, codes: Integers, group_count: int) -> Partial:
    """Rows with the same code are put together; nulls count for nothing. Raises InvalidInput where a sum overflows."""
    column = None if aggregate.column is None else rows.column(aggregate.column)
    if aggregate.function == "count" or column is None:
        counts = np.bincount(_counted(codes, column), minlength=group_count)
        return Partial(counts, np.zeros(group_count, np.int64))
    if pa.types.is_string(column.type):
        return _extreme_texts(aggregate, column, codes, group_count)
    values, valid = numbers_of(column, aggregate.kept_type)
    if valid is not None:
        codes, values = codes[valid], values[valid]
    counts = np.bincount(codes, minlength=group_count)
    if aggregate.function in ("sum", "avg"):
        return Partial(counts, sums_by_group(aggregate.name, values, codes, counts))
    numbers = np.full(group_count, _start(aggregate, values.dtype), values.dtype)
    with np.errstate(invalid="ignore"):
        _extreme(aggregate, values.dtype).at(numbers, codes, values)
    return Partial(counts, numbers)


def _counted(codes: Integers, column: pa.Array[Any] | None) -> Integers:
    if column is None or not column.null_count:
        return codes
    valid: Array = column.is_valid().to_numpy(zero_copy_only=False)
    return codes[valid]


def _extreme_texts(aggregate: Aggregate, column: pa.Array[Any], codes: Integers, group_count: int) -> Partial:
    """Texts are compared by their bytes: each text of the batch has a place in that order."""
    encoded = column.dictionary_encode()
    texts = encoded.dictionary
    order = pc.sort_indices(texts).to_numpy()
    places = np.empty(len(texts), np.int64)
    places[order] = np.arange(len(texts))
    indices, valid = numbers_of(encoded.indices, pa.int64())
    if valid is not None:
        codes, indices = codes[valid], indices[valid]
    counts = np.bincount(codes, minlength=group_count)
    best = np.full(group_count, _start(aggregate, places.dtype), np.int64)
    _extreme(aggregate, places.dtype).at(best, codes, places[indices])
    found = np.full(group_count, None, object)
    found[counts > 0] = texts.take(pa.array(order[best[counts > 0]])).to_numpy(zero_copy_only=False)
    return Partial(counts, found)


def sums_by_group(name: str, values: Array, codes: Integers, counts: Integers) -> Array:
    """The sum of each group. Raises InvalidInput where one of whole numbers does not fit."""
    sums = np.zeros(len(counts), values.dtype)
    with np.errstate(all="ignore"):
        np.add.at(sums, codes, values)
    if values.dtype.kind == "i" and largest_of(values) * int(counts.max(initial=0)) > LARGEST:
        _require_fitting(name, values, codes, len(counts))
    return sums


def largest_of(values: Array) -> int:
    """Of whole numbers, whatever their sign."""
    return max(abs(int(values.min())), abs(int(values.max()))) if len(values) else 0


def _require_fitting(name: str, values: Array, codes: Integers, group_count: int) -> None:
    """In two halves, whose sums fit whatever the numbers are."""
    high, low = np.zeros(group_count, np.int64), np.zeros(group_count, np.int64)
    np.add.at(high, codes, values >> _HALF_BITS)
    np.add.at(low, codes, values & ((1 << _HALF_BITS) - 1))
    whole = high.astype(object) * (1 << _HALF_BITS) + low.astype(object)
    if (whole > LARGEST).any() or (whole < -LARGEST - 1).any():
        raise too_large(name)


def _added(name: str, sums: Array, more: Array) -> Array:
    """Raises InvalidInput where a sum of whole numbers does not fit."""
    with np.errstate(all="ignore"):
        added: Array = sums + more
    # Only numbers of one sign have a sum of the other one, when it does not fit.
    if added.dtype.kind == "i" and (((sums ^ added) & (more ^ added)) < 0).any():
        raise too_large(name)
    return added


def too_large(name: str) -> InvalidInput:
    """What to raise for a sum that overflows."""
    hint = f"aggregate its numbers as DOUBLE: `sum(CAST(… AS DOUBLE)) AS {name}`, with the cast in a select before"
    return InvalidInput(f"the sum {name!r} does not fit its type, BIGINT", hint=hint)


def numbers_of(column: pa.Array[Any], kept: pa.DataType) -> tuple[Array, Array | None]:
    """A column as numbers, and which of them are no nulls (None: all)."""
    if pa.types.is_temporal(column.type):
        column = column.view(pa.int32() if column.type.bit_width == 32 else pa.int64())
    elif column.type != kept and pa.types.is_primitive(column.type):
        # Of whole numbers that no double is equal to it is the nearest.
        column = column.cast(kept, safe=False)
    if not pa.types.is_primitive(column.type):
        return np.zeros(len(column)), column.is_valid().to_numpy(zero_copy_only=False)
    if not column.null_count:
        return column.to_numpy(zero_copy_only=False), None
    valid = cast("Array", column.is_valid().to_numpy(zero_copy_only=False))
    return column.fill_null(False if pa.types.is_boolean(column.type) else 0).to_numpy(zero_copy_only=False), valid


def merge(table: KeyedTable, aggregates: Sequence[Aggregate], partials: Sequence[Partial], slots: Integers) -> None:
    """Takes partial results into the state of these slots, each at most once. New slots hold zeros.

    Raises InvalidInput where a sum overflows.
    """
    for index, (aggregate, part) in enumerate(zip(aggregates, partials, strict=True)):
        counts = table[f"n{index}"]
        if aggregate.function in ("sum", "avg"):
            numbers = table[f"v{index}"]
            numbers[slots] = _added(aggregate.name, numbers[slots], part.numbers)
        elif aggregate.function in ("min", "max"):
            _merge_extreme(aggregate, table[f"v{index}"], counts, slots, part)
        counts[slots] += part.counts


def _merge_extreme(aggregate: Aggregate, numbers: Array, counts: Integers, slots: Integers, part: Partial) -> None:
    """An empty side has no number to compare."""
    some = part.counts > 0
    slots, found = slots[some], part.numbers[some]
    is_first = counts[slots] == 0
    numbers[slots[is_first]] = found[is_first]
    others = slots[~is_first]
    with np.errstate(invalid="ignore"):
        numbers[others] = _extreme(aggregate, numbers.dtype)(numbers[others], found[~is_first])


def results(table: KeyedTable, aggregates: Sequence[Aggregate], slots: Integers) -> list[pa.Array[Any]]:
    """The aggregates' columns for these slots."""
    counts = [table[f"n{index}"][slots] for index in range(len(aggregates))]
    return [
        result(aggregate, counts[index], table[f"v{index}"][slots] if aggregate.keeps_number else counts[index])
        for index, aggregate in enumerate(aggregates)
    ]


def result(aggregate: Aggregate, counts: Array, numbers: Array) -> pa.Array[Any]:
    """One aggregate's column; null where there was no value to aggregate."""
    if aggregate.function == "count":
        return cast("pa.Array[Any]", pa.array(counts, pa.int64()))
    if numbers.dtype.hasobject:
        return cast("pa.Array[Any]", pa.array(numbers, arrow_type(aggregate.type)))
    empty = counts == 0
    if aggregate.function == "avg":
        numbers = numbers / np.where(empty, 1, counts)
    made: Any = pa.array(numbers, mask=empty) if empty.any() else pa.array(numbers)
    if aggregate.type == "DATE":
        made = made.cast(pa.int32())
    return cast("pa.Array[Any]", made.cast(arrow_type(aggregate.type)))


def _extreme(aggregate: Aggregate, kind: np.dtype[Any]) -> np.ufunc:
    """NaN is greater than every number, as in Spark: the maximum keeps it, the minimum only where there is no other."""
    if aggregate.function == "max":
        return np.maximum
    return np.fmin if kind.kind == "f" else np.minimum


def _start(aggregate: Aggregate, kind: np.dtype[Any]) -> Any:
    """What every value takes the place of."""
    is_low = aggregate.function == "max"
    if kind.kind == "f":
        return -np.inf if is_low else np.nan
    if kind.kind == "b":
        return not is_low
    limits = np.iinfo(kind)
    return limits.min if is_low else limits.max
