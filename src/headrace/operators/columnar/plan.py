"""From an expression of SQL to a form: what is not surely the same as in Spark has none."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Final, TypeAlias

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.tokenizer_core import Token, TokenType

from headrace.graph.schema import Schema
from headrace.operators.columnar.forms import COLUMN, TRY, VOID, Form, is_literal, literal, may_raise
from headrace.operators.columnar.functions import FUNCTION_NAMES, FUNCTIONS, Call
from headrace.operators.columnar.types import (
    INTEGERS,
    NotExact,
    as_decimal,
    cast,
    common_type,
    decimal_of,
    decimal_type,
    for_decimals,
    is_ordered,
    number_literal,
)
from headrace.operators.expressions import parse_expression

# Columns by their names in lower case.
Scope: TypeAlias = Mapping[str, Form]

_SPARK: Final = Dialect.get_or_raise("spark")
_COMPARISONS: Final[dict[type[exp.Expr], str]] = {
    exp.LT: "<", exp.LTE: "<=", exp.EQ: "=", exp.NEQ: "!=", exp.GT: ">", exp.GTE: ">=", exp.NullSafeEQ: "<=>",
}  # fmt: skip
_ARITHMETIC: Final[dict[type[exp.Expr], str]] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*"}
# Functions that are null where an operation fails, as the parser has them.
_TRIED: Final[dict[type[exp.Expr] | str, type[exp.Binary]]] = {
    exp.SafeAdd: exp.Add, exp.SafeSubtract: exp.Sub, exp.SafeMultiply: exp.Mul, exp.SafeDivide: exp.Div,
    "try_mod": exp.Mod,
}  # fmt: skip
# Values that JSON has, written alike by Spark and by Arrow.
_JSON: Final = (*INTEGERS, "STRING", "BOOLEAN")
# Words that may stand before a bracket and are no functions.
_WORDS: Final = frozenset({"and", "or", "not", "in", "when", "then", "else", "case", "between", "like", "is"})
# What a part of an expression may consist of; `safe` and `typed` are for other dialects than Spark's.
_ARGUMENTS: Final = frozenset({
    "this", "expression", "expressions", "is_string", "low", "high", "ifs", "true", "false", "default", "negate",
    "format", "group", "start", "length", "position", "replacement", "safe", "typed", "coalesce",
    "null_if_pos_overflow",
})  # fmt: skip
# A longer literal is hardly meant.
_NUMBER_CHARACTERS_MAX: Final = 40
_LARGEST_BIGINT: Final = (1 << 63) - 1


def scope_of(schema: Schema) -> Scope:
    """The columns of a schema, hidden ones included."""
    return {column.name.lower(): (COLUMN, column.type, column.name) for column in (*schema.hidden, *schema.columns)}


def planned(text: str, scope: Scope) -> Form | None:
    """The form of an expression; None where Spark alone knows its values."""
    return Planner(text, scope).planned(parse_expression(text).tree)


class Planner:
    """Plans the parts of one expression. Knows how it is written, for the parser takes some words and texts for
    something else than Spark does. `words` may stand before brackets around the parts that are planned."""

    def __init__(self, text: str, scope: Scope, words: frozenset[str] = frozenset()) -> None:
        tokens = list(_SPARK.tokenize(text))
        self._scope = scope
        self._knows_functions = _called(tokens) <= FUNCTION_NAMES | _WORDS | words
        # Of 'it''s' the parser makes two texts.
        self.has_escapes = "\\" in text or any(
            one.token_type == other.token_type == TokenType.STRING for one, other in pairwise(tokens)
        )
        self.texts = frozenset(token.text for token in tokens if token.token_type == TokenType.STRING)

    def planned(self, tree: exp.Expr) -> Form | None:
        """None where Spark alone knows the values."""
        try:
            return self.form(tree)
        except (NotExact, RecursionError):
            return None

    def form(self, tree: exp.Expr) -> Form:
        """Raises NotExact."""
        tree = tree.unnest()
        if any(tree.args[name] for name in tree.args.keys() - _ARGUMENTS):
            raise NotExact(f"{type(tree).__name__} with more than is known of it")
        rule = _RULES.get(type(tree))
        if rule is not None:
            return rule(self, tree)
        if not self._knows_functions:
            raise NotExact("a function that Spark may not know")
        rule = _CHOICES.get(type(tree))
        if rule is not None:
            return rule(self, tree)
        name = tree.name.lower() if isinstance(tree, exp.Anonymous) else type(tree)
        if name in _TRIED:
            return _tried(self, tree, _TRIED[name])
        function = FUNCTIONS.get(name)
        if function is None:
            raise NotExact(type(tree).__name__)
        return function(Call(tree, self.form, self.texts))

    def column(self, tree: exp.Expr) -> Form:
        found = self._scope.get(tree.name.lower()) if isinstance(tree, exp.Column) and len(tree.parts) == 1 else None
        if found is None:
            raise NotExact(f"the column {tree.name}")
        return found


def _called(tokens: list[Token]) -> set[str]:
    """Words before a bracket."""
    words = {token.text.lower() for token, following in pairwise(tokens) if following.token_type == TokenType.L_PAREN}
    return {word for word in words if word.isidentifier()}


def _literal(planner: Planner, tree: exp.Expr) -> Form:
    if tree.is_string:
        if planner.has_escapes or "'" in tree.this or '"' in tree.this:
            raise NotExact("what Spark may read as another text")
        return literal("STRING", tree.this)
    return _number(str(tree.this))


def _number(text: str) -> Form:
    if len(text) > _NUMBER_CHARACTERS_MAX:
        raise NotExact("a long number")
    return number_literal(text)


def _negative(planner: Planner, tree: exp.Expr) -> Form:
    if isinstance(tree.this, exp.Literal) and not tree.this.is_string:
        return _number(f"-{tree.this.this}")
    operand = planner.form(tree.this)
    if operand[1] in INTEGERS:
        return ("negate!", operand[1], operand)
    if operand[1] == "DOUBLE" or decimal_of(operand[1]):
        return ("negate", operand[1], operand)
    raise NotExact(f"- {operand[1]}")


def _arithmetic(planner: Planner, tree: exp.Expr) -> Form:
    operation = _ARITHMETIC[type(tree)]
    left, right = planner.form(tree.this), planner.form(tree.expression)
    if (decimal_of(left[1]) or decimal_of(right[1])) and "DOUBLE" not in (left[1], right[1]):
        return _decimal_arithmetic(operation, for_decimals(left), for_decimals(right))
    type_ = common_type([left[1], right[1]])
    if type_ in INTEGERS:
        return (f"{operation}!", type_, cast(left, type_), cast(right, type_))
    if type_ == "DOUBLE":
        return (operation, type_, cast(left, type_), cast(right, type_))
    raise NotExact(f"{left[1]} {operation} {right[1]}")


def _decimal_arithmetic(operation: str, left: Form, right: Form) -> Form:
    """The result has room for every digit, or NotExact is raised."""
    (precision, scale), (other_precision, other_scale) = as_decimal(left[1]), as_decimal(right[1])
    if operation == "*":
        return (operation, decimal_type(precision + other_precision + 1, scale + other_scale), left, right)
    most = max(scale, other_scale)
    digits = max(precision - scale, other_precision - other_scale) + most + 1
    return (operation, decimal_type(digits, most), left, right)


def _remainder(planner: Planner, tree: exp.Expr) -> Form:
    left, right = planner.form(tree.this), planner.form(tree.expression)
    type_ = common_type([left[1], right[1]])
    if type_ not in INTEGERS and type_ != "DOUBLE":
        raise NotExact(f"{left[1]} % {right[1]}")
    left, right = cast(left, type_), cast(right, type_)
    return ("%" if _is_divisor(right) else "%!", type_, left, right)


def _division(planner: Planner, tree: exp.Expr) -> Form:
    """Of integers it is one of doubles."""
    sides = [planner.form(tree.this), planner.form(tree.expression)]
    if any(side[1] not in INTEGERS and side[1] != "DOUBLE" for side in sides):
        raise NotExact("the quotient of decimals")
    left, right = (cast(side, "DOUBLE") for side in sides)
    return ("/" if _is_divisor(right) else "/!", "DOUBLE", left, right)


def _is_divisor(form: Form) -> bool:
    return is_literal(form) and form[2] not in (None, 0)


def _tried(planner: Planner, tree: exp.Expr, operation: type[exp.Binary]) -> Form:
    """`try_divide(a, b)` and its like."""
    left, right = tree.expressions if isinstance(tree, exp.Anonymous) else (tree.this, tree.expression)
    found = planner.form(operation(this=exp.paren(left.copy()), expression=exp.paren(right.copy())))
    # Decimals that do not fit are null there, and here nobody looks.
    return (TRY, found[1], found) if may_raise(found) else found


def _json(planner: Planner, tree: exp.Expr) -> Form:
    """`to_json(named_struct('name', value, …))`: `(json!, type, names, *values)`"""
    parts = tree.this.expressions if isinstance(tree.this, exp.Struct) else []
    if not parts or not all(isinstance(part, exp.PropertyEQ) for part in parts) or tree.args.get("options"):
        raise NotExact("to_json of something else")
    forms = [planner.form(part.expression) for part in parts]
    if any(form[1] not in _JSON for form in forms):
        raise NotExact("values that Spark alone writes")
    return ("json!", "STRING", json.dumps([part.name for part in parts]), *forms)


def _comparison(planner: Planner, tree: exp.Expr) -> Form:
    if isinstance(tree.this, exp.Predicate | exp.Not) or isinstance(tree.expression, exp.Predicate | exp.Not):
        raise NotExact("comparisons of comparisons, which Spark takes from left to right")
    return _compared(_COMPARISONS[type(tree)], planner.form(tree.this), planner.form(tree.expression))


def _compared(operation: str, left: Form, right: Form) -> Form:
    for side, other in ((left, right), (right, left)):
        # Spark turns such a comparison into a constant, true or false also for null.
        is_decimal = is_literal(side) and decimal_of(side[1]) is not None and side[2] is not None
        if is_decimal and other[1] in INTEGERS and abs(float(side[2])) >= _LARGEST_BIGINT:
            raise NotExact("a number beyond all integers")
    left, right = _in_common([left, right])
    if not is_ordered(left[1]):
        raise NotExact(f"{left[1]} {operation} {right[1]}")
    return (operation, "BOOLEAN", left, right)


def _in_common(forms: list[Form]) -> list[Form]:
    """All in the one type that Spark brings them to."""
    type_ = common_type([form[1] for form in forms])
    return [cast(form, type_) for form in forms]


def _between(planner: Planner, tree: exp.Expr) -> Form:
    value, low, high = (planner.form(part) for part in (tree.this, tree.args["low"], tree.args["high"]))
    return ("and", "BOOLEAN", _compared(">=", value, low), _compared("<=", value, high))


def _in(planner: Planner, tree: exp.Expr) -> Form:
    if not tree.expressions:
        raise NotExact("IN without a list")
    value, *items = _in_common([planner.form(part) for part in (tree.this, *tree.expressions)])
    if not all(map(is_literal, items)) or not is_ordered(value[1]):
        raise NotExact("IN a list of more than literals")
    if value[1] == "DOUBLE":
        # Arrow tells 0.0 and -0.0 apart when it looks up a list.
        found = [("=", "BOOLEAN", value, item) for item in items]
        return found[0] if len(found) == 1 else ("or", "BOOLEAN", *found)
    return ("in", "BOOLEAN", value, *items)


def _condition(planner: Planner, tree: exp.Expr) -> Form:
    found = planner.form(tree)
    if found[1] != "BOOLEAN":
        raise NotExact(f"{found[1]} where a condition is due")
    return found


def _side(planner: Planner, tree: exp.Expr) -> Form:
    """Of AND, OR and NOT: that may be a bare NULL."""
    return literal("BOOLEAN", None) if isinstance(tree.unnest(), exp.Null) else _condition(planner, tree)


def _and(planner: Planner, tree: exp.Expr) -> Form:
    return ("and", "BOOLEAN", _side(planner, tree.this), _side(planner, tree.expression))


def _or(planner: Planner, tree: exp.Expr) -> Form:
    return ("or", "BOOLEAN", _side(planner, tree.this), _side(planner, tree.expression))


def _not(planner: Planner, tree: exp.Expr) -> Form:
    return ("not", "BOOLEAN", _side(planner, tree.this))


def _is(planner: Planner, tree: exp.Expr) -> Form:
    if isinstance(tree.expression, exp.Null):
        return ("is null", "BOOLEAN", planner.form(tree.this))
    if isinstance(tree.expression, exp.Boolean):
        found = _condition(planner, tree.this)
        return ("is true", "BOOLEAN", found if tree.expression.this else ("not", "BOOLEAN", found))
    raise NotExact("IS")


def _case(planner: Planner, tree: exp.Expr) -> Form:
    compared = None if tree.this is None else planner.form(tree.this)
    conditions = [
        _condition(planner, branch.this) if compared is None else _compared("=", compared, planner.form(branch.this))
        for branch in tree.args["ifs"]
    ]
    results = [planner.form(branch.args["true"]) for branch in tree.args["ifs"]]
    default = tree.args.get("default")
    return _chosen(conditions, [*results, planner.form(default) if default else literal(VOID, None)])


def _if(planner: Planner, tree: exp.Expr) -> Form:
    results = [planner.form(tree.args["true"]), planner.form(tree.args["false"])] if tree.args.get("false") else []
    if not results:
        raise NotExact("IF without a third argument")
    return _chosen([_condition(planner, tree.this)], results)


def _null_if(planner: Planner, tree: exp.Expr) -> Form:
    value, other = planner.form(tree.this), planner.form(tree.expression)
    return _chosen([_compared("=", value, other)], [literal(VOID, None), value])


def _chosen(conditions: list[Form], results: list[Form]) -> Form:
    """`(case, type, condition, result, …, result)`"""
    *then, otherwise = _in_common(results)
    pairs = [part for pair in zip(conditions, then, strict=True) for part in pair]
    return ("case", otherwise[1], *pairs, otherwise)


def _coalesce(planner: Planner, tree: exp.Expr) -> Form:
    forms = _in_common([planner.form(part) for part in (tree.this, *tree.expressions)])
    return forms[0] if len(forms) == 1 else ("coalesce", forms[0][1], *forms)


_Rule: TypeAlias = Callable[[Planner, exp.Expr], Form]
_RULES: Final[dict[type[exp.Expr], _Rule]] = {
    exp.Column: Planner.column,
    exp.Literal: _literal,
    exp.Boolean: lambda _, tree: literal("BOOLEAN", bool(tree.this)),
    exp.Null: lambda _, tree: literal(VOID, None),
    exp.Neg: _negative,
    **dict.fromkeys(_ARITHMETIC, _arithmetic),
    exp.Mod: _remainder,
    exp.Div: _division,
    **dict.fromkeys(_COMPARISONS, _comparison),
    exp.Between: _between,
    exp.In: _in,
    exp.And: _and,
    exp.Or: _or,
    exp.Not: _not,
    exp.Is: _is,
    exp.Case: _case,
}
# Functions that do not look at all of their arguments.
_CHOICES: Final[dict[type[exp.Expr], _Rule]] = {
    exp.If: _if,
    exp.Nullif: _null_if,
    exp.Coalesce: _coalesce,
    exp.JSONFormat: _json,
}
