"""Expressions over the rows of tables: the forms of pipelines, and those that CAST, times and rounding add to them.

Whatever has a form here has the type and the values that Spark gives it, or fails where Spark fails. What has none is
refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from functools import reduce
from typing import Any, Final, TypeAlias

import pyarrow as pa
from sqlglot import exp

from headrace.errors import InvalidInput, did_you_mean
from headrace.operators.arrow_types import arrow_type
from headrace.operators.columnar import Form, Planner
from headrace.operators.columnar.conversions import converter
from headrace.operators.columnar.forms import VOID, is_literal, literal
from headrace.operators.columnar.functions import FUNCTION_NAMES
from headrace.operators.columnar.types import INTEGERS, NotExact, cast, common_type, decimal_of, decimal_type
from headrace.operators.columnar.values import Values

# Functions beside those that pipelines have forms for.
_MORE_NAMES: Final = frozenset({
    "cast", "abs", "round", "floor", "ceil", "ceiling", "greatest", "least", "sqrt", "unix_millis", "unix_seconds",
    "current_timestamp", "now",
})  # fmt: skip
NAMES: Final = FUNCTION_NAMES | _MORE_NAMES
_HINT: Final = "compute it in a pipeline: CREATE TABLE … AS SELECT …"
_US: Final = {
    "MICROSECOND": 1, "MILLISECOND": 1_000, "SECOND": 1_000_000, "MINUTE": 60_000_000, "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000, "WEEK": 604_800_000_000,
}  # fmt: skip
_TIMES: Final = ("TIMESTAMP", "DATE")
_LARGEST_SCALE: Final = 38


@dataclass(frozen=True, slots=True)
class Reading:
    """What expressions are read with. `column` finds a column's form, or raises; `values` gives the one column of
    a query as literals, with its type; `known` are forms of whole expressions, by `key`; `now` is one moment."""

    text: str
    column: Callable[[exp.Column], Form]
    values: Callable[[exp.Expr], tuple[str, list[Form]]]
    has_rows: Callable[[exp.Expr], bool]
    key: Callable[[exp.Expr], str]
    known: Mapping[str, Form] = field(default_factory=dict)
    now: datetime = field(default_factory=lambda: datetime.now(UTC))


class TablePlanner(Planner):
    """Every refusal is an InvalidInput that shows the expression."""

    def __init__(self, reading: Reading) -> None:
        super().__init__(reading.text, {})
        # Names of functions are checked for the whole statement.
        self._knows_functions = True
        self.reading = reading

    def typed(self, tree: exp.Expr) -> Form:
        """Raises InvalidInput."""
        try:
            return self.form(tree)
        except NotExact as error:
            shown = tree.sql(dialect="spark")
            raise InvalidInput(f"tables cannot compute {shown}: {error}", hint=f"cast it, or {_HINT}") from error
        except RecursionError:
            raise InvalidInput("an expression nested too deeply") from None

    def condition(self, tree: exp.Expr) -> Form:
        found = self.typed(tree)
        if found[1] == VOID:
            return literal("BOOLEAN", None)
        if found[1] != "BOOLEAN":
            raise InvalidInput(f"{tree.sql(dialect='spark')} is {found[1]}: a condition must be BOOLEAN")
        return found

    def form(self, tree: exp.Expr) -> Form:
        tree = tree.unnest()
        known = self.reading.known.get(self.reading.key(tree)) if self.reading.known else None
        if known is not None:
            return known
        rule = _RULES.get(tree.name.lower() if isinstance(tree, exp.Anonymous) else type(tree))
        found = None if rule is None else rule(self, tree)
        return super().form(tree) if found is None else found


def refuse_unknown_functions(called: set[str]) -> None:
    """Raises InvalidInput for a function that tables do not have."""
    for name in sorted(called - NAMES):
        hint = did_you_mean(name, NAMES) or _HINT
        raise InvalidInput(f"tables have no function {name.upper()}", valid=sorted(NAMES), hint=hint)


def folded(form: Form) -> Form:
    """A form of literals alone, as the literal that it computes. Raises InvalidInput where it fails."""
    if is_literal(form):
        return form
    found = Values(pa.RecordBatch.from_pylist([{"0": 0}])).array(form)[0].as_py()
    return literal_of(form[1], found)


def literal_of(type_: str, value: Any) -> Form:
    return literal(type_, str(value) if isinstance(value, Decimal) else value)


def converted(form: Form, type_: str) -> Form:
    """CAST. Raises NotExact where there is none."""
    if form[1] == type_:
        return form
    if form[1] == VOID:
        return literal(type_, None)
    try:
        if form[1] not in (*INTEGERS, "DOUBLE") and decimal_of(form[1]) is None:
            raise NotExact("no number")
        return cast(form, type_)
    except NotExact:
        if form[1].startswith(("ARRAY", "MAP", "STRUCT")) or converter(arrow_type(form[1]), type_) is None:
            raise NotExact(f"{form[1]} as {type_}") from None
    made = ("convert!", type_, form, type_)
    return folded(made) if is_literal(form) else made


def _cast(planner: TablePlanner, tree: exp.Expr) -> Form:
    if tree.args.get("safe"):
        raise NotExact("TRY_CAST")
    return converted(planner.form(tree.this), type_of(tree.args["to"]))


def type_of(tree: exp.DataType) -> str:
    """The type as pipelines name it. Raises NotExact for one that columns of tables cannot be compared with."""
    name = tree.this.name
    names = {"TIMESTAMPTZ": "TIMESTAMP", "TEXT": "STRING", "VARCHAR": "STRING"}
    if name == "DECIMAL":
        digits = [int(part.this.name) for part in tree.expressions] or [10]
        return decimal_type(*digits) if len(digits) > 1 else decimal_type(digits[0], 0)
    found = str(names.get(name, name))
    if tree.expressions or found not in (*INTEGERS, "FLOAT", "DOUBLE", "STRING", "BOOLEAN", *_TIMES):
        raise NotExact(f"the type {tree.sql(dialect='spark')}")
    return found


def _text(planner: TablePlanner, tree: exp.Expr) -> Form | None:
    return literal("STRING", tree.this) if tree.is_string else None


def _compared(planner: TablePlanner, tree: exp.Expr) -> Form | None:
    """A text beside a time is read as one, as Spark does."""
    for name, other in (("this", "expression"), ("expression", "this")):
        part = tree.args[name].unnest()
        if isinstance(part, exp.Literal) and part.is_string:
            type_ = planner.form(tree.args[other])[1]
            if type_ in _TIMES:
                return planner.form(_with(tree, name, type_))
    return None


def _between(planner: TablePlanner, tree: exp.Expr) -> Form | None:
    type_ = planner.form(tree.this)[1]
    for name in ("low", "high"):
        part = tree.args[name].unnest()
        if type_ in _TIMES and isinstance(part, exp.Literal) and part.is_string:
            tree = _with(tree, name, type_)
    return Planner.form(planner, tree)


def _with(tree: exp.Expr, name: str, type_: str) -> exp.Expr:
    made = tree.copy()
    made.set(name, exp.Cast(this=made.args[name].copy(), to=exp.DataType.build(type_, dialect="spark")))
    return made


def _shifted(planner: TablePlanner, tree: exp.Expr) -> Form | None:
    """A time and an interval of a fixed length."""
    interval = tree.expression.unnest()
    if not isinstance(interval, exp.Interval):
        return None
    time = planner.form(tree.this)
    if time[1] != "TIMESTAMP":
        raise NotExact(f"an INTERVAL beside {time[1]}")
    us = _microseconds(interval) * (-1 if isinstance(tree, exp.Sub) else 1)
    made = ("shift time!", "TIMESTAMP", time, us)
    return folded(made) if is_literal(time) else made


def _microseconds(interval: exp.Interval) -> int:
    unit = interval.args["unit"].name.upper() if interval.args.get("unit") else ""
    length = _US.get(unit.removesuffix("S"))
    try:
        us = Decimal(interval.this.name) * (length or 0)
    except InvalidOperation:
        length = None
    if length is None or us != int(us):
        raise NotExact(f"{interval.sql(dialect='spark')}: write a number of {', '.join(_US)}")
    return int(us)


def _absolute(planner: TablePlanner, tree: exp.Expr) -> Form:
    value = _number(planner, tree)
    return ("abs!", value[1], value, value[1])


def _number(planner: TablePlanner, tree: exp.Expr) -> Form:
    value = planner.form(tree.this)
    if value[1] not in (*INTEGERS, "DOUBLE") and decimal_of(value[1]) is None:
        raise NotExact(f"{type(tree).__name__.upper()} of {value[1]}")
    return value


def _round(planner: TablePlanner, tree: exp.Expr) -> Form:
    value = _number(planner, tree)
    places = tree.args.get("decimals")
    scale = 0 if places is None else planner.form(places)[2] if is_literal(planner.form(places)) else None
    if not isinstance(scale, int) or not 0 <= scale <= _LARGEST_SCALE:
        raise NotExact("ROUND to a number of digits that is no literal from 0")
    if value[1] in INTEGERS:
        return value
    if value[1] == "DOUBLE":
        return ("round real", "DOUBLE", value, "DOUBLE", scale)
    precision, digits = decimal_of(value[1]) or (0, 0)
    type_ = decimal_type(precision - digits + 1 + min(scale, digits), min(scale, digits))
    return ("round", type_, value, type_, min(scale, digits))


def _to_whole(operation: str) -> Callable[[TablePlanner, exp.Expr], Form]:
    def rule(planner: TablePlanner, tree: exp.Expr) -> Form:
        value = _number(planner, tree)
        if tree.args.get("decimals") is not None:
            raise NotExact(f"{operation.upper()} to a number of digits")
        if value[1] in INTEGERS:
            return cast(value, "BIGINT")
        if value[1] == "DOUBLE":
            return (f"{operation} real!", "BIGINT", value, "BIGINT")
        precision, digits = decimal_of(value[1]) or (0, 0)
        type_ = decimal_type(precision - digits + 1, 0)
        return (operation, type_, value, type_)

    return rule


def _extreme(operation: str) -> Callable[[TablePlanner, exp.Expr], Form]:
    """The largest or the smallest that is not null."""

    def rule(planner: TablePlanner, tree: exp.Expr) -> Form:
        forms = [planner.form(part) for part in (tree.this, *tree.expressions)]
        type_ = common_type([form[1] for form in forms])
        if len(forms) < 2:
            raise NotExact("GREATEST and LEAST of one value")
        return reduce(lambda one, other: _chosen(operation, type_, one, other), [cast(form, type_) for form in forms])

    return rule


def _chosen(operation: str, type_: str, one: Form, other: Form) -> Form:
    is_missing: Form = ("is null", "BOOLEAN", one)
    is_beyond: Form = (operation, "BOOLEAN", other, one)
    return ("case", type_, is_missing, other, is_beyond, other, one)


def _root(planner: TablePlanner, tree: exp.Expr) -> Form:
    return ("sqrt", "DOUBLE", converted(_number(planner, tree), "DOUBLE"), "DOUBLE")


def _unix(us: int) -> Callable[[TablePlanner, exp.Expr], Form]:
    def rule(planner: TablePlanner, tree: exp.Expr) -> Form:
        value = planner.form(tree.this)
        if value[1] != "TIMESTAMP":
            raise NotExact(f"UNIX_MILLIS and UNIX_SECONDS of {value[1]}")
        return ("unix time", "BIGINT", value, "BIGINT", us)

    return rule


def _now(planner: TablePlanner, tree: exp.Expr) -> Form:
    return literal("TIMESTAMP", planner.reading.now)


def _single(planner: TablePlanner, tree: exp.Expr) -> Form:
    """The one value of a subquery; null where it has no row."""
    type_, values = planner.reading.values(tree)
    if len(values) > 1:
        raise InvalidInput("a subquery that stands for one value gave several rows", hint="add LIMIT 1, or use IN")
    return values[0] if values else literal(type_, None)


def _in(planner: TablePlanner, tree: exp.Expr) -> Form | None:
    query = tree.args.get("query")
    if query is None:
        return _in_times(planner, tree)
    value = planner.form(tree.this)
    type_, items = planner.reading.values(query.this if isinstance(query, exp.Subquery) else query)
    if not items:
        return literal("BOOLEAN", False)
    wanted = common_type([value[1], type_])
    items = [cast(item, wanted) for item in items]
    if wanted == "DOUBLE":
        raise NotExact("IN a subquery of DOUBLE")
    return ("in", "BOOLEAN", cast(value, wanted), *items)


def _in_times(planner: TablePlanner, tree: exp.Expr) -> Form | None:
    value = planner.form(tree.this)
    if value[1] not in _TIMES or not tree.expressions:
        return None
    return ("in", "BOOLEAN", value, *(folded(converted(planner.form(item), value[1])) for item in tree.expressions))


def _exists(planner: TablePlanner, tree: exp.Expr) -> Form:
    query = tree.this.this if isinstance(tree.this, exp.Subquery) else tree.this
    return literal("BOOLEAN", planner.reading.has_rows(query))


def _aggregate(planner: TablePlanner, tree: exp.Expr) -> Form:
    raise InvalidInput(f"{tree.sql(dialect='spark')}: an aggregate may stand in SELECT, HAVING and ORDER BY")


def _over(planner: TablePlanner, tree: exp.Expr) -> Form:
    raise InvalidInput("tables have no OVER", hint=_HINT)


_Rule: TypeAlias = Callable[[TablePlanner, Any], "Form | None"]
_RULES: Final[dict[type[exp.Expr] | str, _Rule]] = {
    exp.Column: lambda planner, tree: planner.reading.column(tree),
    exp.Literal: _text,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    **dict.fromkeys((exp.LT, exp.LTE, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.NullSafeEQ), _compared),
    exp.Between: _between,
    exp.In: _in,
    exp.Add: _shifted,
    exp.Sub: _shifted,
    exp.Abs: _absolute,
    exp.Round: _round,
    exp.Floor: _to_whole("floor"),
    exp.Ceil: _to_whole("ceil"),
    exp.Greatest: _extreme(">"),
    exp.Least: _extreme("<"),
    exp.Sqrt: _root,
    exp.UnixMillis: _unix(1_000),
    exp.UnixSeconds: _unix(1_000_000),
    exp.CurrentTimestamp: _now,
    "now": _now,
    **dict.fromkeys((exp.Select, exp.Union, exp.Subquery), _single),
    exp.Exists: _exists,
    exp.Window: _over,
    **dict.fromkeys((exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max), _aggregate),
}
