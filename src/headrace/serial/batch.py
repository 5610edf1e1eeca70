"""Rows on their way through a chain: passed by reference, copied in one place only, and counted there."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from headrace.errors import InvalidInput
from headrace.serial.places import Places

DEFAULT_INPUT = "in"
DEFAULT_OUTPUT = "out"


@dataclass(slots=True)
class Copies:
    """How often a node made a batch its own, and how many bytes that took."""

    count: int = 0
    bytes: int = 0


class Batch:
    """An Arrow batch, and whether others can see its memory.

    `port` is the input it arrived at, or the output it leaves by. `private` says that nobody else holds the memory, and
    that it can be written: rows over a mapped file are never private, for to write there ends the process. `places`
    tell which records the rows are, where that is known. So many of the rows are `retracted`: they hold no longer.
    """

    __slots__ = ("_copies", "_private", "places", "port", "retracted", "rows")

    def __init__(
        self,
        rows: pa.RecordBatch,
        *,
        port: str = DEFAULT_OUTPUT,
        private: bool = False,
        places: Places | None = None,
        retracted: int = 0,
    ) -> None:
        self.rows = rows
        self.port = port
        self.places = places
        self.retracted = retracted
        self._private = private
        self._copies = Copies()

    @property
    def num_rows(self) -> int:
        return self.rows.num_rows

    @property
    def is_shared(self) -> bool:
        return not self._private

    def column(self, name: str) -> pa.Array[Any]:
        return self.rows.column(name)

    def to(self, port: str) -> Batch:
        """The same rows, leaving by another output."""
        self.port = port
        return self

    def share(self) -> None:
        """Called by the chain before several operators get this batch: what the first makes of it may still be on its
        way when the last one gets it, so none may write to it from now on."""
        self._private = False

    def part(self, start: int, count: int) -> Batch:
        """Some of its rows, at the same port."""
        places = None if self.places is None else self.places.slice(start, count)
        return Batch(self.rows.slice(start, count), port=self.port, places=places)

    def handed_to(self, copies: Copies) -> Batch:
        """Called by the chain: copies made from here on count for this node."""
        self._copies = copies
        return self

    def writable(self) -> Batch:
        """A batch whose arrays may be changed in place: this one, or a copy where others can see its memory."""
        if self._can_be_written():
            return self
        copied = _copied(self.rows)
        self._copies.count += 1
        self._copies.bytes += copied.nbytes
        return Batch(copied, port=self.port, private=True, places=self.places)

    def array(self, name: str) -> np.ndarray[Any, Any]:
        """A column of numbers as a view that can be written to.

        Raises InvalidInput for a batch that others see, and for a column that is no plain array of numbers.
        """
        if not self._can_be_written():
            raise InvalidInput(f"column {name!r} belongs to a shared batch", hint="call batch.writable() first")
        column = self.rows.column(name)
        if column.null_count or not pa.types.is_primitive(column.type) or pa.types.is_boolean(column.type):
            raise InvalidInput(
                f"column {name!r} ({column.type}) cannot be written in place: only numbers without nulls"
            )
        return _view(column)

    def _can_be_written(self) -> bool:
        return self._private and not _has_twins(self.rows)


def _has_twins(rows: pa.RecordBatch) -> bool:
    """A column that was selected twice is there once: who writes to one would write to both."""
    addresses = [
        values.address
        for column in rows.columns
        if pa.types.is_primitive(column.type) and (values := column.buffers()[1]) is not None and values.size
    ]
    return len(set(addresses)) < len(addresses)


def _copied(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Deep: through Arrow's own format, which keeps every type as it is."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_batch(rows)
    return pa.ipc.open_stream(sink.getvalue()).read_next_batch()


def _view(column: pa.Array[Any]) -> np.ndarray[Any, Any]:
    """Arrow marks its buffers as read-only; the batch has just made sure that nobody else can see this one."""
    values = column.buffers()[1]
    kind = np.dtype(column.type.to_pandas_dtype() if not pa.types.is_temporal(column.type) else np.int64)
    if values is None or not len(column):
        return np.empty(0, kind)
    memory = (ctypes.c_char * values.size).from_address(values.address)
    array: np.ndarray[Any, Any] = np.ndarray((len(column),), kind, memoryview(memory), column.offset * kind.itemsize)
    return array
