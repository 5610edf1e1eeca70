"""Expressions read by sqlglot's Spark parser. The only file that touches the parser's inner methods.

Statements are ours (see `parser`), so an expression ends where Spark's grammar says it ends: `EMIT`, `WINDOW` and
other words of ours are never taken for an alias.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from headrace.errors import InvalidSyntax, did_you_mean
from headrace.graph.schema import TYPE_NAMES
from headrace.operators.expressions import aggregates
from headrace.sql.language.script import Script, Span, span_of
from headrace.sql.language.tree import Expression, Name

# What the parser says of a text that it cannot read.
_TOO_MANY = re.compile(r"provided arguments \((?P<given>\d+)\) is greater than the maximum .* \((?P<most>\d+)\)")
_EXPECTED = re.compile(r"Expect(?:ed|ing) (?P<word>[A-Z]+|[)\]])(?: after [A-Z]+)?$")

_SPAN = "headrace_span"
_NAME = "headrace_name"


class _ExpressionParser(SparkParser):
    """Reads one expression from the start of a token list and says how many tokens it took."""

    def read(self, text: str, tokens: list[Token]) -> tuple[exp.Expr | None, int]:
        self.reset()
        self.sql = text
        self._tokens = tokens
        self._tokens_size = len(tokens)
        self._index = -1
        self._advance()
        tree = self._parse_disjunction()
        return tree, self._index

    def failed_at(self) -> int:
        return max(0, self._index)

    def _parse_function_call(self, *args: Any, **options: Any) -> exp.Expr | None:
        first = self._index
        call = super()._parse_function_call(*args, **options)
        if call is not None and self._index > first:
            name = self._tokens[first]
            call.meta[_SPAN] = Span(name.start, self._tokens[self._index - 1].end + 1)
            if self._tokens[first + 1].token_type is TokenType.L_PAREN:
                call.meta[_NAME] = name
        return call


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens to read an expression from, and the index in the script that each one stands for."""

    tokens: list[Token]
    indexes: list[int]


def read_tree(script: Script, given: Tokens, stop: int) -> tuple[exp.Expr, int]:
    """The expression that the tokens begin with, and the index in the script of the token after it.

    Raises InvalidSyntax where no expression stands, or where it breaks off before token `stop`.
    """
    parser = _ExpressionParser(dialect=Spark())
    indexes = [*given.indexes, stop]
    start = indexes[0]
    try:
        tree, count = parser.read(script.text, given.tokens)
    except ParseError as error:
        spot = indexes[min(parser.failed_at(), len(given.tokens))]
        raise _unreadable(script, str(error.errors[0]["description"]), spot, stop) from error
    except RecursionError as error:
        raise script.error("the expression is nested too deeply", script.spot(start, stop)) from error
    if tree is None or count == 0:
        raise script.error(f"expected an expression but found {script.describe(start, stop)}", script.spot(start, stop))
    return tree, indexes[count]


def _unreadable(script: Script, cause: str, index: int, stop: int) -> InvalidSyntax:
    """What to raise where Spark's grammar cannot go on, in words of ours."""
    spot, found = script.spot(index, stop), script.describe(index, stop)
    if too_many := _TOO_MANY.search(cause):
        return script.error(f"this call has {too_many['given']} arguments, and takes {too_many['most']} at most", spot)
    if "TYPE" in cause:
        word = script.slice(spot)
        return script.error(
            f"unknown type {word!r}", spot, valid=TYPE_NAMES, hint=did_you_mean(word.upper(), TYPE_NAMES)
        )
    if expected := _EXPECTED.search(cause):
        return script.error(f"expected {expected['word']} but found {found}", spot)
    if index >= stop:
        return script.error("the expression breaks off here", spot)
    if script.slice(spot) == ")":
        return script.error("something is missing before ')': an argument or a value", spot)
    return script.error(f"the expression cannot be read on from {found}", spot)


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """A call of an aggregate function; `spelled` is equal for calls that mean the same."""

    span: Span
    spelled: str
    tree: exp.Expr


def aggregates_in(tree: exp.Expr) -> tuple[AggregateCall, ...]:
    """The calls of aggregate functions, outermost only, from left to right."""
    calls = [
        AggregateCall(span_of_call(whole), spelled(whole), whole) for whole in map(_with_clauses, aggregates(tree))
    ]
    outermost: list[AggregateCall] = []
    for call in sorted(calls, key=lambda call: (call.span.start, -call.span.end)):
        if not outermost or call.span.start >= outermost[-1].span.end:
            outermost.append(call)
    return tuple(outermost)


