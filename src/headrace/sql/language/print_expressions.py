"""Expressions as they were written, with the queries and OVER clauses inside them in the one notation."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from headrace.sql.language.durations import print_duration
from headrace.sql.language.tree import Bound, Expression, Frame, Item, Over, Query, SortKey
from headrace.sql.language.values import print_name, print_string


class ExpressionPrinter:
    """Prints expressions; the queries inside them are left to `print_query`."""

    def __init__(self, print_query: Callable[[Query], str]) -> None:
        self._print_query = print_query

    def expression(self, expression: Expression) -> str:
        return "".join(self._piece(piece) for piece in expression.pieces)

    def expressions(self, expressions: Iterable[Expression]) -> str:
        return ", ".join(map(self.expression, expressions))

    def item(self, item: Item) -> str:
        alias = f" AS {print_name(item.alias.text)}" if item.alias else ""
        return f"{self.expression(item.expression)}{alias}{' PRIMARY KEY' if item.is_key else ''}"

    def sort_keys(self, keys: Iterable[SortKey]) -> str:
        return ", ".join(map(self._sort_key, keys))

    def _piece(self, piece: str | Query | Over) -> str:
        match piece:
            case Query():
                return self._print_query(piece)
            case Over():
                return self._over(piece)
            case _:
                return piece

    def _sort_key(self, key: SortKey) -> str:
        direction = " DESC" if key.descending else ""
        nulls = f" NULLS {key.nulls.upper()}" if key.nulls else ""
        return f"{self.expression(key.expression)}{direction}{nulls}"

    def _over(self, over: Over) -> str:
        parts = []
        if over.buffer_rows is not None:
            parts.append(f"ROWS WINDOW BUFFER {over.buffer_rows} ROWS")
        if over.partition:
            parts.append(f"PARTITION BY {self.expressions(over.partition)}")
        if over.order:
            parts.append(f"ORDER BY {self.sort_keys(over.order)}")
        if over.frame:
            parts.append(self._frame(over.frame))
        if over.expire_after is not None:
            parts.append(f"EXPIRE AFTER {printed_duration(over.expire_after)}")
        return " ".join(parts)

    def _frame(self, frame: Frame) -> str:
        start = self._bound(frame.start)
        bounds = start if frame.end is None else f"BETWEEN {start} AND {self._bound(frame.end)}"
        return f"{frame.unit.upper()} {bounds}"

    def _bound(self, bound: Bound) -> str:
        amount = "" if bound.amount is None else f"{self.expression(bound.amount)} "
        return f"{amount}{bound.kind.upper()}"


def printed_duration(duration: str) -> str:
    """A duration that is read back as it is, also in a spelling of its own."""
    return print_duration(duration) or print_string(duration)
