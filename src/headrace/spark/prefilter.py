"""Rows that no branch can want are left out where they are read, so that they never cross into the JVM.

A prefilter is plain data: `[operator, column, literal]`, joined by `["and", …]` and `["or", …]`. It lets through every
row for which the condition may hold: Spark looks at those again, with its own rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Prefilter: TypeAlias = list[Any]

_COMPARISONS: Final[dict[str, Callable[..., pa.Array[Any]]]] = {
    "<": pc.less,
    "<=": pc.less_equal,
    "=": pc.equal,
    "!=": pc.not_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}
_JOINTS: Final[dict[str, tuple[Callable[..., pa.Array[Any]], bool]]] = {
    "and": (pc.and_kleene, True),
    "or": (pc.or_kleene, False),
}


def admitted(rows: pa.RecordBatch, wanted: Prefilter) -> pa.RecordBatch:
    """The rows for which the condition may hold, in order. Those that are given, where it may for all."""
    mask = may_hold(rows, wanted)
    return rows if mask.all() else rows.filter(pa.array(mask))


def columns_of(wanted: Prefilter) -> set[str]:
    kind, *parts = wanted
    return set().union(*(columns_of(part) for part in parts)) if kind in _JOINTS else {parts[0]}


def renamed(wanted: Prefilter, names: Mapping[str, str]) -> Prefilter:
    """The same condition about columns of other names."""
    kind, *parts = wanted
    if kind in _JOINTS:
        return [kind, *(renamed(part, names) for part in parts)]
    return [kind, names[parts[0]], *parts[1:]]


def may_hold(rows: pa.RecordBatch, wanted: Prefilter) -> NDArray[np.bool_]:
    """Whether the condition may hold, for each row."""
    return _mask(rows, wanted).fill_null(False).to_numpy(zero_copy_only=False)


def _mask(rows: pa.RecordBatch, wanted: Prefilter) -> pa.Array[Any]:
    """True, false or null for each row; a filter takes null for false, as SQL does."""
    kind, *parts = wanted
    if kind in _JOINTS:
        join, of_nothing = _JOINTS[kind]
        masks = [_mask(rows, part) for part in parts]
        return reduce(join, masks) if masks else pa.repeat(pa.scalar(of_nothing), rows.num_rows)
    column = rows.column(parts[0])
    if kind == "is null":
        return column.is_null()
    if kind == "is not null":
        return column.is_valid()
    if kind == "in":
        return pc.is_in(column, pa.array(parts[1], column.type))
    holds = _COMPARISONS[kind](column, pa.scalar(parts[1], column.type))
    # To Spark NaN is greater than every number, to Arrow it is not.
    is_greater = kind in (">", ">=") and pa.types.is_floating(column.type)
    return pc.or_kleene(holds, pc.is_nan(column)) if is_greater else holds
