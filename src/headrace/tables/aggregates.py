"""Aggregates over groups of rows, with the types and values of Spark."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
from sqlglot import exp

from headrace.errors import InvalidInput
from headrace.operators.arrow_types import arrow_type
from headrace.operators.columnar import Form
from headrace.operators.columnar.conversions import rounded
from headrace.operators.columnar.types import INTEGERS, ORDERED, decimal_of
from headrace.tables.frames import Places, group_numbers, in_order

NAMES: Final = frozenset({"count", "sum", "avg", "mean", "min", "max"})
_MOST_DIGITS: Final = 38
# How many digits a sum has more than its values, and an average behind the point.
_SUM_DIGITS: Final = 10
_AVERAGE_DIGITS: Final = 4
_LARGEST: Final = (1 << 63) - 1
_EXACT: Final = Context(prec=100)

Groups: TypeAlias = tuple[Places, int]
Result: TypeAlias = tuple[str, Callable[["pa.Array[Any]", Groups], "pa.Array[Any]"]]


def aggregate(tree: exp.Expr, form: Form | None) -> Result:
    """(Its type, how it is computed from the values of `form`, with the group of each row and the number of groups).

    `form` is None for `count(*)`. Raises InvalidInput for a type that it does not take.
    """
    name = "avg" if tree.name.lower() == "mean" else type(tree).__name__.lower()
    if name == "count":
        return "BIGINT", _counted
    type_ = form[1] if form is not None else ""
    found = _RESULTS[name](type_) if name in _RESULTS else None
    if found is None:
        shown = tree.sql(dialect="spark")
        raise InvalidInput(f"tables have no {shown} of {type_}", valid=sorted(NAMES), hint="cast it, or use a pipeline")
    return found


def _counted(values: pa.Array[Any], groups: Groups) -> pa.Array[Any]:
    numbers, count = groups
    valid = values.is_valid().to_numpy(zero_copy_only=False)
    return pa.array(np.bincount(numbers[valid], minlength=count).astype(np.int64))


def distinct(values: pa.Array[Any], groups: Groups) -> tuple[pa.Array[Any], Groups]:
    """Each value once in each group."""
    _, firsts = group_numbers([pa.array(groups[0]), values], len(values))
    return values.take(firsts), (groups[0][firsts], groups[1])


def _by_group(values: pa.Array[Any], groups: Groups) -> list[list[Any]]:
    found: list[list[Any]] = [[] for _ in range(groups[1])]
    for number, value in zip(groups[0].tolist(), values.to_pylist(), strict=True):
        if value is not None:
            found[number].append(value)
    return found


def _sum(type_: str) -> Result | None:
    if type_ in INTEGERS:
        return "BIGINT", lambda values, groups: pa.array(
            [_whole_sum(one) if one else None for one in _by_group(values, groups)], pa.int64()
        )
    if type_ == "DOUBLE":
        return "DOUBLE", lambda values, groups: _reals(values, groups, of_count=False)
    digits = decimal_of(type_)
    if digits is None:
        return None
    precision = min(digits[0] + _SUM_DIGITS, _MOST_DIGITS)
    wanted = f"DECIMAL({precision},{digits[1]})"
    return wanted, lambda values, groups: _fitted(
        [_exact_sum(one) if one else None for one in _by_group(values, groups)], wanted
    )


def _exact_sum(values: list[Decimal]) -> Decimal:
    total = Decimal(0)
    for value in values:
        total = _EXACT.add(total, value)
    return total


def _whole_sum(values: list[int]) -> int:
    total = sum(values)
    if not -_LARGEST - 1 <= total <= _LARGEST:
        raise InvalidInput("the sum does not fit BIGINT", hint="sum(CAST(x AS DECIMAL(38,0)))")
    return total


def _reals(values: pa.Array[Any], groups: Groups, *, of_count: bool) -> pa.Array[Any]:
    numbers, count = groups
    valid = values.is_valid().to_numpy(zero_copy_only=False)
    sizes = np.bincount(numbers[valid], minlength=count)
    reals = values.cast(pa.float64(), safe=False).fill_null(0.0).to_numpy(zero_copy_only=False)
    with np.errstate(all="ignore"):
        sums = np.bincount(numbers[valid], weights=reals[valid], minlength=count)
        return pa.array(sums / sizes if of_count else sums, pa.float64(), mask=sizes == 0)


def _average(type_: str) -> Result | None:
    if type_ in (*INTEGERS, "DOUBLE"):
        return "DOUBLE", lambda values, groups: _reals(values, groups, of_count=True)
    digits = decimal_of(type_)
    if digits is None or digits[0] + _AVERAGE_DIGITS > _MOST_DIGITS:
        return None
    scale = digits[1] + _AVERAGE_DIGITS
    wanted = f"DECIMAL({digits[0] + _AVERAGE_DIGITS},{scale})"

    def run(values: pa.Array[Any], groups: Groups) -> pa.Array[Any]:
        means = [_EXACT.divide(_exact_sum(one), len(one)) if one else None for one in _by_group(values, groups)]
        return _fitted([None if mean is None else rounded(mean, scale) for mean in means], wanted)

    return wanted, run


def _fitted(values: list[Decimal | None], type_: str) -> pa.Array[Any]:
    try:
        return pa.array(values, arrow_type(type_))
    except pa.ArrowInvalid:
        raise InvalidInput(f"the result does not fit {type_}") from None


def _extreme(*, is_largest: bool) -> Callable[[str], Result | None]:
    def made(type_: str) -> Result | None:
        if type_ not in ORDERED and decimal_of(type_) is None:
            return None

        def run(values: pa.Array[Any], groups: Groups) -> pa.Array[Any]:
            order = in_order([(pa.array(groups[0]), False, True), (values, is_largest, False)], len(values))
            found, firsts = np.unique(groups[0][order], return_index=True)
            places = np.full(groups[1], -1, np.int64)
            places[found] = order[firsts]
            taken: Any = pa.array(places, mask=places < 0)
            return values.take(taken)

        return type_, run

    return made


_RESULTS: Final[dict[str, Callable[[str], Result | None]]] = {
    "sum": _sum,
    "avg": _average,
    "min": _extreme(is_largest=False),
    "max": _extreme(is_largest=True),
}