def has_aggregate_inside(call: AggregateCall) -> bool:
    """Whether an argument of an aggregate, or the condition of its FILTER, holds another one."""
    return len(list(aggregates(call.tree))) > 1


def columns_in(tree: exp.Expr, qualifiers: frozenset[str]) -> tuple[tuple[str, Span], ...]:
    """The columns that an expression names, and where; of `position.altitude` it is `position`."""
    columns = [column for column in tree.find_all(exp.Column) if is_column(column)]
    firsts = [_unqualified(column, qualifiers)[0] for column in columns]
    return tuple((first.name, Span(first.meta["start"], first.meta["end"] + 1)) for first in firsts)


def bare_columns_in(tree: exp.Expr, qualifiers: frozenset[str]) -> tuple[tuple[str, Span], ...]:
    """Those that no qualifier stands before, and where."""
    qualified = {one.column_span for one in qualified_in(tree, qualifiers)}
    return tuple((name, span) for name, span in columns_in(tree, qualifiers) if span not in qualified)


def plain_column(tree: exp.Expr, qualifiers: frozenset[str]) -> str | None:
    """The name, if the expression is nothing but a column."""
    if not is_column(tree) or not isinstance(tree, exp.Column):
        return None
    parts = _unqualified(tree, qualifiers)
    return parts[0].name if len(parts) == 1 else None


def plain_name(expression: Expression) -> Name | None:
    """The last part of a column's name, if the expression is nothing but a column."""
    return Name(expression.tree.name, expression.span) if is_column(expression.tree) else None


def functions_in(tree: exp.Expr) -> tuple[tuple[str, Span], ...]:
    """The functions that an expression calls, as written, and where."""
    names: list[Token] = [node.meta[_NAME] for node in tree.walk() if _NAME in node.meta]
    return tuple((name.text, span_of(name)) for name in names)


def calls_in(tree: exp.Expr) -> tuple[tuple[Span, exp.Expr], ...]:
    """Where functions are called, and each call."""
    return tuple((node.meta[_SPAN], node) for node in tree.walk() if _SPAN in node.meta)


def spelled(tree: exp.Expr) -> str:
    """One spelling for expressions that differ in spaces and in the case of keywords only."""
    return tree.sql(dialect=Spark(), comments=False)


@dataclass(frozen=True, slots=True)
class Qualified:
    """`qualifier.column`, the qualifier in lower case; `span` is both, without fields of the column behind them."""

    qualifier: str
    column: str
    span: Span
    column_span: Span


def qualified_in(tree: exp.Expr, names: frozenset[str]) -> tuple[Qualified, ...]:
    """Where columns are written `name.column` with one of the names (in lower case)."""
    found = [_qualified(column) for column in tree.find_all(exp.Column) if len(column.parts) > 1]
    return tuple(one for one in found if one.qualifier in names)


def refused_in(tree: exp.Expr) -> str | None:
    """What the expression holds that a pipeline cannot run, in words; None if nothing."""
    for node in tree.walk():
        if isinstance(node, (exp.Parameter, exp.Placeholder)):
            return "a parameter"
    return None


def is_column(tree: exp.Expr) -> bool:
    return isinstance(tree, exp.Column) and not isinstance(tree.this, exp.Star)


def is_star(tree: exp.Expr) -> bool:
    return isinstance(tree, exp.Star) or (isinstance(tree, exp.Column) and isinstance(tree.this, exp.Star))


def _with_clauses(call: exp.Expr) -> exp.Expr:
    """The call together with its FILTER or IGNORE NULLS, which wrap it in the tree."""
    while isinstance(call.parent, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup)):
        call = call.parent
    return call


def span_of_call(call: exp.Expr) -> Span:
    """Where a call of a function stands, its OVER included."""
    node: exp.Expr | None = call
    while node is not None and _SPAN not in node.meta:
        node = node.parent
    if node is None:
        raise AssertionError(f"a call without a place: {call!r}")
    span: Span = node.meta[_SPAN]
    return span


def _unqualified(column: exp.Column, qualifiers: frozenset[str]) -> list[exp.Expr]:
    parts = column.parts
    return parts[1:] if len(parts) > 1 and parts[0].name.lower() in qualifiers else parts


def _qualified(column: exp.Column) -> Qualified:
    first, second = column.parts[0], column.parts[1]
    own = Span(second.meta["start"], second.meta["end"] + 1)
    return Qualified(first.name.lower(), second.name, Span(first.meta["start"], own.end), own)
