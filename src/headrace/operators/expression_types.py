"""The type of an expression, as far as it can be told without Spark; UNKNOWN otherwise, never a guess.

The rules are those of Spark with ANSI mode on, its default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal

from sqlglot import exp

from headrace.errors import InvalidInput
from headrace.graph.schema import NUMERIC, UNKNOWN, Schema, parse_type
from headrace.operators.aggregates.registry import call_of, result_type_of
from headrace.operators.columnar.types import NotExact
from headrace.operators.expression_literals import check_literals
from headrace.operators.expressions import Expression, place_of, sql
from headrace.operators.functions import check_call, python_function, result_type

_INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_REALS = ("FLOAT", "DOUBLE")
_MAX_INT, _MAX_BIGINT = 2**31 - 1, 2**63 - 1

_FIXED: dict[type[exp.Expr], str] = {
    exp.Boolean: "BOOLEAN", exp.Predicate: "BOOLEAN", exp.Connector: "BOOLEAN", exp.Not: "BOOLEAN",
    exp.LogicalAnd: "BOOLEAN", exp.LogicalOr: "BOOLEAN",
    exp.Count: "BIGINT", exp.CountIf: "BIGINT", exp.ApproxDistinct: "BIGINT", exp.IntDiv: "BIGINT",
    exp.Stddev: "DOUBLE", exp.StddevPop: "DOUBLE", exp.StddevSamp: "DOUBLE", exp.Variance: "DOUBLE",
    exp.VariancePop: "DOUBLE", exp.Sqrt: "DOUBLE", exp.Pow: "DOUBLE", exp.Exp: "DOUBLE", exp.Ln: "DOUBLE",
    exp.Upper: "STRING", exp.Lower: "STRING", exp.Trim: "STRING", exp.Length: "INT", exp.Hour: "INT",
    exp.TimeToStr: "STRING",
    exp.CurrentTimestamp: "TIMESTAMP", exp.TimestampTrunc: "TIMESTAMP", exp.CurrentDate: "DATE",
}  # fmt: skip
_SAME_AS_ARGUMENT = (
    exp.Paren, exp.Neg, exp.Abs, exp.Min, exp.Max, exp.First, exp.Last, exp.AnyValue, exp.Filter, exp.IgnoreNulls,
    exp.RespectNulls,
)  # fmt: skip
_BRANCHES = (exp.Coalesce, exp.If, exp.Case, exp.Greatest, exp.Least)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Mod, exp.Div)
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_KINDS = {"BOOLEAN": "BOOLEAN", "BINARY": "BINARY", "DATE": "time", "TIMESTAMP": "time"}
_COLLECTIONS = ("ARRAY", "MAP", "STRUCT")
_TEXT_HINT = "a text is no number: CAST(text AS DOUBLE) makes it one; || or concat(…) joins texts"
_TIME_HINT = "make a time of a number with timestamp_millis(number) or timestamp_seconds(number)"
_NUMBERS_ONLY = (*_ARITHMETIC, exp.Sum, exp.Avg, exp.Abs, exp.Neg, exp.Sqrt, exp.Round)
_SINGLE_VALUES_ONLY = (exp.Upper, exp.Lower, exp.Trim, exp.Length, exp.Like, exp.RegexpLike)


def type_of(expression: Expression, schema: Schema) -> str:
    """One spelling of a Spark type, or UNKNOWN."""
    return _type(expression.tree, schema)


def check_types(expression: Expression, schema: Schema) -> None:
    """Raises InvalidInput for operands that Spark would refuse: `flag + 1`, `ts > 5`, `sum(flag)`, `upper(list)`."""
    _check_calls(expression, schema)
    check_literals(expression, schema, lambda tree: _type(tree, schema), _kind)
    for kinds, fits, hint in _CHECKS:
        for tree in expression.tree.find_all(*kinds):
            found = [_type(operand, schema) for operand in _operands(tree)]
            if not fits(tree, found):
                types = " and ".join(dict.fromkeys(found))
                message = f"{sql(tree)} does not work with {types}"
                raise InvalidInput(message, place=place_of(expression, tree), hint=hint)
    for condition in _conditions(expression.tree):
        if (type_ := _type(condition, schema)) not in ("BOOLEAN", UNKNOWN):
            message = f"the condition {sql(condition)!r} is {type_}, not BOOLEAN"
            raise InvalidInput(message, place=place_of(expression, condition), hint=f"compare it: {sql(condition)} = …")


def _conditions(whole: exp.Expr) -> Iterator[exp.Expr]:
    """What must be true or false within an expression."""
    for tree in whole.find_all(exp.And, exp.Or, exp.Not, exp.If):
        if isinstance(tree, exp.If) and isinstance(tree.parent, exp.Case) and tree.parent.this is not None:
            continue  # a value that CASE compares
        yield tree.this
        if isinstance(tree, exp.And | exp.Or):
            yield tree.expression


def _check_calls(expression: Expression, schema: Schema) -> None:
    for call in expression.tree.find_all(exp.Anonymous):
        function = python_function(call)
        if function is None:
            continue
        try:
            check_call(function, [_type(argument, schema) for argument in call.expressions])
        except InvalidInput as error:
            raise InvalidInput(error.message, place=place_of(expression, call)) from error


def _called(tree: exp.Expr, schema: Schema) -> str:
    function = python_function(tree)
    return _aggregate(tree, schema) if function is None else result_type(function)


def _operands(tree: exp.Expr) -> list[exp.Expr]:
    """What a part of an expression works on, of which the types must fit."""
    if isinstance(tree, _BRANCHES):
        return _results(tree)
    second = tree.expression if isinstance(tree, exp.Binary) else None
    return [tree.this] if second is None else [tree.this, second]


def _compare(tree: exp.Expr, types: list[str]) -> bool:
    return len({_kind(type_) for type_ in types} - {"any"}) <= 1 and not _are_mixed(types)


def _are_numbers(tree: exp.Expr, types: list[str]) -> bool:
    return not {_kind(type_) for type_ in types} & {"BOOLEAN", "BINARY", *_COLLECTIONS}


def _are_no_texts(tree: exp.Expr, types: list[str]) -> bool:
    """A text and an interval make a time."""
    return "STRING" not in types or tree.find(exp.Interval) is not None


def _are_single(tree: exp.Expr, types: list[str]) -> bool:
    return not {_kind(type_) for type_ in types} & {*_COLLECTIONS}


def _are_times(tree: exp.Expr, types: list[str]) -> bool:
    return _kind(types[0]) not in ("number", "BOOLEAN", *_COLLECTIONS)


def _are_alike(tree: exp.Expr, types: list[str]) -> bool:
    return not _are_mixed(types)


def _can_cast(tree: exp.Expr, types: list[str]) -> bool:
    """Of collections; what becomes of single values is left to Spark."""
    old, new = _kind(types[0]), _cast(tree, Schema(()))
    return old not in _COLLECTIONS or new in (UNKNOWN, "STRING") or _kind(new) == old


def _are_mixed(types: list[str]) -> bool:
    """Whether collections stand beside what is none, or beside those of another kind."""
    kinds = {_kind(type_) if type_ != "STRING" else "text" for type_ in types} - {"any"}
    return len(kinds) > 1 and not kinds.isdisjoint(_COLLECTIONS)


def _kind(type_: str) -> str:
    """Types of one kind compare with each other; a string is converted to any single value."""
    if type_ in NUMERIC or type_.startswith("DECIMAL"):
        return "number"
    collection = type_.partition("<")[0]
    return collection if collection in _COLLECTIONS else _KINDS.get(type_, "any")


def _type(tree: exp.Expr, schema: Schema) -> str:
    for kinds, rule in _RULES:
        if isinstance(tree, kinds):
            return rule(tree, schema)
    found = next((type_ for kind, type_ in _FIXED.items() if isinstance(tree, kind)), UNKNOWN)
    return _aggregate(tree, schema) if found == UNKNOWN else found


def _aggregate(tree: exp.Expr, schema: Schema) -> str:
    """Of an aggregate that lanes know."""
    try:
        call = call_of(tree)
    except NotExact:
        return UNKNOWN
    types = [] if call is None else [_type(value, schema) for value in call.values]
    return UNKNOWN if call is None or UNKNOWN in types else result_type_of(call, types) or UNKNOWN


def _column(tree: exp.Expr, schema: Schema) -> str:
    column = schema.find(tree.name)
    is_field = tree.args.get("table") is not None
    return column.type if column and not is_field else UNKNOWN


def _literal(tree: exp.Expr, schema: Schema) -> str:
    if tree.is_string:
        return "STRING"
    text = str(tree.this)
    if text.isdigit():
        value = int(text)
        return "INT" if value <= _MAX_INT else "BIGINT" if value <= _MAX_BIGINT else UNKNOWN
    return "DOUBLE" if "e" in text.lower() else _decimal(text)


def _decimal(text: str) -> str:
    _, digits, exponent = Decimal(text).as_tuple()
    scale = -int(exponent)
    return f"DECIMAL({max(len(digits), scale)},{scale})"


def _cast(tree: exp.Expr, schema: Schema) -> str:
    try:
        return parse_type(sql(tree.args["to"]))
    except InvalidInput:
        return UNKNOWN


def _argument(tree: exp.Expr, schema: Schema) -> str:
    return UNKNOWN if tree.args.get("expressions") else _type(tree.this, schema)


def _argument_by(tree: exp.Expr, schema: Schema) -> str:
    return UNKNOWN if tree.args.get("count") else _type(tree.this, schema)


def _arithmetic(tree: exp.Expr, schema: Schema) -> str:
    left, right = _type(tree.this, schema), _type(tree.expression, schema)
    if left == "TIMESTAMP" and isinstance(tree.expression, exp.Interval):
        return "TIMESTAMP"
    wider = _wider(left, right)
    return "DOUBLE" if isinstance(tree, exp.Div) and wider in NUMERIC else wider


def _rounded(tree: exp.Expr, schema: Schema) -> str:
    argument = _type(tree.this, schema)
    return argument if argument in _REALS else UNKNOWN


def _whole(tree: exp.Expr, schema: Schema) -> str:
    real = _type(tree.this, schema) in _REALS and not tree.args.get("decimals")
    return "BIGINT" if real else UNKNOWN


def _text(tree: exp.Expr, schema: Schema) -> str:
    operands = tree.expressions or [tree.this]
    if isinstance(tree, exp.DPipe):
        operands = [tree.this, tree.expression]
    return "STRING" if all(_type(operand, schema) == "STRING" for operand in operands) else UNKNOWN


def _branches(tree: exp.Expr, schema: Schema) -> str:
    return _common(_type(result, schema) for result in _results(tree))


def _results(tree: exp.Expr) -> list[exp.Expr]:
    """What may come out, without nulls, which fit to all."""
    if isinstance(tree, exp.Case):
        results = [branch.args["true"] for branch in tree.args["ifs"]] + [tree.args.get("default")]
    elif isinstance(tree, exp.If):
        results = [tree.args["true"], tree.args.get("false")]
    else:
        results = [tree.this, *tree.expressions]
    return [result for result in results if result is not None and not isinstance(result, exp.Null)]


def _common(types: Iterable[str]) -> str:
    common, *others = [*types] or [UNKNOWN]
    for type_ in others:
        common = common if type_ == common else _wider(common, type_)
    return common


def _wider(left: str, right: str) -> str:
    """The type of a sum of both. Decimals among themselves grow by rules that are left to Spark."""
    if left in _INTEGERS and right in _INTEGERS:
        return max(left, right, key=_INTEGERS.index)
    if left == right == "FLOAT":
        return "FLOAT"
    numbers = _kind(left) == _kind(right) == "number"
    return "DOUBLE" if numbers and (left in _REALS or right in _REALS) else UNKNOWN


_Rule = Callable[[exp.Expr, Schema], str]
_RULES: tuple[tuple[tuple[type[exp.Expr], ...], _Rule], ...] = (
    ((exp.Column,), _column),
    ((exp.Literal,), _literal),
    ((exp.Cast,), _cast),
    (_SAME_AS_ARGUMENT, _argument),
    ((exp.ArgMax, exp.ArgMin), _argument_by),
    (_ARITHMETIC, _arithmetic),
    ((exp.Round,), _rounded),
    ((exp.Floor, exp.Ceil), _whole),
    ((exp.Concat, exp.DPipe, exp.Substring), _text),
    (_BRANCHES, _branches),
    ((exp.Anonymous,), _called),
)

_Check = Callable[[exp.Expr, list[str]], bool]
_CHECKS: tuple[tuple[tuple[type[exp.Expr], ...], _Check, str | None], ...] = (
    (_NUMBERS_ONLY, _are_numbers, None),
    (_NUMBERS_ONLY, _are_no_texts, _TEXT_HINT),
    (_COMPARISONS, _compare, None),
    (_SINGLE_VALUES_ONLY, _are_single, None),
    (_BRANCHES, _are_alike, None),
    ((exp.Cast,), _can_cast, None),
    ((exp.TimestampTrunc, exp.TimeToStr, exp.Hour, exp.Minute), _are_times, _TIME_HINT),
)
