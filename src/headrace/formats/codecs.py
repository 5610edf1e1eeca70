"""Which decoder and encoder a format has, and what it cannot say. The formats are named here, one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import pyarrow as pa

from headrace.errors import InvalidInput
from headrace.formats.arrow_format import ArrowDecoder
from headrace.formats.boundary import SafeDecoder
from headrace.formats.csv_format import CsvDecoder, CsvEncoder, check_csv
from headrace.formats.decoding import Decoder
from headrace.formats.framing import prefix, with_prefix
from headrace.formats.json_format import JsonDecoder
from headrace.formats.json_schema import json_schema_of
from headrace.formats.json_text import json_texts
from headrace.formats.raw_format import RawDecoder, check_raw, encode_raw
from headrace.formats.time_formats import TimedDecoder, raw_type
from headrace.formats.value_format import SCHEMA_FORMATS, ValueFormat

Encoder: TypeAlias = Callable[[pa.RecordBatch], "pa.Array[Any]"]


def with_schema(format_: ValueFormat, columns: pa.Schema) -> ValueFormat:
    """With the declared columns, and with the schema made from them where the format wants one and none is given.

    Raises InvalidInput for columns that the format cannot hold.
    """
    named = replace(format_, columns=tuple(columns.names))
    if format_.schema is not None or (format_.name not in SCHEMA_FORMATS and format_.registry is None):
        return named
    if format_.name == "json":
        return replace(named, schema=json_schema_of(columns))
    if format_.name == "avro":
        from headrace.formats.avro_schema import avro_of  # noqa: PLC0415  (libraries are loaded where they are used)

        return replace(named, schema=avro_of(columns))
    from headrace.formats.proto_schema import proto_of  # noqa: PLC0415

    return replace(named, schema=proto_of(columns))


def check_reading(format_: ValueFormat, columns: pa.Schema) -> None:
    """Called when a pipeline is checked. Raises InvalidInput where values of the format cannot become the columns."""
    _check(format_, columns)
    if format_.name in SCHEMA_FORMATS and format_.registry is None:
        decoder(with_schema(format_, columns), columns)


def check_writing(format_: ValueFormat, columns: pa.Schema) -> None:
    """Called when a pipeline is checked. Raises InvalidInput where the columns cannot become values of the format."""
    _check(format_, columns)
    if format_.name in SCHEMA_FORMATS:
        encoder(with_schema(format_, columns), columns)


def decoder(format_: ValueFormat, wanted: pa.Schema) -> SafeDecoder:
    """The decoder for the columns wanted; other fields in the values are not parsed, or not converted."""
    return SafeDecoder(_timed_decoder(format_, wanted), wanted)


def _timed_decoder(format_: ValueFormat, wanted: pa.Schema) -> Decoder:
    column, written = format_.time_column, format_.time_format
    if column is None or written is None or column not in wanted.names:
        return _decoder(format_, wanted)
    place = wanted.get_field_index(column)
    raw = wanted.set(place, pa.field(column, raw_type(written)))
    return TimedDecoder(_decoder(format_, raw), wanted, column, written)


def _decoder(format_: ValueFormat, wanted: pa.Schema) -> Decoder:
    match format_.name:
        case "json":
            return JsonDecoder(wanted)
        case "csv":
            return CsvDecoder(wanted, format_)
        case "arrow":
            return ArrowDecoder(wanted)
        case "raw":
            return RawDecoder(wanted)
        case "avro":
            from headrace.formats.avro_format import AvroDecoder  # noqa: PLC0415
            from headrace.formats.avro_schema import parse_avro  # noqa: PLC0415

            return AvroDecoder(wanted, parse_avro(_schema(format_)))
        case "protobuf":
            from headrace.formats.proto_schema import message_of  # noqa: PLC0415
            from headrace.formats.protobuf_format import ProtobufDecoder  # noqa: PLC0415

            return ProtobufDecoder(wanted, message_of(_schema(format_), format_.message))


def encoder(format_: ValueFormat, columns: pa.Schema) -> Encoder:
    """For the formats with one value a row. JSON only of columns that `json_text.can_write`."""
    encode = _encoder(format_, columns)
    before = value_prefix(format_)
    return lambda rows: with_prefix(encode(rows), before)


def value_prefix(format_: ValueFormat) -> bytes:
    """What names the schema of each value; nothing without a registry."""
    if format_.schema_id is None:
        return b""
    if format_.name != "protobuf":
        return prefix(format_.schema_id)
    from headrace.formats.proto_schema import message_of, path_of  # noqa: PLC0415

    return prefix(format_.schema_id, path_of(message_of(_schema(format_), format_.message)))


def _encoder(format_: ValueFormat, columns: pa.Schema) -> Encoder:
    match format_.name:
        case "json":
            return lambda rows: json_texts(rows).cast(pa.binary())
        case "csv":
            return CsvEncoder(format_)
        case "raw":
            return encode_raw
        case "avro":
            from headrace.formats.avro_format import AvroEncoder  # noqa: PLC0415

            return AvroEncoder(columns, _schema(format_))
        case "protobuf":
            from headrace.formats.proto_schema import message_of  # noqa: PLC0415
            from headrace.formats.protobuf_format import ProtobufEncoder  # noqa: PLC0415

            return ProtobufEncoder(columns, message_of(_schema(format_), format_.message))
        case _:
            raise InvalidInput(f"{format_.name} values are not made row by row")


def _check(format_: ValueFormat, columns: pa.Schema) -> None:
    if format_.name == "csv":
        check_csv(columns)
    elif format_.name == "raw":
        check_raw(columns)


def _schema(format_: ValueFormat) -> str:
    if format_.schema is None:
        raise InvalidInput(f"{format_.name} values have a schema, and none is known")
    return format_.schema
