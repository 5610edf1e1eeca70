"""Aggregates of central moments: variances, deviations, skewness, kurtosis, covariances and correlation.

Rows of a group are taken against their mean (corrected once, so that equal values have no spread); two groups are put
together by the formulas of Chan, as Spark does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, cast

import numpy as np
import pyarrow as pa

from headrace.operators.aggregates.basic import REALS, numbers_as
from headrace.operators.aggregates.kind import Aggregate, Array, Compared, Kind, Partial, StateFields, refused
from headrace.operators.aggregates.numbers import numbers_of, of_known
from headrace.operators.columnar.types import INTEGERS, decimal_of
from headrace.serial.keys import Integers

_DOUBLE = pa.float64()


class _Moments(Kind):
    compared: ClassVar[Compared] = "close"
    order: ClassVar[int]
    """The highest power of the distance from the mean that is summed up."""

    def result_type(self, function: str, types: Sequence[str]) -> str:
        if not all(map(is_number, types)):
            raise refused(function, types)
        return "DOUBLE"

    def fields(self, aggregate: Aggregate) -> StateFields:
        return [("", _DOUBLE), *((f"m{power}", _DOUBLE) for power in range(2, self.order + 1))]

    def partial(self, aggregate: Aggregate, rows: pa.RecordBatch, codes: Integers, group_count: int) -> Partial:
        values, codes = of_known(rows.column(aggregate.column or ""), _DOUBLE, codes)
        counts = np.bincount(codes, minlength=group_count)
        with np.errstate(all="ignore"):
            means, apart = _centred(values, codes, counts)
            power, sums = apart, list[Array]()
            for _ in range(2, self.order + 1):
                power = power * apart
                sums.append(_sums(power, codes, group_count))
        return Partial((counts, means, *sums))

    def merge(self, aggregate: Aggregate, left: Partial, right: Partial) -> Partial:
        (n1, mean1, *left_sums), (n2, mean2, *right_sums) = left.columns, right.columns
        n = np.maximum(n1 + n2, 1)
        with np.errstate(all="ignore"):
            delta = mean2 - mean1
            step = delta / n
            made = [mean1 + step * n2, left_sums[0] + right_sums[0] + delta * step * n1 * n2]
            if self.order > 2:
                apart = n1 * right_sums[0] - n2 * left_sums[0]
                cubes = step * step * delta * n1 * n2 * (n1 - n2)
                made.append(left_sums[1] + right_sums[1] + cubes + 3.0 * step * apart)
            if self.order > 3:
                fourths = delta * step**3 * n1 * n2 * (n1 * 1.0 * n1 - n1 * 1.0 * n2 + n2 * 1.0 * n2)
                squares = n1 * 1.0 * n1 * right_sums[0] + n2 * 1.0 * n2 * left_sums[0]
                cubed = n1 * right_sums[1] - n2 * left_sums[1]
                made.append(left_sums[2] + right_sums[2] + fourths + 6.0 * step**2 * squares + 4.0 * step * cubed)
        return _unless_empty(left, right, made)


class Spread(_Moments):
    """variances, and deviations as their roots"""

    names = ("stddev", "stddev_samp", "std", "stddev_pop", "variance", "var_samp", "var_pop")
    order = 2

    def result(self, aggregate: Aggregate, state: Partial) -> pa.Array[Any]:
        is_whole = aggregate.function.endswith("_pop")
        counts, _, squares = state.columns
        with np.errstate(all="ignore"):
            found = squares / (counts if is_whole else counts - 1)
            if aggregate.function.startswith("std"):
                found = np.sqrt(found)
        return numbers_as("DOUBLE", found, counts < (1 if is_whole else 2))


class Skewness(_Moments):
    names = ("skewness",)
    order = 3

    def result(self, aggregate: Aggregate, state: Partial) -> pa.Array[Any]:
        counts, _, squares, cubes = state.columns
        with np.errstate(all="ignore"):
            found = np.sqrt(counts) * cubes / np.sqrt(squares**3)
        return numbers_as("DOUBLE", found, (counts == 0) | (squares == 0))


class Kurtosis(_Moments):
    names = ("kurtosis",)
    order = 4

    def result(self, aggregate: Aggregate, state: Partial) -> pa.Array[Any]:
        counts, _, squares, _, fourths = state.columns
        with np.errstate(all="ignore"):
            found = counts * fourths / (squares * squares) - 3.0
        return numbers_as("DOUBLE", found, (counts == 0) | (squares == 0))


class _Pairs(Kind):
    """Rows count where both values are known. State: both means, and the sum of the products of their distances."""

    compared: ClassVar[Compared] = "close"
    has_squares: ClassVar[bool] = False

    def result_type(self, function: str, types: Sequence[str]) -> str:
        if len(types) != 2 or not all(map(is_number, types)):
            raise refused(function, types)
        return "DOUBLE"

    def fields(self, aggregate: Aggregate) -> StateFields:
        squares = [("xx", _DOUBLE), ("yy", _DOUBLE)] if self.has_squares else []
        return [("", _DOUBLE), ("y", _DOUBLE), ("xy", _DOUBLE), *squares]

    def partial(self, aggregate: Aggregate, rows: pa.RecordBatch, codes: Integers, group_count: int) -> Partial:
        x, x_known = numbers_of(rows.column(aggregate.column or ""), _DOUBLE)
        y, y_known = numbers_of(rows.column(aggregate.second or ""), _DOUBLE)
        for known in (x_known, y_known):
            if known is not None:
                both = known if known is x_known or x_known is None else known & x_known
                x_known = both
        if x_known is not None:
            x, y, codes = x[x_known], y[x_known], codes[x_known]
        counts = np.bincount(codes, minlength=group_count)
        with np.errstate(all="ignore"):
            (x_mean, x_apart), (y_mean, y_apart) = _centred(x, codes, counts), _centred(y, codes, counts)
            products = [x_apart * y_apart]
            if self.has_squares:
                products += [x_apart * x_apart, y_apart * y_apart]
            sums = [_sums(product, codes, group_count) for product in products]
        return Partial((counts, x_mean, y_mean, *sums))

    def merge(self, aggregate: Aggregate, left: Partial, right: Partial) -> Partial:
        (n1, x1, y1, *left_sums), (n2, x2, y2, *right_sums) = left.columns, right.columns
        n = np.maximum(n1 + n2, 1)
        with np.errstate(all="ignore"):
            dx, dy = x2 - x1, y2 - y1
            weight = n1 * (n2 / n)
            made = [x1 + dx / n * n2, y1 + dy / n * n2]
            apart = [dx * dy, dx * dx, dy * dy]
            made += [
                one + other + product * weight
                for one, other, product in zip(left_sums, right_sums, apart, strict=False)
            ]
        return _unless_empty(left, right, made)


class Covariance(_Pairs):
    names = ("covar_pop", "covar_samp")

    def result(self, aggregate: Aggregate, state: Partial) -> pa.Array[Any]:
        is_whole = aggregate.function == "covar_pop"
        with np.errstate(all="ignore"):
            found = state.columns[3] / (state.counts if is_whole else state.counts - 1)
        return numbers_as("DOUBLE", found, state.counts < (1 if is_whole else 2))


class Correlation(_Pairs):
    names = ("corr",)
    has_squares = True

    def result(self, aggregate: Aggregate, state: Partial) -> pa.Array[Any]:
        counts, _, _, products, x_squares, y_squares = state.columns
        with np.errstate(all="ignore"):
            spread = np.sqrt(x_squares * y_squares)
            found = products / spread
        return numbers_as("DOUBLE", found, (counts < 2) | (spread == 0))


def is_number(type_: str) -> bool:
    return type_ in (*INTEGERS, *REALS) or decimal_of(type_) is not None


def _centred(values: Array, codes: Integers, counts: Integers) -> tuple[Array, Array]:
    """The mean of each group, and how far each value is from it."""
    some = np.maximum(counts, 1)
    means = _sums(values, codes, len(counts)) / some
    beyond = np.isinf(means)
    if beyond.any():
        # The sum of finite numbers may be none.
        means[beyond] = _sums(values / some[codes], codes, len(counts))[beyond]
    means = means + np.nan_to_num(_sums(values - means[codes], codes, len(counts)) / some, nan=0.0, posinf=0, neginf=0)
    return means, values - means[codes]


def _sums(values: Array, codes: Integers, group_count: int) -> Array:
    return cast("Array", np.bincount(codes, values, minlength=group_count))


def _unless_empty(left: Partial, right: Partial, made: Sequence[Array]) -> Partial:
    """The one side where the other has no rows, bit for bit."""
    columns = [
        np.where(left.counts == 0, other, np.where(right.counts == 0, one, both))
        for one, other, both in zip(left.columns[1:], right.columns[1:], made, strict=True)
    ]
    return Partial((left.counts + right.counts, *columns))
