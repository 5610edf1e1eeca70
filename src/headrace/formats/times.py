"""Times as text or as epoch milliseconds → Arrow's timestamps."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

TIMESTAMP = pa.timestamp("us", tz="UTC")
# How a time may be written, the likeliest first: with a zone or without one, and finer than microseconds.
_WRITTEN_TIMES: tuple[pa.DataType, ...] = (TIMESTAMP, pa.timestamp("us"), pa.timestamp("ns", tz="UTC"))


def as_time(column: pa.ChunkedArray[Any]) -> pa.ChunkedArray[Any]:
    """Text or epoch milliseconds as timestamps; UTC is meant where no zone is written. Raises ArrowInvalid."""
    if column.type == pa.int64():
        return column.cast(pa.timestamp("ms", tz="UTC")).cast(TIMESTAMP)
    for written in _WRITTEN_TIMES:
        try:
            return column.cast(written).cast(TIMESTAMP, safe=False)
        except pa.ArrowInvalid:
            continue
    return column.cast(pa.timestamp("ns")).cast(TIMESTAMP, safe=False)


def without_times(column: pa.Array[Any]) -> pa.Array[Any]:
    """Dates and times, also inside lists, maps and structs, as the numbers that they are stored as."""
    return column.cast(_numbers(column.type))


def _numbers(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(type_):
        return pa.int64()
    if pa.types.is_date32(type_):
        return pa.int32()
    if isinstance(type_, pa.ListType):
        return pa.list_(_numbers(type_.value_type))
    if isinstance(type_, pa.MapType):
        return pa.map_(_numbers(type_.key_type), _numbers(type_.item_type))
    if isinstance(type_, pa.StructType):
        return pa.struct([pa.field(field.name, _numbers(field.type)) for field in type_])
    return type_
