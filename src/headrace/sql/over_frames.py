"""Which rows an OVER clause looks at, as settings of the operators that do."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from headrace.errors import InvalidInput, InvalidSyntax
from headrace.graph.document import Json
from headrace.operators.durations import canonical_duration_of
from headrace.sql.language.durations import interval_ms
from headrace.sql.language.tree import Bound, Expression, Over
from headrace.sql.over_calls import FRAMELESS, FRAMES, NUMBERS, OverCall
from headrace.sql.ranking import BOUND
from headrace.sql.steps import EVENT_TIME, Writer


@dataclass(frozen=True, slots=True)
class Looked:
    """Which rows a call looks at: the operator for that, its settings, and whether all rows so far are those by `rows`
    or by `range`; None where it makes no difference."""

    operator: str
    settings: dict[str, Json]
    running: str | None = None

    def with_(self, other: Looked) -> Looked | None:
        """Both in one operator, if that can be."""
        if (self.operator, self.settings) != (other.operator, other.settings):
            return None
        if None not in (self.running, other.running) and self.running != other.running:
            return None
        return Looked(self.operator, self.settings, self.running or other.running)

    @property
    def config(self) -> dict[str, Json]:
        # By range is the default.
        return {**self.settings, **({"frame": "rows"} if self.running == "rows" else {})}


def looked_at(writer: Writer, call: OverCall) -> Looked:
    """By event time. Raises InvalidSyntax for rows that no operator looks at."""
    over = call.over
    settings: dict[str, Json] = {"time": _time(writer, call)}
    if over.partition:
        settings["keys"] = [column_of(writer, key) for key in over.partition]
    if isinstance(call.tree, FRAMELESS):
        _refuse_frame(writer, call)
        return Looked("over-running", settings)
    if over.expire_after is None and over.buffer_rows is None and _begins_before_all(over) and _ends_here(over):
        return Looked("over-running", settings, "range" if over.frame is None else over.frame.unit)
    return Looked("over-window", {**bounded_frame(writer, over), **settings})


def bounded_frame(writer: Writer, over: Over) -> dict[str, Json]:
    """Raises InvalidSyntax for a frame without a bound, or one that reaches forward."""
    frame = over.frame
    if over.buffer_rows is not None and frame is None and over.expire_after is None:
        return {"rows": max(0, over.buffer_rows - 1)}
    if frame is None or over.expire_after is not None or not _ends_here(over):
        raise _refused(writer, over)
    amount = _amount(frame.start)
    if frame.unit == "rows" and isinstance(amount, exp.Literal) and amount.is_int:
        return {"rows": int(amount.name)}
    if frame.unit == "range" and isinstance(amount, exp.Interval):
        return {"within": _duration(writer, over, amount)}
    raise _refused(writer, over)


def column_of(writer: Writer, expression: Expression) -> str:
    name = writer.column(expression)
    if name is None:
        hint = "give it a name in a query inside"
        raise writer.script.error("PARTITION BY and ORDER BY of OVER take columns", expression.span, hint=hint)
    return name


def _time(writer: Writer, call: OverCall) -> str:
    over, event_time = call.over, writer.names.event_time
    if len(over.order) != 1 or over.order[0].descending:
        if isinstance(call.tree, NUMBERS):
            raise _unbounded_rank(writer, call)
        hint = "write ORDER BY and the event time of the rows"
        raise writer.script.error("OVER goes by event time, from the earliest row", over.span, hint=hint)
    name = column_of(writer, over.order[0].expression)
    if event_time is not None and name.lower() == EVENT_TIME:
        return event_time
    if event_time is not None and name.lower() != event_time.lower() and isinstance(call.tree, NUMBERS):
        raise _unbounded_rank(writer, call)
    return name


def _unbounded_rank(writer: Writer, call: OverCall) -> InvalidSyntax:
    message = f"{call.name}() without a bound goes by event time: by anything else a row could change all other numbers"
    hint = BOUND if isinstance(call.tree, exp.RowNumber) else "write ORDER BY and the event time of the rows"
    return writer.script.error(message, call.span, hint=hint)


def _refuse_frame(writer: Writer, call: OverCall) -> None:
    over = call.over
    if over.frame is not None or over.buffer_rows is not None or over.expire_after is not None:
        hint = "leave out what follows ORDER BY"
        raise writer.script.error(f"{call.name} looks at its own rows, and takes no frame", over.span, hint=hint)


def _begins_before_all(over: Over) -> bool:
    return over.frame is None or over.frame.start.kind == "unbounded preceding"


def _ends_here(over: Over) -> bool:
    return over.frame is None or over.frame.end is None or over.frame.end.kind == "current row"


def _refused(writer: Writer, over: Over) -> InvalidSyntax:
    """What to raise for a frame that no operator has, by the part that is too much."""
    frame = over.frame
    if over.expire_after is not None:
        reason = "EXPIRE AFTER is none of its bounds"
    elif frame is not None and "following" in frame.start.kind + (frame.end.kind if frame.end else ""):
        reason = "what follows a row is not there yet; LAG lets the rows that follow see this one"
    elif not _ends_here(over):
        reason = "they end with the row itself"
    elif _begins_before_all(over):
        reason = "without a bound it would keep all of them for ever"
    else:
        reason = "ROWS takes a number, RANGE an interval"
    return writer.script.error(f"OVER looks at rows before each row: {reason}", over.span, hint=FRAMES)


def _amount(start: Bound) -> exp.Expr | None:
    if start.kind == "current row":
        return exp.Literal.number(0)
    return start.amount.tree if start.kind == "preceding" and start.amount is not None else None


def _duration(writer: Writer, over: Over, interval: exp.Interval) -> str:
    try:
        return canonical_duration_of(interval_ms(interval.sql(dialect="spark")))
    except InvalidInput as error:
        raise writer.script.error(error.message, over.span, hint=error.hint) from error
