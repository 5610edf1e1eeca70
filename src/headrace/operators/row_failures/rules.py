"""Which operations fail, and for which operands: one rule for each kind of expression."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from sqlglot import exp

from headrace.graph.schema import NUMERIC, UNKNOWN
from headrace.operators.expressions import sql
from headrace.operators.row_failures.derivation import (
    Derivation,
    Derived,
    Failure,
    NotDerivable,
    Rule,
    all_of,
    are_there,
    null_of,
    said,
    shown,
    value_of,
)

_INTEGERS: Final = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_SMALLEST: Final = {"TINYINT": -(1 << 7), "SMALLINT": -(1 << 15), "INT": -(1 << 31), "BIGINT": -(1 << 63)}
_REALS: Final = ("FLOAT", "DOUBLE")
_COLLECTIONS: Final = ("ARRAY", "MAP", "STRUCT")
_TRY: Final[dict[type[exp.Expr], str]] = {
    exp.Add: "try_add", exp.Sub: "try_subtract", exp.Mul: "try_multiply", exp.Div: "try_divide", exp.Mod: "try_mod",
}  # fmt: skip
_ARITHMETIC: Final[dict[type[exp.Expr], str]] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%"}
_COMPARED: Final = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ)
# A text beside one of these is read as one.
_READ_AS: Final = {
    **dict.fromkeys(_INTEGERS, "BIGINT"), "FLOAT": "DOUBLE", "DOUBLE": "DOUBLE",
    "BOOLEAN": "BOOLEAN", "DATE": "DATE", "TIMESTAMP": "TIMESTAMP",
}  # fmt: skip


def _arithmetic(own: Derivation, tree: exp.Expr) -> Derived:
    left, right, failures = own.pair(tree)
    types = own.type(tree.this), own.type(tree.expression)
    symbol = _ARITHMETIC[type(tree)]
    plain = isinstance(tree.expression, exp.Interval) or isinstance(tree.this, exp.Interval)
    is_real = all(one in NUMERIC or one.startswith("DECIMAL") for one in types) and any(one in _REALS for one in types)
    divides = isinstance(tree, exp.Div | exp.Mod)
    if divides and isinstance(tree.expression, exp.Literal) and types[0] in (*_INTEGERS, *_REALS):
        plain = plain or (tree.expression.is_number and float(tree.expression.this) != 0)
    if plain or (is_real and not divides):
        return Derived(f"({left.safe}) {symbol} ({right.safe})", tuple(failures))
    safe = f"{_TRY[type(tree)]}({left.safe}, {right.safe})"
    cause = "division by zero" if divides else "the result does not fit its type"
    return Derived(safe, (*failures, null_of((left, right), safe, said(f"{cause} in {shown(tree)}"))))


def _whole_quotient(own: Derivation, tree: exp.Expr) -> Derived:
    left, right, failures = own.pair(tree)
    if any(own.type(side) not in _INTEGERS for side in (tree.this, tree.expression)):
        raise NotDerivable(shown(tree))
    overflows = f"({left.safe}) = {_number('BIGINT')} AND ({right.safe}) = -1"
    wrong = f"({right.safe}) = 0 OR ({overflows})"
    failed = Failure(all_of((*are_there((left, right)), wrong)), said(f"division by zero in {shown(tree)}"))
    return Derived(f"IF({wrong}, NULL, ({left.safe}) DIV ({right.safe}))", (*failures, failed))


def _negative(own: Derivation, tree: exp.Expr) -> Derived:
    if isinstance(tree.this, exp.Literal):
        return Derived(sql(tree))
    return _of_smallest(own, tree, lambda inner: f"-({inner})")


def _absolute(own: Derivation, tree: exp.Expr) -> Derived:
    return _of_smallest(own, tree, lambda inner: f"abs({inner})")


def _of_smallest(own: Derivation, tree: exp.Expr, made: Callable[[str], str]) -> Derived:
    """Of integers the smallest has no counterpart."""
    inner, type_ = own.of(tree.this), own.type(tree.this)
    if type_ in _REALS or type_.startswith("DECIMAL"):
        return Derived(made(inner.safe), inner.failures)
    if type_ not in _INTEGERS:
        raise NotDerivable(shown(tree))
    is_smallest = f"({inner.safe}) = {_number(type_)}"
    failed = Failure(
        all_of((*are_there((inner,)), is_smallest)), said(f"the result does not fit {type_} in {shown(tree)}")
    )
    return Derived(f"IF({is_smallest}, NULL, {made(inner.safe)})", (*inner.failures, failed))


def _number(type_: str) -> str:
    """The smallest of a type: written as a literal it would be a larger type, negated."""
    return f"CAST({_SMALLEST[type_]} AS {type_})" if type_ != "BIGINT" else "(-9223372036854775807L - 1L)"


def _cast(own: Derivation, tree: exp.Expr) -> Derived:
    inner, to = own.of(tree.this), sql(tree.args["to"])
    if tree.args.get("safe"):
        return Derived(f"try_cast({inner.safe} AS {to})", inner.failures)
    source, target = own.type(tree.this), own.type(tree)
    if {source.partition("<")[0], target.partition("<")[0]} & {*_COLLECTIONS} and target != "STRING":
        raise NotDerivable(shown(tree))
    if _always_fits(source, target):
        return Derived(f"CAST({inner.safe} AS {to})", inner.failures)
    safe = f"try_cast({inner.safe} AS {to})"
    reason = f"concat({value_of(inner)}, {said(f' is no {to} in {shown(tree)}')})"
    return Derived(safe, (*inner.failures, null_of((inner,), safe, reason)))


def _always_fits(source: str, target: str) -> bool:
    if target in (source, "STRING", "BINARY"):
        return True
    if source in _INTEGERS and target in _INTEGERS:
        return _INTEGERS.index(source) <= _INTEGERS.index(target)
    if source in ("DATE", "TIMESTAMP") and target in ("DATE", "TIMESTAMP"):
        return True
    is_number = source in NUMERIC or source.startswith("DECIMAL")
    return (is_number and target in (*_REALS, "BOOLEAN")) or (source == "BOOLEAN" and target in NUMERIC)


def _parsed_time(own: Derivation, tree: exp.Expr) -> Derived:
    """to_date and to_timestamp, of a text in a pattern or in the usual one."""
    format_ = tree.args.get("format")
    inner, type_ = own.of(tree.this), own.type(tree.this)
    if format_ is None or type_ in ("DATE", "TIMESTAMP"):
        target = "TIMESTAMP" if isinstance(tree, exp.StrToTime) else "DATE"
        return _cast(own, exp.TryCast(this=tree.this.copy(), to=exp.DataType.build(target, dialect="spark")))
    if type_ not in ("STRING", UNKNOWN):
        raise NotDerivable(shown(tree))
    pattern = own.pattern(tree)
    safe = f"try_to_timestamp({inner.safe}, {pattern})"
    reason = f"concat({value_of(inner)}, {said(f' is no time in {shown(tree)}')})"
    failures = (*inner.failures, null_of((inner,), safe, reason))
    return Derived(safe if isinstance(tree, exp.StrToTime) else f"CAST({safe} AS DATE)", failures)


def _comparison(own: Derivation, tree: exp.Expr) -> Derived:
    if isinstance(tree, exp.NullSafeEQ):
        return own.generic(tree)
    left, right, failures = own.pair(tree)
    types = own.type(tree.this), own.type(tree.expression)
    symbol = _SYMBOLS[type(tree)]
    if "STRING" not in types or set(types) <= {"STRING"} or UNKNOWN in types:
        return Derived(f"({left.safe}) {symbol} ({right.safe})", tuple(failures))
    text, other = (left, types[1]) if types[0] == "STRING" else (right, types[0])
    read_as = _READ_AS.get(other)
    if read_as is None:
        raise NotDerivable(shown(tree))
    read = f"try_cast({text.safe} AS {read_as})"
    reason = f"concat({value_of(text)}, {said(f' is no {read_as} in {shown(tree)}')})"
    # The text is read only where the other side is known, if that comes first.
    first = () if text is left else are_there((left,))
    failed = null_of((text,), read, reason).only_if(*first)
    sides = (read, right.safe) if text is left else (left.safe, read)
    return Derived(f"({sides[0]}) {symbol} ({sides[1]})", (*failures, failed))


def _and(own: Derivation, tree: exp.Expr) -> Derived:
    left, right = own.of(tree.this), own.of(tree.expression)
    later = [one.only_if(f"coalesce({left.safe}, true)") for one in right.failures]
    return Derived(f"({left.safe}) AND ({right.safe})", (*left.failures, *later))


def _or(own: Derivation, tree: exp.Expr) -> Derived:
    left, right = own.of(tree.this), own.of(tree.expression)
    later = [one.only_if(f"NOT coalesce({left.safe}, false)") for one in right.failures]
    return Derived(f"({left.safe}) OR ({right.safe})", (*left.failures, *later))


def _not(own: Derivation, tree: exp.Expr) -> Derived:
    inner = own.of(tree.this)
    return Derived(f"NOT ({inner.safe})", inner.failures)


def _is(own: Derivation, tree: exp.Expr) -> Derived:
    inner = own.of(tree.this)
    return Derived(f"({inner.safe}) IS {sql(tree.expression)}", inner.failures)


def _between(own: Derivation, tree: exp.Expr) -> Derived:
    value, low, high = (tree.this, tree.args["low"], tree.args["high"])
    at_least, at_most = (
        exp.GTE(this=value.copy(), expression=low.copy()),
        exp.LTE(this=value.copy(), expression=high.copy()),
    )
    return _and(own, exp.And(this=at_least, expression=at_most))


def _in(own: Derivation, tree: exp.Expr) -> Derived:
    types = {own.type(part) for part in (tree.this, *tree.expressions)} - {UNKNOWN}
    if not tree.expressions or ("STRING" in types and len(types) > 1):
        raise NotDerivable(shown(tree))
    if any(own.of(item).failures for item in tree.expressions):
        raise NotDerivable(shown(tree))
    return own.generic(tree)


def _case(own: Derivation, tree: exp.Expr) -> Derived:
    branches = [
        (branch.this if tree.this is None else exp.EQ(this=tree.this.copy(), expression=branch.this.copy()), branch)
        for branch in tree.args["ifs"]
    ]
    pairs = [(condition, branch.args["true"]) for condition, branch in branches]
    return _chosen(own, pairs, tree.args.get("default"))


def _if(own: Derivation, tree: exp.Expr) -> Derived:
    return _chosen(own, [(tree.this, tree.args["true"])], tree.args.get("false"))


def _chosen(own: Derivation, pairs: Sequence[tuple[exp.Expr, exp.Expr]], default: exp.Expr | None) -> Derived:
    """Each part is looked at only where no condition before it holds."""
    failures: list[Failure] = []
    before: list[str] = []
    cases = ""
    for condition, result in pairs:
        asked, given = own.of(condition), own.of(result)
        holds = f"coalesce({asked.safe}, false)"
        failures += [one.only_if(*before) for one in asked.failures]
        failures += [one.only_if(*before, holds) for one in given.failures]
        before.append(f"NOT {holds}")
        cases += f" WHEN {asked.safe} THEN {given.safe}"
    otherwise = None if default is None else own.of(default)
    if otherwise is not None:
        failures += [one.only_if(*before) for one in otherwise.failures]
        cases += f" ELSE {otherwise.safe}"
    return Derived(f"CASE{cases} END", tuple(failures))


def _coalesce(own: Derivation, tree: exp.Expr) -> Derived:
    parts = [own.of(part) for part in (tree.this, *tree.expressions)]
    failures: list[Failure] = []
    for number, part in enumerate(parts):
        before = [f"({one.safe}) IS NULL" for one in parts[:number]]
        failures += [one.only_if(*before) for one in part.failures]
    return Derived(f"coalesce({', '.join(part.safe for part in parts)})", tuple(failures))


def _null_if(own: Derivation, tree: exp.Expr) -> Derived:
    compared = exp.EQ(this=tree.this.copy(), expression=tree.expression.copy())
    return _chosen(own, [(compared, exp.Null())], tree.this)


def _not_null_or(own: Derivation, tree: exp.Expr) -> Derived:
    is_there = exp.Not(this=exp.Is(this=exp.Paren(this=tree.this.copy()), expression=exp.Null()))
    return _chosen(own, [(is_there, tree.args["true"])], tree.args.get("false"))


def _item(own: Derivation, tree: exp.Expr) -> Derived:
    """`array[n]` counts from 0; `element_at` from 1, and from behind."""
    type_ = own.type(tree.this).partition("<")[0]
    if type_ == "MAP":
        return own.generic(tree)
    if type_ != "ARRAY" or len(tree.expressions) != 1:
        raise NotDerivable(shown(tree))
    (array, place), failures = own.strict([tree.this, tree.expressions[0]])
    if tree.args.get("offset"):
        wrong = f"({place.safe}) = 0 OR abs(CAST({place.safe} AS BIGINT)) > size({array.safe})"
        safe = f"IF({wrong}, NULL, element_at({array.safe}, {place.safe}))"
    else:
        wrong = f"({place.safe}) < 0 OR ({place.safe}) >= size({array.safe})"
        safe = f"get({array.safe}, {place.safe})"
    failed = Failure(all_of((*are_there((array, place)), wrong)), said(f"no such item in {shown(tree)}"))
    return Derived(safe, (*failures, failed))


def _date_difference(own: Derivation, tree: exp.Expr) -> Derived:
    """The parser wraps operands that it takes for texts."""
    sides = [side.this if isinstance(side, exp.TsOrDsToDate) else side for side in (tree.this, tree.expression)]
    if any(own.type(side) not in ("DATE", "TIMESTAMP") for side in sides):
        raise NotDerivable(shown(tree))
    return own.generic(tree)


def _of_time(own: Derivation, tree: exp.Expr) -> Derived:
    inner = tree.this.this if isinstance(tree.this, exp.TsOrDsToDate | exp.TimeStrToTime) else tree.this
    if own.type(inner) not in ("DATE", "TIMESTAMP") or own.of(inner).failures:
        raise NotDerivable(shown(tree))
    if isinstance(tree, exp.TimeToStr):
        return Derived(f"date_format({sql(inner)}, {own.pattern(tree)})")
    return Derived(sql(tree))


def _like(own: Derivation, tree: exp.Expr) -> Derived:
    pattern = tree.expression
    if not isinstance(pattern, exp.Literal) or "\\" in pattern.this:
        raise NotDerivable(shown(tree))
    return own.generic(tree)


def _pattern(own: Derivation, tree: exp.Expr) -> Derived:
    if not isinstance(tree.expression, exp.Literal):
        raise NotDerivable(shown(tree))
    return own.generic(tree)


def _rounded(own: Derivation, tree: exp.Expr) -> Derived:
    decimals = tree.args.get("decimals")
    is_plain = decimals is None or (isinstance(decimals, exp.Literal) and decimals.is_int)
    if not is_plain and own.type(tree.this) not in _REALS:
        raise NotDerivable(shown(tree))
    return own.generic(tree)


def _as_it_is(own: Derivation, tree: exp.Expr) -> Derived:
    return Derived(sql(tree), is_known=isinstance(tree, exp.Literal | exp.Boolean))


_SYMBOLS: Final[dict[type[exp.Expr], str]] = {
    exp.EQ: "=", exp.NEQ: "!=", exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<=",
}  # fmt: skip
RULES: Final[dict[type[exp.Expr], Rule]] = {
    **dict.fromkeys((exp.Column, exp.Literal, exp.Null, exp.Boolean, exp.Interval, exp.Star), _as_it_is),
    **dict.fromkeys(_TRY, _arithmetic),
    exp.IntDiv: _whole_quotient,
    exp.Neg: _negative,
    exp.Abs: _absolute,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.StrToTime: _parsed_time,
    exp.TsOrDsToDate: _parsed_time,
    **dict.fromkeys(_COMPARED, _comparison),
    exp.And: _and,
    exp.Or: _or,
    exp.Not: _not,
    exp.Is: _is,
    exp.Between: _between,
    exp.In: _in,
    exp.Case: _case,
    exp.If: _if,
    exp.Coalesce: _coalesce,
    exp.Nullif: _null_if,
    exp.Nvl2: _not_null_or,
    exp.Bracket: _item,
    exp.DateDiff: _date_difference,
    **dict.fromkeys(
        (exp.Year, exp.Month, exp.Day, exp.DayOfMonth, exp.Hour, exp.Minute, exp.Second, exp.TimeToStr), _of_time
    ),
    exp.Like: _like,
    exp.ILike: _like,
    exp.RegexpLike: _pattern,
    exp.RegexpExtract: _pattern,
    exp.RegexpReplace: _pattern,
    exp.RegexpSplit: _pattern,
    exp.Round: _rounded,
}
