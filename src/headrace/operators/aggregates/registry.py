"""Which aggregates there are, and what a call in an expression means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlglot import exp

from headrace.operators.aggregates.basic import Average, Bits, Count, Every, Maximum, Minimum, Some, Sum
from headrace.operators.aggregates.decimals import DecimalAverage, DecimalSum
from headrace.operators.aggregates.kind import Kind, refused
from headrace.operators.aggregates.moments import Correlation, Covariance, Kurtosis, Skewness, Spread
from headrace.operators.aggregates.picks import IGNORE_NULLS, InOrder, MaxBy, MinBy
from headrace.operators.aggregates.values import Collected, Different, Frequent, Joined, NearestRank, Percentile
from headrace.operators.columnar.types import NotExact

# Of one name the first counts that takes the types.
KINDS: Final[tuple[Kind, ...]] = (
    Count(), Sum(), Average(), DecimalSum(), DecimalAverage(), Minimum(), Maximum(), Every(), Some(), Bits(), Spread(),
    Skewness(), Kurtosis(), Covariance(), Correlation(), InOrder(), MinBy(), MaxBy(), Collected(), Different(),
    Joined(), Frequent(), Percentile(), NearestRank(),
)  # fmt: skip
NAMES: Final = frozenset(name for kind in KINDS for name in kind.names)
TWO_VALUES: Final = frozenset({"corr", "covar_pop", "covar_samp", "min_by", "max_by"})
# As the parser has them, where it has classes of their own for them.
_CLASSES: Final[Mapping[type[exp.Expr], str]] = {
    exp.Count: "count", exp.CountIf: "count_if", exp.Sum: "sum", exp.Avg: "avg", exp.Min: "min", exp.Max: "max",
    exp.LogicalAnd: "bool_and", exp.LogicalOr: "bool_or", exp.Any: "any", exp.BitwiseAndAgg: "bit_and",
    exp.BitwiseOrAgg: "bit_or", exp.BitwiseXorAgg: "bit_xor", exp.Stddev: "stddev", exp.StddevSamp: "stddev_samp",
    exp.StddevPop: "stddev_pop", exp.Variance: "variance", exp.VariancePop: "var_pop", exp.Skewness: "skewness",
    exp.Kurtosis: "kurtosis", exp.CovarPop: "covar_pop", exp.CovarSamp: "covar_samp", exp.Corr: "corr",
    exp.First: "first", exp.FirstValue: "first", exp.AnyValue: "any_value", exp.Last: "last", exp.LastValue: "last",
    exp.ArgMin: "min_by", exp.ArgMax: "max_by", exp.ArrayAgg: "collect_list", exp.ArrayUniqueAgg: "collect_set",
    exp.GroupConcat: "listagg", exp.Mode: "mode", exp.Median: "median", exp.Quantile: "percentile",
    exp.ApproxQuantile: "percentile_approx",
}  # fmt: skip
# Where the parser keeps the arguments that are values of rows, and what it notes beside them that changes nothing.
_ARGUMENTS: Final = {"this", "expression", "expressions", "nulls_excluded", "big_int"}
_CONSTANTS: Final = {
    "percentile": ("quantile",),
    "percentile_approx": ("quantile", "accuracy"),
    "listagg": ("separator",),
}
_MEDIAN: Final = ((0.5,), False)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an aggregate: its values as they are written, and its constants."""

    function: str
    values: tuple[exp.Expr, ...]
    parameters: tuple[Any, ...] = ()


def call_of(tree: exp.Expr) -> Call | None:
    """None for what is no call of an aggregate that lanes know. Raises NotExact for one that is not taken as it is
    written."""
    ignores_nulls = isinstance(tree, exp.IgnoreNulls)
    call = tree.this if isinstance(tree, exp.IgnoreNulls | exp.RespectNulls) else tree
    function = call.name.lower() if isinstance(call, exp.Anonymous) else _CLASSES.get(type(call))
    if function is None or function not in NAMES | {"count_if"}:
        return None
    if call is not tree and function not in ("first", "last", "any_value"):
        raise NotExact("IGNORE NULLS or RESPECT NULLS")
    constants = _CONSTANTS.get(function, ())
    if any(call.args[name] for name in call.args.keys() - _ARGUMENTS - set(constants)):
        raise NotExact("more than is known of it")
    values = tuple(call.expressions) if isinstance(call, exp.Anonymous) else _values(call)
    return Call(function, values, _parameters(function, call, ignores_nulls=ignores_nulls))


def kind_of(function: str, types: Sequence[str]) -> tuple[Kind, str]:
    """What computes it for these types, and the type of the result. Raises NotExact."""
    for kind in KINDS:
        if function in kind.names:
            try:
                return kind, kind.result_type(function, types)
            except NotExact:
                continue
    raise refused(function, types)


def result_type_of(call: Call, types: Sequence[str]) -> str | None:
    """Of a call whose values have these types; None where it is not known here."""
    if len(types) != (2 if call.function in TWO_VALUES else 1):
        return None
    try:
        _, type_ = kind_of(call.function, types)
    except NotExact:
        return None
    return as_listed(type_, call.parameters)


def as_listed(type_: str, parameters: Sequence[Any]) -> str:
    """Of several percentiles at once the result is a list."""
    return f"ARRAY<{type_}>" if len(parameters) == 2 and parameters[1] is True else type_


def _values(call: exp.Expr) -> tuple[exp.Expr, ...]:
    second = call.args.get("expression")
    this = call.this.this if isinstance(call, exp.Any) and isinstance(call.this, exp.Paren) else call.this
    found = [this, *([] if second is None else [second]), *call.expressions]
    return tuple(found)


def _parameters(function: str, call: exp.Expr, *, ignores_nulls: bool) -> tuple[Any, ...]:
    if ignores_nulls:
        return (IGNORE_NULLS,)
    if function == "median":
        return _MEDIAN
    if function in ("percentile", "percentile_approx"):
        return _shares(call.args["quantile"])
    if function == "listagg":
        return (_text(call.args.get("separator")),)
    return ()


def _shares(tree: exp.Expr) -> tuple[tuple[float, ...], bool]:
    is_list = isinstance(tree, exp.Array)
    found = tuple(_number(one) for one in (tree.expressions if is_list else [tree]))
    if not found or not all(0 <= share <= 1 for share in found):
        raise NotExact("a share that is not between 0 and 1")
    return found, is_list


def _number(tree: exp.Expr) -> float:
    if not isinstance(tree, exp.Literal) or tree.is_string:
        raise NotExact("a share that is no number")
    return float(tree.name)


def _text(tree: exp.Expr | None) -> str:
    if tree is None:
        return ""
    if not isinstance(tree, exp.Literal) or not tree.is_string or "\\" in tree.name or "'" in tree.name:
        raise NotExact("a separator that is no plain text")
    return tree.name
