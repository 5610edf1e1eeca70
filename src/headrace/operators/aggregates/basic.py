"""count, sum and avg of whole numbers and of floating point; min, max, and what is one of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, cast

import numpy as np
import pyarrow as pa

from headrace.operators.aggregates.kind import Aggregate, Array, Compared, Kind, Partial, StateFields, refused
from headrace.operators.aggregates.numbers import (
    added,
    counted,
    extreme_rows,
    of_known,
    row_numbers,
    sortable,
    sums_by_group,
    valid_of,
)
from headrace.operators.arrow_types import arrow_type
from headrace.operators.columnar.types import EXACT, INTEGERS, decimal_of
from headrace.serial.keys import Integers

REALS = ("FLOAT", "DOUBLE")


class Count(Kind):
    names = ("count",)

    def result_type(self, function: str, types: Sequence[str]) -> str:
        return "BIGINT"

    def fields(self, aggregate: Aggregate) -> StateFields:
        return [("", pa.int64())] if aggregate.keeps_number else []

    def partial(self, aggregate: Aggregate, rows: pa.RecordBatch, codes: Integers, group_count: int) -> Partial:
        column = None if aggregate.column is None else rows.column(aggregate.column)
        counts = np.bincount(counted(codes, column), minlength=group_count)
        return Partial((counts, np.zeros(group_count, np.int64)) if aggregate.keeps_number else (counts,))

    def merge(self, aggregate: Aggregate, left: Partial, right: Partial) -> Partial:
        return Partial((left.counts + right.counts, *left.columns[1:]))

    def result(self, aggregate: Aggregate, state: Partial) -> pa.Array[Any]:
        return cast("pa.Array[Any]", pa.array(state.counts, pa.int64()))


class Sum(Kind):
    names: ClassVar[tuple[str, ...]] = ("sum",)
    # Of whole numbers it is exact.
    compared: ClassVar[Compared] = "close"

    def result_type(self, function: str, types: Sequence[str]) -> str:
        (type_,) = types
        if type_ not in (*INTEGERS, *REALS):
            raise refused(function, types)
        return "DOUBLE" if type_ in REALS else "BIGINT"

    def fields(self, aggregate: Aggregate) -> StateFields:
        return [("", pa.int64() if aggregate.type == "BIGINT" else pa.float64())]

    def partial(self, aggregate: Aggregate, rows: pa.RecordBatch, codes: Integers, group_count: int) -> Partial:
        (_, kept), *_ = self.fields(aggregate)
        values, codes = of_known(rows.column(aggregate.column or ""), kept, codes)
        counts = np.bincount(codes, minlength=group_count)
        return Partial((counts, sums_by_group(aggregate.name, values, codes, counts)))

    def merge(self, aggregate: Aggregate, left: Partial, right: Partial) -> Partial:
        return Partial((left.counts + right.counts, added(aggregate.name, left.numbers, right.numbers)))

    def result(self, aggregate: Aggregate, state: Partial) -> pa.Array[Any]:
        return numbers_as(aggregate.type, state.numbers, state.counts == 0)


class Average(Sum):
    names = ("avg", "mean")

    def result_type(self, function: str, types: Sequence[str]) -> str:
        super().result_type(function, types)
        return "DOUBLE"

    def result(self, aggregate: Aggregate, state: Partial) -> pa.Array[Any]:
        empty = state.counts == 0
        return numbers_as(aggregate.type, state.numbers / np.where(empty, 1, state.counts), empty)


class Extreme(Kind):
    """NaN is greater than every number, as in Spark: the maximum keeps it, the minimum only where there is no other."""

    is_max: ClassVar[bool]

    def result_type(self, function: str, types: Sequence[str]) -> str:
        (type_,) = types
        if not is_orderable(type_):
            raise refused(function, types)
        return type_

    def fields(self, aggregate: Aggregate) -> StateFields:
        return [("", arrow_type(aggregate.type))]

    def partial(self, aggregate: Aggregate, rows: pa.RecordBatch, codes: Integers, group_count: int) -> Partial:
        column = rows.column(aggregate.column or "")
        if not pa.types.is_primitive(column.type):
            return self._of_texts(column, codes, group_count)
        values, codes = of_known(column, arrow_type(aggregate.type), codes)
        counts = np.bincount(codes, minlength=group_count)
        numbers = np.full(group_count, self._start(values.dtype), values.dtype)
        with np.errstate(invalid="ignore"):
            self._better(values.dtype).at(numbers, codes, values)
        return Partial((counts, numbers))

    def _of_texts(self, column: pa.Array[Any], codes: Integers, group_count: int) -> Partial:
        valid = valid_of(column)
        known = codes[valid]
        best = extreme_rows(sortable(column)[valid], known, np.flatnonzero(valid), group_count, is_max=self.is_max)
        found = np.full(group_count, None, object)
        has_some = best >= 0
        found[has_some] = column.take(row_numbers(best[has_some])).to_pylist()
        return Partial((np.bincount(known, minlength=group_count), found))

    def merge(self, aggregate: Aggregate, left: Partial, right: Partial) -> Partial:
        """An empty side has no number to compare."""
        numbers = np.where(left.counts == 0, right.numbers, left.numbers).astype(left.numbers.dtype, copy=False)
        both = (left.counts > 0) & (right.counts > 0)
        with np.errstate(invalid="ignore"):
            numbers[both] = self._better(numbers.dtype)(left.numbers[both], right.numbers[both])
        return Partial((left.counts + right.counts, numbers))

    def result(self, aggregate: Aggregate, state: Partial) -> pa.Array[Any]:
        return numbers_as(aggregate.type, state.numbers, state.counts == 0)

    def _better(self, kind: np.dtype[Any]) -> np.ufunc:
        if self.is_max:
            return np.maximum
        return np.fmin if kind.kind == "f" else np.minimum

    def _start(self, kind: np.dtype[Any]) -> Any:
        """What every value takes the place of."""
        if kind.kind == "f":
            return -np.inf if self.is_max else np.nan
        if kind.kind == "b":
            return not self.is_max
        limits = np.iinfo(kind)
        return limits.min if self.is_max else limits.max


class Minimum(Extreme):
    names = ("min",)
    is_max = False


class Maximum(Extreme):
    names = ("max",)
    is_max = True


class _OfBooleans(Extreme):
    def result_type(self, function: str, types: Sequence[str]) -> str:
        if list(types) != ["BOOLEAN"]:
            raise refused(function, types)
        return "BOOLEAN"


class Every(_OfBooleans):
    names = ("bool_and", "every")
    is_max = False


class Some(_OfBooleans):
    names = ("bool_or", "some", "any")
    is_max = True


class Bits(Kind):
    """of whole numbers, bit by bit"""

    names = ("bit_and", "bit_or", "bit_xor")

    def result_type(self, function: str, types: Sequence[str]) -> str:
        (type_,) = types
        if type_ not in INTEGERS:
            raise refused(function, types)
        return type_

    def fields(self, aggregate: Aggregate) -> StateFields:
        return [("", arrow_type(aggregate.type))]

    def partial(self, aggregate: Aggregate, rows: pa.RecordBatch, codes: Integers, group_count: int) -> Partial:
        values, codes = of_known(rows.column(aggregate.column or ""), arrow_type(aggregate.type), codes)
        numbers = np.full(group_count, -1 if aggregate.function == "bit_and" else 0, values.dtype)
        _bitwise(aggregate).at(numbers, codes, values)
        return Partial((np.bincount(codes, minlength=group_count), numbers))

    def merge(self, aggregate: Aggregate, left: Partial, right: Partial) -> Partial:
        # Zeros stand for no value, which is not what AND begins with.
        before = np.where(left.counts == 0, right.numbers, left.numbers)
        more = np.where(right.counts == 0, left.numbers, right.numbers)
        both = (left.counts > 0) & (right.counts > 0)
        return Partial((left.counts + right.counts, np.where(both, _bitwise(aggregate)(before, more), before)))

    def result(self, aggregate: Aggregate, state: Partial) -> pa.Array[Any]:
        return numbers_as(aggregate.type, state.numbers, state.counts == 0)


def is_orderable(type_: str) -> bool:
    return type_ in (*EXACT, *REALS, "BINARY") or decimal_of(type_) is not None


def numbers_as(type_: str, numbers: Array, empty: Array) -> pa.Array[Any]:
    """A column of a type; null where there was no value to aggregate."""
    wanted = arrow_type(type_)
    if numbers.dtype.hasobject:
        return cast("pa.Array[Any]", pa.array(numbers.tolist(), wanted))
    made: Any = pa.array(numbers, mask=empty) if empty.any() else pa.array(numbers)
    if type_ == "DATE":
        made = made.cast(pa.int32())
    return cast("pa.Array[Any]", made.cast(wanted))


def _bitwise(aggregate: Aggregate) -> np.ufunc:
    return {"bit_and": np.bitwise_and, "bit_or": np.bitwise_or, "bit_xor": np.bitwise_xor}[aggregate.function]
