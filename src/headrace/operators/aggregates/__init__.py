"""Aggregates of windows and groups in lanes: what is kept for each, how rows are taken in, how two are put together.

One class for each function, or for several that differ in their result only (`registry.py` lists them). Arrow and numpy
only, but for what reads expressions.
"""

from __future__ import annotations

from headrace.operators.aggregates.decimals import DecimalSum
from headrace.operators.aggregates.kind import Aggregate, Array, OfValues, Partial
from headrace.operators.aggregates.numbers import LARGEST, largest_of, normalised, numbers_of, too_large
from headrace.operators.aggregates.parsing import AGGREGATES, FUNCTIONS, Function, parse_aggregates
from headrace.operators.aggregates.picks import ByAnother, InOrder
from headrace.operators.aggregates.registry import KINDS, NAMES, TWO_VALUES, Call, as_listed, call_of, kind_of
from headrace.operators.aggregates.tables import GroupedValues, merge, partial, result, results, spread, state_of

__all__ = [
    "AGGREGATES",
    "FUNCTIONS",
    "KINDS",
    "LARGEST",
    "NAMES",
    "TWO_VALUES",
    "Aggregate",
    "Array",
    "ByAnother",
    "Call",
    "DecimalSum",
    "Function",
    "GroupedValues",
    "InOrder",
    "OfValues",
    "Partial",
    "as_listed",
    "call_of",
    "kind_of",
    "largest_of",
    "merge",
    "normalised",
    "numbers_of",
    "parse_aggregates",
    "partial",
    "result",
    "results",
    "spread",
    "state_of",
    "too_large",
]
