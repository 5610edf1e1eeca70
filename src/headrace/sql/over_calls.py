"""Calls with OVER in a SELECT list: what is called, with which arguments, and which functions can be.

Arguments that are no columns are computed before the rows are looked at, and so are conditions of FILTER:
sum(price * amount) FILTER (WHERE ok) becomes sum(value) over the column CASE WHEN ok THEN price * amount END AS value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from headrace.errors import InvalidSyntax
from headrace.sql.language.cursor import NESTING
from headrace.sql.language.dialect import is_column, is_star, span_of_call, spelled
from headrace.sql.language.script import Script, Span
from headrace.sql.language.tree import Expression, Item, Over
from headrace.sql.steps import Writer

AGGREGATES: Final = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max)
PICKS: Final = (exp.FirstValue, exp.First, exp.LastValue, exp.Last)
NUMBERS: Final = (exp.RowNumber, exp.Rank, exp.DenseRank)
# Those that look at rows one by one, whatever a frame says.
FRAMELESS: Final = (exp.Lag, *NUMBERS)
FUNCTIONS: Final = (
    "count", "sum", "avg", "min", "max", "first_value", "last_value", "lag", "row_number", "rank", "dense_rank",
)  # fmt: skip
FRAMES: Final = (
    "OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 9 PRECEDING AND CURRENT ROW), or RANGE BETWEEN INTERVAL '1' HOUR "
    "PRECEDING AND CURRENT ROW; without a frame, all rows so far"
)
_FILTERED: Final = "LAST_VALUE(CASE WHEN … THEN x END) IGNORE NULLS takes some rows only"
_ALL_ROWS: Final = (exp.Ntile, exp.PercentRank, exp.CumeDist)


@dataclass(frozen=True, slots=True)
class OverCall:
    """`function(arguments) [FILTER …] OVER (…)`; `tree` is the function itself, `whole` with what is around it.

    `call` is the part of the script before OVER, `span` all of it.
    """

    tree: exp.Expr
    whole: exp.Expr
    over: Over
    call: Span
    span: Span

    @property
    def name(self) -> str:
        return spelled(self.tree).partition("(")[0].upper()

    @property
    def condition(self) -> exp.Expr | None:
        """Of FILTER."""
        return self.whole.expression.this if isinstance(self.whole, exp.Filter) else None


def is_over(item: Item) -> bool:
    """Whether an item looks at the rows before each row."""
    return item.expression.tree.find(exp.Window) is not None


def over_calls(script: Script, item: Item) -> list[OverCall]:
    """From left to right. Raises InvalidSyntax for what cannot be called so."""
    windows = sorted(item.expression.tree.find_all(exp.Window), key=lambda window: span_of_call(window).start)
    if any(window.find_ancestor(exp.Window) for window in windows):
        hint = "put the inner one into a query inside: FROM (SELECT *, lag(x) OVER (…) AS y FROM …) AS z"
        raise script.error("a function with OVER cannot stand inside of another", item.span, hint=hint)
    if len(windows) != len(item.expression.overs):
        raise script.error("OVER stands before brackets: windows have no names", item.span, hint=FRAMES)
    return [_call(script, window, over) for window, over in zip(windows, item.expression.overs, strict=True)]


def _call(script: Script, window: exp.Window, over: Over) -> OverCall:
    whole, span = window.this, span_of_call(window)
    tree = whole
    while isinstance(tree, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
        tree = tree.this
    before = Span(span.start, span.start + len(script.slice(Span(span.start, over.span.start)).rstrip()))
    call = OverCall(tree, whole, over, before, span)
    if refused := _refused(script, call):
        raise refused
    return call


def _refused(script: Script, call: OverCall) -> InvalidSyntax | None:
    """What to raise for a call that cannot run, by its name."""
    tree, name, span = call.tree, call.name, call.span
    if isinstance(tree, exp.Lead):
        hint = "write LAG: the row that follows sees this one, and can say what this one would have"
        return script.error("LEAD looks at what follows a row, and that is not there yet", span, hint=hint)
    if isinstance(tree, _ALL_ROWS):
        hint = "RANK() and count(*) OVER (PARTITION BY k ORDER BY ts) tell the place and the number of rows so far"
        return script.error(f"{name} needs the number of all rows, and a stream has no end", span, hint=hint)
    if isinstance(tree, exp.NthValue):
        hint = "FIRST_VALUE, LAST_VALUE and LAG take one of the rows"
        return script.error("NTH_VALUE with an OVER window cannot run yet", span, hint=hint)
    if not isinstance(tree, AGGREGATES + PICKS + FRAMELESS):
        return script.error(f"{name} with an OVER window cannot run yet", span, valid=FUNCTIONS)
    if tree.find(exp.Distinct):
        hint = "count(DISTINCT x) stands beside GROUP BY, with or without a window"
        return script.error("DISTINCT cannot stand with OVER: it would keep every value for ever", span, hint=hint)
    if isinstance(tree, AGGREGATES) and tree.args.get("expressions"):
        return script.error(f"{name} with OVER takes one argument", span)
    if call.condition is not None and not isinstance(tree, AGGREGATES):
        return script.error(f"FILTER cannot stand with {name}: it is for aggregates", span, hint=_FILTERED)
    return None


def value_of(writer: Writer, call: OverCall) -> str | None:
    """What the function is called with where that has to be computed first; None for a column, for * and for none."""
    argument, condition = call.tree.args.get("this"), call.condition
    is_plain = argument is None or is_column(argument) or is_star(argument)
    if condition is None and is_plain:
        return None
    arguments, rest = _parts(writer.script, call)
    text = "1" if argument is None or is_star(argument) else _text(writer, arguments[0], argument)
    if condition is None:
        return text
    # Behind the arguments stands FILTER (WHERE …).
    asked = _text(writer, Span(rest[3].start, rest[-1].start), condition)
    return f"CASE WHEN {asked} THEN {text} END"


def call_text(writer: Writer, call: OverCall, value: str | None) -> str:
    """The call before OVER, with the column `value` in the place of its first argument."""
    if value is None:
        return _text(writer, call.call, call.whole)
    arguments, _ = _parts(writer.script, call)
    opening = writer.script.slice(Span(call.call.start, arguments[0].start))
    behind = ")" if call.condition is not None else writer.script.slice(Span(arguments[0].end, call.call.end))
    return f"{opening}{value}{behind}"


def _text(writer: Writer, span: Span, tree: exp.Expr) -> str:
    text = writer.script.slice(span)
    return writer.expression(Expression(text, span, tree, (text,))).rstrip()


def _parts(script: Script, call: OverCall) -> tuple[list[Span], list[Token]]:
    """Where the arguments of the function stand, and the tokens behind their bracket."""
    tokens = [token for token in script.tokens if call.call.start <= token.start < call.call.end]
    found: list[Span] = []
    part: list[Token] = []
    depth = 0
    for index, token in enumerate(tokens):
        if depth == 1 and token.token_type in (TokenType.COMMA, TokenType.R_PAREN):
            found += [Span(part[0].start, part[-1].end + 1)] if part else []
            part = []
        elif depth:
            part.append(token)
        depth += NESTING.get(token.token_type, 0)
        if found and not depth:
            return found, tokens[index + 1 :]
    return found, []
