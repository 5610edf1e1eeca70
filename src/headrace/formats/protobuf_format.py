"""Protobuf: one message a value.

A field without presence that is not in the message is its default, as Protobuf has it; lists and maps are never null.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import DecodeError, EncodeError, Message
from google.protobuf.message_factory import GetMessageClass

from headrace.errors import InvalidInput
from headrace.formats.decoding import RecordDecoder
from headrace.formats.fitting import fit
from headrace.formats.proto_fields import plan_columns
from headrace.formats.times import without_times


class ProtobufDecoder(RecordDecoder):
    """Only the fields that are wanted leave the message."""

    def __init__(self, schema: pa.Schema, message: Descriptor, *, missing_is_null: bool = False) -> None:
        super().__init__(schema)
        self._class = GetMessageClass(message)
        here = [field for field in schema if not missing_is_null or field.name in message.fields_by_name]
        self._plans = plan_columns(message, pa.schema(here))

    def read(self, value: bytes) -> Message:
        try:
            return self._class.FromString(value)
        except DecodeError as error:
            raise ValueError(f"not a {self._class.DESCRIPTOR.full_name}: {error}") from error

    def rows(self, records: Sequence[Message]) -> pa.RecordBatch:
        return pa.record_batch([self._column(field, records) for field in self.schema], schema=self.schema)

    def _column(self, field: pa.Field[Any], records: Sequence[Message]) -> pa.Array[Any]:
        plan = self._plans.get(field.name)
        if plan is None:
            nulls: pa.Array[Any] = pa.nulls(len(records), field.type)
            return nulls
        try:
            values = [plan.get(record) for record in records]
        except ValueError as error:
            raise ValueError(f"{field.name}: {error}") from error
        return fit(field.name, values, plan.read_as, field.type)


class ProtobufEncoder:
    """One message for each row. A null is a field that is not there."""

    def __init__(self, columns: pa.Schema, message: Descriptor) -> None:
        """Raises InvalidInput where rows of these columns are no such messages."""
        self._class = GetMessageClass(message)
        self._plans = plan_columns(message, columns)

    def __call__(self, rows: pa.RecordBatch) -> pa.BinaryArray:
        """Raises InvalidInput for a value that the message cannot hold."""
        cells = {name: without_times(rows.column(name)).to_pylist(maps_as_pydicts="strict") for name in self._plans}
        values = [self._written({name: cells[name][index] for name in cells}) for index in range(rows.num_rows)]
        return pa.array(values, pa.binary())

    def _written(self, row: dict[str, Any]) -> bytes:
        try:
            fields = {name: self._plans[name].put(cell) for name, cell in row.items() if cell is not None}
            return self._class(**fields).SerializeToString(deterministic=True)
        except (ValueError, TypeError, EncodeError) as error:
            raise InvalidInput(f"a row is no {self._class.DESCRIPTOR.full_name}: {error}") from error
