"""Sources and sinks of your own: Python at the ends of a pipeline, plain or async.

class Ticks(RowSource):
    columns = Tick  # a dataclass, or an Arrow schema

    def end(self) -> int:
        return clock.seconds()

    def read(self, start: int, end: int) -> Iterable[Tick]:
        return [Tick(number) for number in range(start, end)]

async def post(rows: pa.RecordBatch, delivery: Delivery) -> None:
    await client.post(url, json=rows.to_pylist(), headers={"Idempotency-Key": delivery.key})
"""

from __future__ import annotations

import asyncio
import inspect
from abc import ABC, abstractmethod
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar, Concatenate, TypeAlias, TypeVar

import pyarrow as pa

from headrace.errors import InvalidInput
from headrace.serial.row_types import batch_from, schema_of

# Objects that a source gives are put together into batches of this size.
ROWS_PER_BATCH = 8_192

T = TypeVar("T")
Item: TypeAlias = Any
"""An object of the source's dataclass, or a whole Arrow batch."""


class RowSource(ABC):
    """Rows that have numbers: 0, 1, 2 …

    Exactly once, through crashes and restarts, for a source that gives the same rows for the same numbers every time.
    One that cannot repeat itself belongs before a topic: write its rows there, and read the topic.
    """

    columns: ClassVar[type | pa.Schema]
    """What a row has: a dataclass, or an Arrow schema for a source that gives batches."""

    @abstractmethod
    def end(self) -> int:
        """Called before every micro-batch: the number after the newest row. It never goes back."""

    @abstractmethod
    def read(self, start: int, end: int) -> Iterable[Item] | AsyncIterable[Item]:
        """Called in a task: the rows `start` to `end - 1`, in order, as objects or as Arrow batches."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """Which rows these are. When rows come again, after a failure, they come under the same numbers."""

    query: str
    batch: int
    task: int
    first_row: int

    @property
    def key(self) -> str:
        """The same text for the same rows: a sink that writes each key once has every row once."""
        return f"{self.query}/{self.batch}/{self.task}/{self.first_row}"


SinkFunction: TypeAlias = Callable[Concatenate[pa.RecordBatch, Delivery, ...], Awaitable[None] | None]


class RowSink(ABC):
    """Takes rows out of a pipeline, at least once: a micro-batch that fails is delivered again, under the same keys."""

    def open(self) -> None:  # noqa: B027  (most have nothing to open)
        """Called in a task before its first rows."""

    @abstractmethod
    def write(self, rows: pa.RecordBatch, delivery: Delivery) -> Awaitable[None] | None:
        """Called with a task's rows, in order, before the micro-batch is committed. Raise to have it run again."""

    def close(self) -> None:  # noqa: B027
        """Called when the task is done, also after a failure."""


class _FunctionSink(RowSink):
    def __init__(self, function: SinkFunction, settings: tuple[Any, ...]) -> None:
        self._function = function
        self._settings = settings

    def write(self, rows: pa.RecordBatch, delivery: Delivery) -> Awaitable[None] | None:
        return self._function(rows, delivery, *self._settings)


def as_source(found: object, place: str, *settings: Any) -> RowSource:
    """A source of a class, which gets the settings if it takes some, or an object. Raises InvalidInput for what is
    none."""
    made = found(*settings) if isinstance(found, type) else found
    if not isinstance(made, RowSource):
        raise InvalidInput(f"{place} is no source", hint="derive its class from headrace.serial.RowSource")
    return made


def as_sink(found: object, place: str, *settings: Any) -> RowSink:
    """A sink of a class or a function, which gets the settings if it takes some, or an object. Raises InvalidInput for
    what is none."""
    made = found(*settings) if isinstance(found, type) else found
    if isinstance(made, RowSink):
        return made
    if not callable(made):
        hint = "a function of (rows, delivery), or a class derived from headrace.serial.RowSink"
        raise InvalidInput(f"{place} is no sink", hint=hint)
    return _FunctionSink(made, settings)


def columns_of(source: RowSource) -> pa.Schema:
    return schema_of(source.columns) if isinstance(source.columns, type) else source.columns


def batches_of(source: RowSource, start: int, end: int) -> Iterator[pa.RecordBatch]:
    """What a source gives, as Arrow batches of its columns. Raises InvalidInput for another number of rows."""
    count = 0
    for batch in _as_batches(_plain(source.read(start, end)), columns_of(source)):
        count += batch.num_rows
        yield batch
    if count != end - start:
        raise InvalidInput(f"{type(source).__name__} gave {count} rows for the numbers {start} to {end - 1}")


def deliver(sink: RowSink, rows: pa.RecordBatch, delivery: Delivery) -> None:
    """The rows are written when this returns."""
    waiting = sink.write(rows, delivery)
    if inspect.isawaitable(waiting):
        asyncio.run(_finished(waiting))


async def _finished(waiting: Awaitable[None]) -> None:
    await waiting


def _plain(items: Iterable[T] | AsyncIterable[T]) -> Iterator[T]:
    """An async iterable step by step, on a loop of its own."""
    if isinstance(items, Iterable):
        yield from items
        return
    with asyncio.Runner() as runner:
        iterator: AsyncIterator[T] = aiter(items)
        while True:
            try:
                yield runner.run(_next(iterator))
            except StopAsyncIteration:
                return


async def _next(iterator: AsyncIterator[T]) -> T:
    return await anext(iterator)


def _as_batches(items: Iterator[Item], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for first in items:
        if isinstance(first, pa.RecordBatch):
            yield first.select(schema.names).cast(schema)
        else:
            yield batch_from([first, *islice(items, ROWS_PER_BATCH - 1)], schema)
