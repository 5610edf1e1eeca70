"""Aggregates of all values of a group: lists, sets, texts in one, percentiles, the median, the most frequent value."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute

from headrace.operators.aggregates.basic import is_orderable, numbers_as
from headrace.operators.aggregates.kind import Aggregate, Array, Compared, OfValues, refused
from headrace.operators.aggregates.moments import is_number
from headrace.operators.aggregates.numbers import normalised, numbers_of, row_numbers, sortable
from headrace.serial.keys import Integers, group

# The stubs know no functions of values of just any type.
pc: Any = pyarrow.compute


class Collected(OfValues):
    names = ("collect_list", "array_agg")

    def result_type(self, function: str, types: Sequence[str]) -> str:
        return f"ARRAY<{types[0]}>"

    def result_of(self, aggregate: Aggregate, counts: Integers, values: pa.Array[Any]) -> pa.Array[Any]:
        return _lists(counts, values)


class Different(OfValues):
    """in the order in which they came first"""

    names = ("collect_set",)
    compared: ClassVar[Compared] = "set"

    def result_type(self, function: str, types: Sequence[str]) -> str:
        if not is_orderable(types[0]):
            raise refused(function, types)
        return f"ARRAY<{types[0]}>"

    def result_of(self, aggregate: Aggregate, counts: Integers, values: pa.Array[Any]) -> pa.Array[Any]:
        if not len(values):
            return _lists(counts, values)
        found = group([pa.array(_owners(counts)), normalised(values)], len(values))
        made = np.bincount(found.keys[0].to_numpy(), minlength=len(counts))
        return _lists(made, found.keys[1])


class Joined(OfValues):
    names = ("listagg", "string_agg")
    compared: ClassVar[Compared] = "set"

    def result_type(self, function: str, types: Sequence[str]) -> str:
        if list(types) != ["STRING"]:
            raise refused(function, types)
        return "STRING"

    def result_of(self, aggregate: Aggregate, counts: Integers, values: pa.Array[Any]) -> pa.Array[Any]:
        joined = pc.binary_join(_lists(counts, values), aggregate.parameters[0])
        return cast("pa.Array[Any]", pc.if_else(pa.array(counts > 0), joined, None))


class Frequent(OfValues):
    """of several that are the most frequent the least"""

    names = ("mode",)
    compared: ClassVar[Compared] = "tie"

    def result_type(self, function: str, types: Sequence[str]) -> str:
        if not is_orderable(types[0]):
            raise refused(function, types)
        return types[0]

    def result_of(self, aggregate: Aggregate, counts: Integers, values: pa.Array[Any]) -> pa.Array[Any]:
        values = normalised(values)
        best = np.full(len(counts), -1)
        if len(values):
            owners, keys = _owners(counts), sortable(values)
            order = np.lexsort((keys, owners))
            fresh = np.concatenate([[True], np.diff(keys[order]) != 0]) | _begins(owners[order])
            firsts = np.flatnonzero(fresh)
            lengths = np.diff([*firsts.tolist(), len(order)])
            of_runs = owners[order][firsts]
            # By group, the longest run last; of equal ones the first of them.
            runs = np.lexsort((-np.arange(len(firsts)), lengths, of_runs))
            best[of_runs[runs]] = order[firsts[runs]]
        return values.take(row_numbers(best, missing=best < 0))


@dataclass(frozen=True, slots=True)
class _Ordered:
    """The values of each group in order, which begin at `firsts`."""

    values: pa.Array[Any]
    firsts: Integers
    counts: Integers


class _Placed(OfValues):
    """`parameters`: the shares, and whether the result is a list of as many values."""

    def result_of(self, aggregate: Aggregate, counts: Integers, values: pa.Array[Any]) -> pa.Array[Any]:
        shares, is_list = aggregate.parameters
        owners = _owners(counts)
        order = np.lexsort((sortable(values), owners)) if len(values) else np.empty(0, np.int64)
        ordered = _Ordered(values.take(row_numbers(order)), np.cumsum(counts) - counts, counts)
        found = [self._at(ordered, share) for share in shares]
        if not is_list:
            return found[0]
        # Value by value of each group.
        turned = np.arange(len(shares) * len(counts)).reshape(len(shares), len(counts)).T.reshape(-1)
        flat = pa.concat_arrays(found).take(row_numbers(turned))
        lists = _lists(np.full(len(counts), len(shares)), flat)
        return lists.take(row_numbers(np.arange(len(counts)), missing=counts == 0))

    @abstractmethod
    def _at(self, ordered: _Ordered, share: float) -> pa.Array[Any]:
        """For each group the value at this share of its order."""


class Percentile(_Placed):
    """between the two nearest values, as Spark does it"""

    names = ("percentile", "median")
    compared: ClassVar[Compared] = "close"

    def result_type(self, function: str, types: Sequence[str]) -> str:
        if not is_number(types[0]):
            raise refused(function, types)
        return "DOUBLE"

    def _at(self, ordered: _Ordered, share: float) -> pa.Array[Any]:
        numbers, counts = numbers_of(ordered.values, pa.float64())[0], ordered.counts
        empty = counts == 0
        if not len(numbers):
            return numbers_as("DOUBLE", np.zeros(len(counts)), empty)
        places = np.maximum(counts - 1, 0) * share
        below, above = np.floor(places).astype(np.int64), np.ceil(places).astype(np.int64)
        at = np.where(empty, 0, ordered.firsts)
        low, high = numbers[at + below], numbers[at + above]
        with np.errstate(all="ignore"):
            between = (above - places) * low + (places - below) * high
        is_one = (below == above) | (low == high)
        return numbers_as("DOUBLE", np.where(is_one, low, between), empty)


class NearestRank(_Placed):
    """The value that so many of the others are not above: exact, where Spark's may be off by the accuracy."""

    names = ("percentile_approx", "approx_percentile")
    compared: ClassVar[Compared] = "rank"

    def result_type(self, function: str, types: Sequence[str]) -> str:
        if not is_number(types[0]) and types[0] not in ("DATE", "TIMESTAMP"):
            raise refused(function, types)
        return types[0]

    def _at(self, ordered: _Ordered, share: float) -> pa.Array[Any]:
        counts = ordered.counts
        places = ordered.firsts + np.maximum(np.ceil(counts * share).astype(np.int64) - 1, 0)
        return ordered.values.take(row_numbers(places, missing=counts == 0))


def _owners(counts: Integers) -> Integers:
    return np.repeat(np.arange(len(counts)), counts)


def _begins(owners: Integers) -> Array:
    """Where another group begins."""
    return np.concatenate([[True], np.diff(owners) != 0])


def _lists(counts: Integers, values: pa.Array[Any]) -> pa.Array[Any]:
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return cast("pa.Array[Any]", pa.ListArray.from_arrays(row_numbers(offsets), values))
