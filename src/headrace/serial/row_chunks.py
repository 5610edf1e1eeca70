"""Whole rows as state, of any columns: kept as they are, nulls and all."""

from __future__ import annotations

from typing import cast

import pyarrow as pa

from headrace.serial.state import NodeState


class RowChunks:
    """Rows in the order in which they were appended. A change costs what was appended, or all that is there."""

    def __init__(self, state: NodeState, name: str) -> None:
        self._table = state.table(name, [("chunk", pa.int64())], [("rows", pa.binary())])

    def append(self, rows: pa.RecordBatch) -> None:
        chunks = self._numbers()
        number = max(chunks, default=-1) + 1
        slots, _ = self._table.add([pa.array([number], pa.int64())])
        self._table.assign("rows", slots, pa.array([_written(rows)], pa.binary()))
        self._table.touch(slots)

    def replace(self, rows: pa.RecordBatch) -> None:
        """These are all rows afterwards."""
        self._table.delete(self._table.slots())
        if rows.num_rows:
            self.append(rows)

    def all(self) -> pa.RecordBatch | None:
        """None where there are no rows."""
        numbers = self._numbers()
        if not numbers:
            return None
        slots = self._table.find([pa.array(sorted(numbers), pa.int64())])
        chunks = [_read(value) for value in self._table["rows"][slots]]
        return joined(*chunks)

    def _numbers(self) -> list[int]:
        slots = self._table.slots()
        return cast("list[int]", self._table.keys(slots)[0].to_pylist()) if len(slots) else []


def joined(*batches: pa.RecordBatch) -> pa.RecordBatch:
    """The rows of all, one batch after the other."""
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def _written(rows: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_batch(rows)
    return sink.getvalue().to_pybytes()


def _read(value: bytes) -> pa.RecordBatch:
    with pa.ipc.open_stream(value) as reader:
        return reader.read_next_batch()
