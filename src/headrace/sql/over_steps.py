"""A SELECT with aggregates over the rows before each: `avg(x) OVER (PARTITION BY k ORDER BY ts ROWS 5 PRECEDING)`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlglot import exp

from headrace.errors import InvalidInput, InvalidSyntax
from headrace.graph.document import Json
from headrace.operators.durations import canonical_duration_of
from headrace.sql.changes import Changes, require_ids
from headrace.sql.language.dialect import OVER_AGGREGATES
from headrace.sql.language.durations import interval_ms
from headrace.sql.language.script import Script
from headrace.sql.language.tree import Bound, Expression, Item, Over, Select
from headrace.sql.language.values import print_name
from headrace.sql.steps import Names, Piece, Step, Writer, filter_steps

_FRAMES = "ROWS BETWEEN 9 PRECEDING AND CURRENT ROW, or RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW"


def is_over(item: Item) -> bool:
    """Whether an item is an aggregate over the rows before each row."""
    tree = item.expression.tree
    return isinstance(tree, exp.Window) and isinstance(tree.this, OVER_AGGREGATES)


def over_steps(script: Script, select: Select, names: Names, late: Mapping[str, Json]) -> list[Step]:
    """By event time; `late` are settings for rows that come too late.

    Raises InvalidSyntax where not all items look at the same rows, or at rows that no operator looks at.
    """
    writer, over = Writer(script, names), _over(script, select)
    return _steps(writer, select, over, "over-window", {**_by_time(writer, over), **late})


def over_latest_steps(script: Script, select: Select, names: Names, changes: Changes) -> list[Step]:
    """The same over rows that are changes: the latest of each counts."""
    writer, over = Writer(script, names), _over(script, select)
    return _steps(writer, select, over, "over-latest", _among_latest(writer, select, over, changes))


def _over(script: Script, select: Select) -> Over:
    overs = [item for item in select.items if is_over(item)]
    for item in overs:
        if item.expression.overs[0] != overs[0].expression.overs[0]:
            hint = "put the other one into a query around this one"
            raise script.error("one SELECT looks at the same rows with every OVER", item.span, hint=hint)
    return overs[0].expression.overs[0]


def _steps(writer: Writer, select: Select, over: Over, operator: str, config: dict[str, Json]) -> list[Step]:
    aggregates = [_aggregate(writer, item) for item in select.items if is_over(item)]
    if over.partition:
        config["keys"] = [_column(writer, key) for key in over.partition]
    config["aggregates"] = [piece.text for piece in aggregates]
    order = [Piece(_column(writer, key.expression), key.expression.span) for key in over.order]
    step = Step("over", operator, config, (*aggregates, *order))
    return [*filter_steps(writer, select), step, *_columns(writer, select)]


def _by_time(writer: Writer, over: Over) -> dict[str, Json]:
    return {**_frame(writer, over), "time": _time(writer, over)}


def _among_latest(writer: Writer, select: Select, over: Over, changes: Changes) -> dict[str, Json]:
    """Rows that are changes: each takes the place of the one before it with the same ids."""
    using = [*over.partition, *([] if select.condition is None else [select.condition])]
    ids, frame = require_ids(writer, changes, using, select.items[0].span), _frame(writer, over)
    if "rows" not in frame or not over.order or any(key.descending for key in over.order):
        hint = f"write ORDER BY and columns, then {_FRAMES.partition(',')[0]}"
        raise writer.script.error(
            "over rows that are changes OVER looks at so many rows before each", over.span, hint=hint
        )
    return {"ids": list[Json](ids), "by": [_column(writer, key.expression) for key in over.order], **frame}


def _columns(writer: Writer, select: Select) -> list[Step]:
    texts = [_name(writer, item) if is_over(item) else _text(writer, item) for item in select.items]
    named = [_name(writer, item) for item in select.items if is_over(item)]
    if texts == ["*", *named]:
        # What the window puts out as it is.
        texts = ["*"]
    pieces = tuple(Piece(text, item.span) for text, item in zip(texts, select.items, strict=False))
    return [] if texts == ["*"] else [Step("select", "select", {"columns": list[Json](texts)}, pieces)]


def _text(writer: Writer, item: Item) -> str:
    return writer.text(item.expression, item.text, item.span)


def _name(writer: Writer, item: Item) -> str:
    if item.alias is None:
        raise writer.script.error("an aggregate with OVER needs a name", item.span, hint=f"write {item.text} AS name")
    return print_name(item.alias.text)


def _aggregate(writer: Writer, item: Item) -> Piece:
    """The call itself stands before the word OVER."""
    expression = item.expression
    call = re.sub(r"\s*\bOVER\s*\($", "", str(expression.pieces[0]), flags=re.IGNORECASE)
    text = writer.text(expression, call, expression.span)
    return Piece(f"{text} AS {_name(writer, item)}", item.span)


def _time(writer: Writer, over: Over) -> str:
    if len(over.order) != 1 or over.order[0].descending:
        hint = "write ORDER BY and the event time of the rows"
        raise writer.script.error("OVER goes by event time, from the earliest row", over.span, hint=hint)
    return _column(writer, over.order[0].expression)


def _frame(writer: Writer, over: Over) -> dict[str, Json]:
    frame = over.frame
    if over.buffer_rows is not None and frame is None and over.expire_after is None:
        return {"rows": max(0, over.buffer_rows - 1)}
    if frame is None or over.expire_after is not None or (frame.end is not None and frame.end.kind != "current row"):
        raise _unbounded(writer, over)
    amount = _amount(frame.start)
    if frame.unit == "rows" and isinstance(amount, exp.Literal) and amount.is_int:
        return {"rows": int(amount.name)}
    if frame.unit == "range" and isinstance(amount, exp.Interval):
        return {"within": _duration(writer, over, amount)}
    raise _unbounded(writer, over)


def _unbounded(writer: Writer, over: Over) -> InvalidSyntax:
    """What to raise for a frame that no operator has, by the part that is too much."""
    frame = over.frame
    if over.expire_after is not None:
        reason = "EXPIRE AFTER is none of its bounds"
    elif frame is not None and frame.end is not None and frame.end.kind != "current row":
        reason = "what follows a row is not there yet"
    elif frame is None or frame.start.kind == "unbounded preceding":
        reason = "without a bound it would keep all of them for ever"
    else:
        reason = "ROWS takes a number, RANGE an interval"
    message = f"OVER looks at a bounded number of rows before each row: {reason}"
    return writer.script.error(message, over.span, hint=_FRAMES)


def _amount(start: Bound) -> exp.Expr | None:
    if start.kind == "current row":
        return exp.Literal.number(0)
    return start.amount.tree if start.kind == "preceding" and start.amount is not None else None


def _duration(writer: Writer, over: Over, interval: exp.Interval) -> str:
    try:
        return canonical_duration_of(interval_ms(interval.sql(dialect="spark")))
    except InvalidInput as error:
        raise writer.script.error(error.message, over.span, hint=error.hint) from error


def _column(writer: Writer, expression: Expression) -> str:
    name = writer.column(expression)
    if name is None:
        hint = "give it a name in a query inside"
        raise writer.script.error("PARTITION BY and ORDER BY of OVER take columns", expression.span, hint=hint)
    return name
