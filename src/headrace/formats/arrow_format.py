"""Arrow: one IPC stream a record, or several in a row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa

from headrace.formats.decoding import NO_VALUE, UNREADABLE, Bad, Decoded, combine, reason

SCALE_MAX: Final = 38


class ArrowDecoder:
    """An Arrow IPC stream a record: many rows, nothing parsed, columns taken from the log's memory as they are."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema

    def __call__(self, values: pa.BinaryArray) -> Decoded:
        pieces: list[pa.RecordBatch] = []
        indices: list[pa.Array[Any]] = []
        bad: list[Bad] = []
        for index, value in enumerate(values):
            try:
                batches = list(self._batches(value))
            except UNREADABLE as error:
                bad.append(Bad(index, reason(error)))
                continue
            pieces += batches
            indices += [pa.repeat(pa.scalar(index, pa.int64()), batch.num_rows) for batch in batches]
        origin = pa.concat_arrays(indices) if indices else pa.array([], pa.int64())
        return Decoded(combine(pieces, self.schema), origin, tuple(bad))

    def _batches(self, value: pa.BinaryScalar) -> Iterator[pa.RecordBatch]:
        if not value.is_valid:
            raise ValueError(NO_VALUE)
        content = pa.BufferReader(value.as_buffer())
        is_first = True
        # What follows a stream is a further one, or the record is bad.
        while is_first or content.tell() < content.size():
            is_first = False
            for batch in pa.ipc.open_stream(content):
                yield self._wanted(batch)

    def _wanted(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        missing = set(self.schema.names) - set(batch.schema.names)
        if missing:
            raise ValueError(f"the Arrow batch lacks the columns {', '.join(sorted(missing))}")
        return pa.record_batch([_fitted(batch.column(field.name), field) for field in self.schema], schema=self.schema)


def _fitted(column: pa.Array[Any], field: pa.Field[Any]) -> pa.Array[Any]:
    # Lengths and texts come from outside: whoever reads a column takes them for granted.
    column.validate(full=True)
    if column.type == field.type:
        return column
    _refuse_scales(column.type)
    return column.cast(field.type)


def _refuse_scales(type_: pa.DataType) -> None:
    """Raises ValueError for decimals beyond all measure: Arrow ends the process when it casts them."""
    if isinstance(type_, pa.Decimal128Type | pa.Decimal256Type) and abs(type_.scale) > SCALE_MAX:
        raise ValueError(f"a decimal with the scale {type_.scale}")
    for index in range(type_.num_fields):
        _refuse_scales(type_.field(index).type)
