"""SQL expressions in operators' settings: what they refer to and whether they may stand where they stand.

Expressions are Spark SQL and are run by Spark as written; here they are only read, so that a mistake is
reported with its place before any job starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from headrace.errors import InvalidInput, InvalidSyntax, Place, did_you_mean
from headrace.graph.places import place_at
from headrace.graph.schema import Schema

MAX_EXPRESSION_CHARACTERS = 10_000
PARSED_EXPRESSIONS_KEPT = 1_024

_SPARK = Dialect.get_or_raise("spark")
_JSON_HINT = "write get_json_object(text, '$.field'), or declare the column STRUCT<…> and name the field: column.field"
# What the parser knows of other dialects, and Spark does not.
_OF_OTHERS = (
    (exp.JSONExtract, "->", _JSON_HINT),
    (exp.SimilarTo, "SIMILAR TO", "write text RLIKE '^(a|b)$', a regular expression, or text LIKE 'a%'"),
)
# What other systems call the columns that every stream has.
_SYSTEM_COLUMNS = {
    "rowtime": "_event_time, or _timestamp of the record", "proctime": "current_timestamp()", "rowkey": "_key",
    "rowpartition": "_partition", "rowoffset": "_offset", "windowstart": "_window_start", "windowend": "_window_end",
    "window_start": "_window_start", "window_end": "_window_end",
}  # fmt: skip
# Aggregates of Spark that the parser takes for plain functions.
_MORE_AGGREGATES = frozenset({
    "any", "count_min_sketch", "every", "histogram_numeric", "hll_sketch_agg", "hll_union_agg", "mean", "some", "std",
    "try_avg", "try_sum",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reference:
    """A column that an expression names, at its place; `has_part` where a dot and a name stand behind it."""

    name: str
    place: Place
    has_part: bool = False


@dataclass(frozen=True, slots=True)
class Expression:
    """One expression: the text as written, its tree without the alias, and the alias."""

    text: str
    tree: exp.Expr
    alias: str | None = None

    @property
    def name(self) -> str | None:
        """What the result is called: the alias, or the column itself; None where it needs a name."""
        if self.alias is not None:
            return self.alias
        if isinstance(self.tree, exp.Column | exp.Dot):
            return self.tree.name
        return None

    @property
    def column(self) -> str | None:
        """The column that it passes on unchanged, in lower case; None where it computes something."""
        plain = isinstance(self.tree, exp.Column) and len(self.tree.parts) == 1
        return self.tree.name.lower() if plain else None

    @property
    def is_star(self) -> bool:
        return isinstance(self.tree, exp.Star)

    @property
    def references(self) -> tuple[Reference, ...]:
        """Columns in the order they are written; of `position.altitude` it is `position`."""
        named = [column.parts for column in self.tree.find_all(exp.Column, bfs=False)]
        return tuple(Reference(first.name, place_of(self, first), bool(behind)) for first, *behind in named)

    @property
    def columns(self) -> frozenset[str]:
        return frozenset(reference.name for reference in self.references)


@lru_cache(maxsize=PARSED_EXPRESSIONS_KEPT)
def parse_expression(text: str) -> Expression:
    """Raises InvalidSyntax with the place for anything that is not exactly one expression."""
    if len(text) > MAX_EXPRESSION_CHARACTERS:
        raise InvalidSyntax(f"an expression of {len(text)} characters; {MAX_EXPRESSION_CHARACTERS} are allowed")
    try:
        trees = _SPARK.parser().parse_into(exp.Expr, _SPARK.tokenize(text), text)
    except ParseError as error:
        raise _unparsable(text, error) from None
    except TokenError as error:
        raise _untokenisable(text, error) from None
    except RecursionError:
        raise InvalidSyntax("an expression nested too deeply", place=place_at(text, 0)) from None
    if len(trees) != 1 or trees[0] is None:
        cause = "several expressions separated by ';'" if len(trees) > 1 else "an empty expression"
        raise InvalidSyntax(f"{cause} where one is expected", place=place_at(text, max(0, text.find(";"))))
    expression = _without_alias(text, trees[0])
    _refuse_always(expression)
    return expression


def tokens_of(expression: Expression) -> list[Token]:
    """The words and signs of an expression, as it is written."""
    return list(_SPARK.tokenize(expression.text))


def place_of(expression: Expression, tree: exp.Expr) -> Place:
    """Where the first name within the tree stands; the start of the text when it has none."""
    for part in tree.find_all(exp.Identifier, bfs=False):
        if "start" in part.meta:
            return place_at(expression.text, part.meta["start"], part.meta["end"] - part.meta["start"] + 1)
    return place_at(expression.text, 0, len(expression.text))


def check_columns(expression: Expression, schema: Schema) -> None:
    """Raises InvalidInput for the first column that the schema lacks, with its place and near names."""
    for reference in expression.references:
        if schema.find(reference.name) is None:
            message, hint = unknown_column(reference.name, schema, has_part=reference.has_part)
            raise InvalidInput(message, place=reference.place, valid=schema.names, hint=hint)


def unknown_column(name: str, schema: Schema, *, has_part: bool) -> tuple[str, str | None]:
    """What is wrong with a name that no column has, and what may be meant."""
    other = _SYSTEM_COLUMNS.get(name.lower())
    near = did_you_mean(name, (*schema.names, *(column.name for column in schema.hidden)))
    near = near if other is None else f"here it is {other}"
    if not has_part:
        return f"unknown column {name!r}", near
    hint = near or "before a dot stands the name of a stream, or a column that has fields"
    return f"no stream and no column here is called {name!r}", hint


def aggregates(tree: exp.Expr) -> Iterator[exp.Expr]:
    """The calls of aggregate functions in a tree."""
    for call in tree.find_all(exp.Func, exp.Any, bfs=False):
        named = isinstance(call, exp.Anonymous) and call.name.lower() in _MORE_AGGREGATES
        if isinstance(call, exp.AggFunc | exp.Any) or named or _is_python_aggregate(call):
            yield call


def whole_call(call: exp.Expr) -> exp.Expr:
    """The aggregate with what belongs to it behind its brackets: IGNORE NULLS, WITHIN GROUP, FILTER."""
    while isinstance(call.parent, exp.IgnoreNulls | exp.RespectNulls | exp.WithinGroup | exp.Filter):
        if call.arg_key != "this":
            break
        call = call.parent
    return call


def _is_python_aggregate(call: exp.Expr) -> bool:
    if not isinstance(call, exp.Anonymous):
        return False
    from headrace.operators.functions import python_function  # noqa: PLC0415 - loads Arrow: only where there may be one

    function = python_function(call)
    return function is not None and function.kind == "aggregate"


def refuse_aggregates(expression: Expression, where: str) -> None:
    for call in aggregates(expression.tree):
        raise InvalidSyntax(
            f"the aggregate {sql(call)} cannot stand in {where}",
            place=place_of(expression, call),
            hint="aggregate in a tumbling-window",
        )


def refuse_generators(expression: Expression, where: str, allowed: tuple[str, ...] = ()) -> None:
    """Generators make several rows of one: `explode`, `inline`, `stack` and their kin."""
    for call in expression.tree.find_all(exp.UDTF):
        name = sql(call).split("(", 1)[0].lower()
        if name not in allowed:
            raise InvalidSyntax(f"{sql(call)} cannot stand in {where}", place=place_of(expression, call), valid=allowed)


def sql(tree: exp.Expr) -> str:
    return tree.sql(dialect=_SPARK)


def _without_alias(text: str, tree: exp.Expr) -> Expression:
    if isinstance(tree, exp.Alias):
        return Expression(text, tree.this, tree.alias)
    return Expression(text, tree)


def _refuse_always(expression: Expression) -> None:
    refused = {
        exp.Query: "a subquery",
        exp.Window: "a window function (OVER)",
        exp.Placeholder: "a parameter",
        exp.Parameter: "a parameter",
        exp.Aliases: "several names",
    }
    for kind, what in refused.items():
        found = expression.tree.find(kind)
        if found is not None:
            raise InvalidSyntax(f"{what} cannot stand in an expression", place=place_of(expression, found))
    for kind, what, hint in _OF_OTHERS:
        found = expression.tree.find(kind)
        if found is not None:
            raise InvalidSyntax(f"{what} is not supported", place=place_of(expression, found), hint=hint)
    _refuse_signs(expression)
    for column in expression.tree.find_all(exp.Column):
        if isinstance(column.this, exp.Star):
            raise InvalidSyntax("only a plain * can stand for all columns", place=place_of(expression, column))


def _refuse_signs(expression: Expression) -> None:
    """`ARRAY[1, 2]`, `s ->> 'k'` and `ts AT TIME ZONE 'UTC'`, which the parser reads and Spark does not.

    By their text: the parser makes the same tree of from_utc_timestamp, which Spark has.
    """
    tokens = _SPARK.tokenize(expression.text)
    for token, following, last in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if [one.text.upper() for one in (token, following, last)] == ["AT", "TIME", "ZONE"]:
            place = place_at(expression.text, token.start, last.end + 1 - token.start)
            hint = "write from_utc_timestamp(time, 'Europe/Berlin') or to_utc_timestamp(…)"
            raise InvalidSyntax("AT TIME ZONE is not supported", place=place, hint=hint)
    for token, following in pairwise(tokens):
        if token.token_type == TokenType.ARRAY and following.token_type == TokenType.L_BRACKET:
            place = place_at(expression.text, token.start, len(token.text))
            hint = "write array(1, 2); a column of this name stands in backquotes: `array`[0]"
            raise InvalidSyntax("ARRAY[…] is not supported", place=place, hint=hint)
        if token.token_type == TokenType.COLON_EQ:
            place = place_at(expression.text, token.start, 2)
            hint = "write named_struct('name', value), or struct(value AS name)"
            raise InvalidSyntax(":= is not supported", place=place, hint=hint)
        if token.token_type == TokenType.DARROW:
            place = place_at(expression.text, token.start, 3)
            raise InvalidSyntax("->> is not supported", place=place, hint=_JSON_HINT)


def _unparsable(text: str, error: ParseError) -> InvalidSyntax:
    details = error.errors[0]
    highlight = str(details["highlight"] or "")
    line, end_column = int(details["line"] or 1), int(details["col"] or 1)
    place = Place(line, max(1, end_column - len(highlight) + 1), text, max(1, len(highlight)))
    description = str(details["description"])
    if description.startswith("Expected"):
        return InvalidSyntax(f"{description.replace('Expected', 'expected', 1)} after {highlight!r}", place=place)
    if description.startswith("Required"):
        return InvalidSyntax(f"the expression is incomplete near {highlight!r}", place=place)
    hint = "an expression computes one value of a row, such as `price * 2`: no statement, and no list"
    return InvalidSyntax(f"unexpected {highlight!r} in an expression", place=place, hint=hint)


def _untokenisable(text: str, error: TokenError) -> InvalidSyntax:
    cause = str(error.__cause__ or error)
    spot = re.search(r"(.*) from (\d+):(\d+)", cause)
    if spot is None:
        return InvalidSyntax(f"the expression cannot be read: {cause}", place=place_at(text, 0))
    return InvalidSyntax(f"{spot[1].lower()} in an expression", place=Place(int(spot[2]), int(spot[3]) + 1, text))
