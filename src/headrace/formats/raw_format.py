"""Raw: the value itself."""

from __future__ import annotations

import pyarrow as pa

from headrace.formats.decoding import RowDecoder


class RawDecoder(RowDecoder):
    """The value itself, as one BINARY or STRING column."""

    def parse(self, values: pa.BinaryArray) -> pa.RecordBatch:
        if len(self.schema) > 1:
            raise ValueError("the raw format has one column: the value")
        return pa.record_batch([values.cast(field.type) for field in self.schema], schema=self.schema)
