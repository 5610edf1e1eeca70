"""Typed pipelines: rows are dataclasses, and a step that does not fit is found by mypy, and when the pipeline is built.

@dataclass
class Trade:
    symbol: str
    price: float

@per_row
def alert(trade: Trade) -> Alert | None: ...

trades: Stream[Trade] = topic_of(pipeline, Trade, "trades")
alerts: Stream[Alert] = trades.map(alert)
alerts.rows.to_topic("alerts")

Begin untyped and say later what rows are: `typed(stream, Trade)`; go on untyped from any place: `trades.rows`.
"""

from __future__ import annotations

from typing import Any, Generic, Literal, TypeVar

from headrace.errors import InvalidGraph, InvalidInput
from headrace.graph import Stream as Rows
from headrace.graph.document import Json
from headrace.graph.schema import Schema
from headrace.graph.validation import inspect
from headrace.operators.arrow_types import schema_from_arrow
from headrace.pipeline import Pipeline
from headrace.serial import RowFunction, schema_of

__all__ = ["Stream", "topic_of", "typed"]

A = TypeVar("A")
B = TypeVar("B")


class Stream(Generic[A]):
    """Rows of which each is an `A`."""

    def __init__(self, pipeline: Pipeline, rows: Rows, row: type[A]) -> None:
        self.rows = rows
        """The same stream without its type: it has all steps."""
        self.row = row
        self._pipeline = pipeline

    def filter(self, condition: str, *, id: str | None = None) -> Stream[A]:
        """Keeps the rows for which a SQL condition holds."""
        return Stream(self._pipeline, self.rows.filter(condition, id=id), self.row)

    def map(
        self,
        function: RowFunction[A, B],
        *,
        on_error: Literal["fail", "drop", "dead_letter"] = "fail",
        retries: int = 0,
        dead_letter: str | None = None,
        id: str | None = None,
    ) -> Stream[B]:
        """Calls a function that was decorated with `@per_row`, at the top level of a module.

        With `headrace.local()` it may also be one of the script or of a notebook's cells.

        Raises InvalidInput for one that takes other rows, or cannot be found by its name.
        """
        place = _place(function)
        made = self.rows.python(place, on_error=on_error, retries=retries, dead_letter=dead_letter, id=id)
        _require_columns(_schema_at(self._pipeline, self.rows), function.takes, place)
        return Stream(self._pipeline, made, function.gives)


def topic_of(pipeline: Pipeline, row: type[A], topic: str, *, id: str | None = None, **settings: Json) -> Stream[A]:
    """Rows of a topic whose columns are the fields of a dataclass; settings are those of the operator `topic`."""
    columns = str(schema_from_arrow(schema_of(row)))
    return Stream(pipeline, pipeline.add("topic", id=id, topic=topic, schema=columns, **settings), row)


def typed(pipeline: Pipeline, rows: Rows, row: type[A]) -> Stream[A]:
    """Says what the rows of a stream are. Raises InvalidInput where a field is no column of it, or of another type."""
    _require_columns(_schema_at(pipeline, rows), row, row.__name__)
    return Stream(pipeline, rows, row)


def _schema_at(pipeline: Pipeline, rows: Rows) -> Schema:
    """The columns that leave a node, as far as the pipeline is built. Raises InvalidGraph if they cannot be told."""
    found = inspect(pipeline.document(), pipeline.catalogue)
    if rows.id not in found.schemas:
        raise InvalidGraph(found.problems)
    return found.schemas[rows.id]


def _require_columns(schema: Schema, row: type, what: str) -> None:
    for field in schema_from_arrow(schema_of(row)):
        found = schema.require(field.name)
        if found.type != field.type:
            raise InvalidInput(f"{what} has {field.name!r} as {field.type}, and the column is {found.type}")


def _place(function: RowFunction[Any, Any]) -> str:
    inner = function.function
    module, name = inner.__module__, getattr(inner, "__qualname__", "")
    if "<" in name or not name:
        hint = "define it at the top level of a module, a script or a notebook"
        raise InvalidInput(f"workers cannot find {name or inner!r} of {module}", hint=hint)
    return f"{module}:{name}"
