"""Plain functions as operators: decorate one with `@per_row` or `@per_batch`.

@per_row
def alert(trade: Trade) -> Alert | None:
    return Alert(trade.symbol) if trade.price > 100 else None
"""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

import pyarrow as pa

from headrace.errors import InvalidInput
from headrace.serial.batch import Batch
from headrace.serial.contract import Operator
from headrace.serial.row_types import batch_from, rows_from, schema_of

A = TypeVar("A")
B = TypeVar("B")


class RowFunction(Generic[A, B]):
    """A function of one row: returns a row, None to leave it out, or several. Can still be called as a function."""

    def __init__(self, function: Callable[[A], B | Iterable[B] | None]) -> None:
        self.function = function
        self.__doc__ = function.__doc__
        self.takes, self.gives = _row_types(function)

    def __call__(self, row: A) -> B | Iterable[B] | None:
        return self.function(row)

    @property
    def input_schema(self) -> pa.Schema:
        return schema_of(self.takes)

    @property
    def output_schema(self) -> pa.Schema:
        return schema_of(self.gives)

    def operator(self) -> Operator:
        return _PerRow(self)


class BatchFunction:
    """A function of an Arrow batch: returns one, or None to leave all out. Rows must not depend on each other."""

    def __init__(self, function: Callable[[pa.RecordBatch], pa.RecordBatch | None], columns: pa.Schema | None) -> None:
        self.function = function
        self.__doc__ = function.__doc__
        self.output_schema = columns
        """None: the columns stay as they are."""

    def __call__(self, rows: pa.RecordBatch) -> pa.RecordBatch | None:
        return self.function(rows)

    def operator(self) -> Operator:
        return _PerBatch(self)


def per_row(function: Callable[[A], B | Iterable[B] | None]) -> RowFunction[A, B]:
    """Makes an operator of a function from one dataclass to another. Raises InvalidInput without type hints."""
    return RowFunction(function)


def per_batch(*, columns: pa.Schema | type | None = None) -> Callable[..., BatchFunction]:
    """Makes an operator of a function of Arrow batches; `columns` says what comes out, if not what goes in."""
    schema = schema_of(columns) if isinstance(columns, type) else columns
    return lambda function: BatchFunction(function, schema)


class _PerRow(Operator):
    stateless = True

    def __init__(self, function: RowFunction[Any, Any]) -> None:
        self._function = function
        self._schema = function.output_schema

    def process(self, batch: Batch) -> Iterable[Batch]:
        made: list[Any] = []
        for row in rows_from(batch.rows, self._function.takes):
            result = self._function.function(row)
            if result is not None:
                made.extend(result if isinstance(result, Iterable) else (result,))
        return [Batch(batch_from(made, self._schema), private=True)] if made else []


class _PerBatch(Operator):
    stateless = True

    def __init__(self, function: BatchFunction) -> None:
        self._function = function

    def process(self, batch: Batch) -> Iterable[Batch]:
        made = self._function.function(batch.rows)
        if made is None:
            return []
        return [batch.to("out")] if made is batch.rows else [Batch(made)]


def _row_types(function: Callable[..., object]) -> tuple[type, type]:
    hints = get_type_hints(function)
    names = list(inspect.signature(function).parameters)
    if len(names) != 1 or names[0] not in hints or "return" not in hints:
        name = getattr(function, "__qualname__", repr(function))
        raise InvalidInput(f"{name} takes and gives unknown rows", hint="def f(row: Trade) -> Alert | None: …")
    return _row_type(hints[names[0]]), _row_type(hints["return"])


def _row_type(hint: Any) -> type:
    """The dataclass in `Row`, `Row | None` or `Iterable[Row]`."""
    if get_origin(hint) in (Union, types.UnionType):
        (hint,) = (part for part in get_args(hint) if part is not type(None))
    elif get_origin(hint) is not None:
        hint = get_args(hint)[0]
    if not (isinstance(hint, type) and dataclasses.is_dataclass(hint)):
        raise InvalidInput(f"{hint!r} is no dataclass", hint="rows are described by dataclasses")
    return hint
