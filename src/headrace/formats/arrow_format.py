"""Arrow: an IPC stream a record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from headrace.formats.decoding import REASON_CHARACTERS_MAX, Bad, Decoded, combine


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
            except (pa.ArrowException, ValueError, KeyError) as error:
                bad.append(Bad(index, str(error)[:REASON_CHARACTERS_MAX]))
                continue
            pieces += batches
            indices += [pa.repeat(pa.scalar(index, pa.int64()), batch.num_rows) for batch in batches]
        origin = pa.concat_arrays(indices) if indices else pa.array([], pa.int64())
        return Decoded(combine(pieces, self.schema), origin, tuple(bad))

    def _batches(self, value: pa.BinaryScalar) -> Iterator[pa.RecordBatch]:
        if not value.is_valid:
            raise ValueError("a record without a value")
        for batch in pa.ipc.open_stream(value.as_buffer()):
            missing = set(self.schema.names) - set(batch.schema.names)
            if missing:
                raise ValueError(f"the Arrow batch lacks the columns {', '.join(sorted(missing))}")
            columns = [batch.column(field.name) for field in self.schema]
            cast = [c if c.type == f.type else c.cast(f.type) for c, f in zip(columns, self.schema, strict=True)]
            yield pa.record_batch(cast, schema=self.schema)
