"""sum and avg of DECIMAL: whole numbers of 128 bits, in two halves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, cast

import numpy as np
import pyarrow as pa

from headrace.errors import InvalidInput
from headrace.graph.schema import MAX_DECIMAL_DIGITS
from headrace.operators.aggregates.kind import Aggregate, Array, Kind, Partial, StateFields, refused
from headrace.operators.aggregates.numbers import valid_of
from headrace.operators.arrow_types import arrow_type
from headrace.operators.columnar.types import decimal_of
from headrace.serial.keys import Integers

_BITS, _MASK = 32, (1 << 32) - 1
_HALF = 64
# What Spark gives the type of a result beside that of the values: digits, and digits behind the point.
_SUM_DIGITS, _AVERAGE_DIGITS = 10, 4


class DecimalSum(Kind):
    """State: the sum of the numbers without their point, its lower and its upper half. `parameters` are the digits of
    the values behind the point."""

    names: ClassVar[tuple[str, ...]] = ("sum",)

    def result_type(self, function: str, types: Sequence[str]) -> str:
        precision, scale = self._digits(function, types)
        return f"DECIMAL({min(precision + _SUM_DIGITS, MAX_DECIMAL_DIGITS)},{scale})"

    def _digits(self, function: str, types: Sequence[str]) -> tuple[int, int]:
        found = decimal_of(types[0])
        if found is None:
            raise refused(function, types)
        return found

    def fields(self, aggregate: Aggregate) -> StateFields:
        return [("", pa.int64()), ("high", pa.int64())]

    def partial(self, aggregate: Aggregate, rows: pa.RecordBatch, codes: Integers, group_count: int) -> Partial:
        column = rows.column(aggregate.column or "")
        low, high = _halves(column)
        if column.null_count:
            valid = valid_of(column)
            low, high, codes = low[valid], high[valid], codes[valid]
        # In quarters, whose sums fit however many rows there are.
        quarters = (low & _MASK, low >> _BITS & _MASK, high & _MASK, high >> _BITS)
        sums = [np.zeros(group_count, np.int64) for _ in quarters]
        for made, quarter in zip(sums, quarters, strict=True):
            np.add.at(made, codes, quarter)
        return Partial((np.bincount(codes, minlength=group_count), *_whole(aggregate, sums)))

    def merge(self, aggregate: Aggregate, left: Partial, right: Partial) -> Partial:
        (n1, *one), (n2, *other) = left.columns, right.columns
        return Partial((n1 + n2, *_added(aggregate, one, other)))

    def result(self, aggregate: Aggregate, state: Partial) -> pa.Array[Any]:
        counts, low, high = state.columns
        wanted = cast("Any", arrow_type(aggregate.type))
        _require_fitting(aggregate, low, high, wanted.precision)
        pairs = np.column_stack([low, high]).astype(np.int64)
        known = pa.array(counts > 0)
        # The mask of an array of Booleans is its values.
        buffers = [known.buffers()[1], pa.py_buffer(pairs.tobytes())]
        return cast("pa.Array[Any]", pa.Array.from_buffers(wanted, len(counts), buffers))


class DecimalAverage(DecimalSum):
    names = ("avg", "mean")

    def result_type(self, function: str, types: Sequence[str]) -> str:
        precision, scale = (
            min(digits + _AVERAGE_DIGITS, MAX_DECIMAL_DIGITS) for digits in self._digits(function, types)
        )
        return f"DECIMAL({precision},{scale})"

    def result(self, aggregate: Aggregate, state: Partial) -> pa.Array[Any]:
        """Group by group: no type of numpy's has room for the quotients."""
        wanted = cast("Any", arrow_type(aggregate.type))
        factor, limit = 10 ** (wanted.scale - aggregate.parameters[0]), 10**wanted.precision
        pairs = np.zeros((len(state.counts), 2), np.int64)
        for place, (count, low, high) in enumerate(zip(*(column.tolist() for column in state.columns), strict=True)):
            found = _rounded(_of_halves(low, high) * factor, count) if count else 0
            if abs(found) >= limit:
                raise _too_large(aggregate)
            pairs[place] = _as_halves(found)
        known = pa.array(state.counts > 0)
        buffers = [known.buffers()[1], pa.py_buffer(pairs.tobytes())]
        return cast("pa.Array[Any]", pa.Array.from_buffers(wanted, len(pairs), buffers))


def _halves(column: pa.Array[Any]) -> tuple[Integers, Integers]:
    """Of each value the lower and the upper 64 bits. Of nulls they say nothing."""
    values: Any = column.buffers()[1]
    if values is None:
        return np.zeros(len(column), np.int64), np.zeros(len(column), np.int64)
    pairs = np.frombuffer(values, np.int64).reshape(-1, 2)[column.offset : column.offset + len(column)]
    return pairs[:, 0], pairs[:, 1]


def _whole(aggregate: Aggregate, quarters: Sequence[Integers]) -> tuple[Integers, Integers]:
    """Quarters, each with what does not fit it, as two halves."""
    first, second, third, last = quarters
    second = second + (first >> _BITS)
    third = third + (second >> _BITS)
    last = last + (third >> _BITS)
    if (np.abs(last) >= 1 << (_BITS - 1)).any():
        raise _too_large(aggregate)
    return (first & _MASK) | second << _BITS, (third & _MASK) | last << _BITS


def _added(aggregate: Aggregate, one: Sequence[Array], other: Sequence[Array]) -> tuple[Array, Array]:
    low = one[0] + other[0]
    carried = low.view(np.uint64) < one[0].astype(np.int64, copy=False).view(np.uint64)
    high = one[1] + other[1] + carried
    if (((one[1] ^ high) & (other[1] ^ high)) < 0).any():
        raise _too_large(aggregate)
    return low, high


def _require_fitting(aggregate: Aggregate, low: Array, high: Array, precision: int) -> None:
    limit = 10**precision
    for place in np.flatnonzero(np.abs(high) >= limit >> _HALF).tolist():
        if abs(_of_halves(int(low[place]), int(high[place]))) >= limit:
            raise _too_large(aggregate)


def _of_halves(low: int, high: int) -> int:
    return (high << _HALF) + (low & ((1 << _HALF) - 1))


def _as_halves(whole: int) -> tuple[int, int]:
    return int.from_bytes((whole & ((1 << _HALF) - 1)).to_bytes(8, "little"), "little", signed=True), whole >> _HALF


def _rounded(numerator: int, divisor: int) -> int:
    """Half is rounded away from zero."""
    found = (2 * abs(numerator) + divisor) // (2 * divisor)
    return found if numerator >= 0 else -found


def _too_large(aggregate: Aggregate) -> InvalidInput:
    hint = f"aggregate its numbers as DOUBLE: `{aggregate.function}(CAST(… AS DOUBLE)) AS {aggregate.name}`"
    return InvalidInput(f"{aggregate.name!r} does not fit its type, {aggregate.type}", hint=hint)
