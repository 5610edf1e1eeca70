"""Plain functions as operators: decorate one with `@per_row` or `@per_batch`.

@per_row
def alert(trade: Trade) -> Alert | None:
    return Alert(trade.symbol) if trade.price > 100 else None

A second parameter `settings`, which is a dataclass, gets the settings of the node.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Concatenate, Generic, TypeVar, Union, get_args, get_origin, get_type_hints, overload

import pyarrow as pa

from headrace.errors import InvalidInput
from headrace.serial.batch import Batch
from headrace.serial.contract import Operator
from headrace.serial.parameters import SETTINGS, settings_type_of
from headrace.serial.row_types import batch_from, rows_from, schema_of

A = TypeVar("A")
B = TypeVar("B")


class RowFunction(Generic[A, B]):
    """A function of one row: returns a row, None to leave it out, or several. Can still be called as a function."""

    def __init__(self, function: Callable[Concatenate[A, ...], B | Iterable[B] | None]) -> None:
        self.function = function
        self.__doc__ = function.__doc__
        self.takes, self.gives = _row_types(function)
        self.settings_type = _settings_type(function)

    def __call__(self, row: A, *settings: Any) -> B | Iterable[B] | None:
        return self.function(row, *settings)

    @property
    def input_schema(self) -> pa.Schema:
        return schema_of(self.takes)

    @property
    def output_schema(self) -> pa.Schema:
        return schema_of(self.gives)

    def operator(self, settings: Any = None) -> Operator:
        """`settings`, where the function takes some, are an object of its `settings_type`."""
        return _PerRow(self, () if self.settings_type is None else (settings,))


class BatchFunction:
    """A function of an Arrow batch: returns one, or None to leave all out. Rows must not depend on each other."""

    def __init__(
        self, function: Callable[Concatenate[pa.RecordBatch, ...], pa.RecordBatch | None], columns: pa.Schema | None
    ) -> None:
        self.function = function
        self.__doc__ = function.__doc__
        self.settings_type = _settings_type(function)
        self.output_schema = columns
        """None: the columns stay as they are."""

    def __call__(self, rows: pa.RecordBatch, *settings: Any) -> pa.RecordBatch | None:
        return self.function(rows, *settings)

    def operator(self, settings: Any = None) -> Operator:
        """`settings`, where the function takes some, are an object of its `settings_type`."""
        return _PerBatch(self, () if self.settings_type is None else (settings,))


# A type variable alone would take a list for the row: the kinds of functions that make several come first.
@overload
def per_row(function: Callable[Concatenate[A, ...], list[B] | None]) -> RowFunction[A, B]: ...
@overload
def per_row(function: Callable[Concatenate[A, ...], tuple[B, ...] | None]) -> RowFunction[A, B]: ...
@overload
def per_row(function: Callable[Concatenate[A, ...], Iterator[B]]) -> RowFunction[A, B]: ...
@overload
def per_row(function: Callable[Concatenate[A, ...], Iterable[B]]) -> RowFunction[A, B]: ...
@overload
def per_row(function: Callable[Concatenate[A, ...], B | None]) -> RowFunction[A, B]: ...


def per_row(function: Callable[Concatenate[A, ...], Any]) -> RowFunction[A, Any]:
    """Makes an operator of a function from one dataclass to another. Raises InvalidInput without type hints."""
    return RowFunction(function)


def per_batch(*, columns: pa.Schema | type | None = None) -> Callable[..., BatchFunction]:
    """Makes an operator of a function of Arrow batches; `columns` says what comes out, if not what goes in."""
    schema = schema_of(columns) if isinstance(columns, type) else columns
    return lambda function: BatchFunction(function, schema)


class _PerRow(Operator):
    stateless = True

    def __init__(self, function: RowFunction[Any, Any], settings: tuple[Any, ...]) -> None:
        self._function = function
        self._settings = settings
        self._schema = function.output_schema

    def process(self, batch: Batch) -> Iterable[Batch]:
        made: list[Any] = []
        for row in rows_from(batch.rows, self._function.takes):
            result = self._function.function(row, *self._settings)
            if result is not None:
                made.extend(result if isinstance(result, Iterable) else (result,))
        return [Batch(batch_from(made, self._schema), private=True)] if made else []


class _PerBatch(Operator):
    stateless = True

    def __init__(self, function: BatchFunction, settings: tuple[Any, ...]) -> None:
        self._function = function
        self._settings = settings

    def process(self, batch: Batch) -> Iterable[Batch]:
        made = self._function.function(batch.rows, *self._settings)
        if made is None:
            return []
        return [batch.to("out")] if made is batch.rows else [Batch(made)]


def _settings_type(function: Callable[..., object]) -> type | None:
    """Of the parameter after the row, which may have any name itself."""
    return settings_type_of(function) if len(inspect.signature(function).parameters) > 1 else None


def _row_types(function: Callable[..., object]) -> tuple[type, type]:
    hints = get_type_hints(function)
    first, *others = [*inspect.signature(function).parameters, ""]
    names = [first, *(name for name in others if name not in (SETTINGS, ""))]
    if len(names) != 1 or names[0] not in hints or "return" not in hints:
        name = getattr(function, "__qualname__", repr(function))
        raise InvalidInput(f"{name} takes and gives unknown rows", hint="def f(row: Trade) -> Alert | None: …")
    return _row_type(hints[names[0]]), _row_type(hints["return"])


def _row_type(hint: Any) -> type:
    """The dataclass in `Row`, `Row | None`, `Iterable[Row]` or `list[Row] | None`."""
    if get_origin(hint) in (Union, types.UnionType):
        hint = next((part for part in get_args(hint) if part is not type(None)), hint)
    if get_origin(hint) not in (None, Union, types.UnionType):
        hint = get_args(hint)[0]
    if not (isinstance(hint, type) and dataclasses.is_dataclass(hint)):
        raise InvalidInput(f"{hint!r} is no dataclass", hint="rows are described by dataclasses")
    return hint
