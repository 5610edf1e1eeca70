"""Raw: the value itself, as one BINARY or STRING column."""

from __future__ import annotations

from typing import cast

import pyarrow as pa

from headrace.errors import InvalidInput
from headrace.formats.decoding import RowDecoder


def check_raw(columns: pa.Schema) -> None:
    """Raises InvalidInput unless there is one column that a value can be."""
    if [field.type for field in columns] not in ([pa.binary()], [pa.string()]):
        raise InvalidInput("a raw topic has one column, BINARY or STRING", hint='schema="value BINARY"')


class RawDecoder(RowDecoder):
    """A record without a value is a row with null."""

    def parse(self, values: pa.BinaryArray) -> pa.RecordBatch:
        return pa.record_batch([values.cast(field.type) for field in self.schema], schema=self.schema)


def encode_raw(rows: pa.RecordBatch) -> pa.BinaryArray:
    return cast("pa.BinaryArray", rows.column(0).cast(pa.binary()))
