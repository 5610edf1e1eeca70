"""Which columns the fields of another schema fit into, and how they get there.

A field is first read as its own Arrow type, then cast to that of its column: `reading_type` says what the first is.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from headrace.errors import InvalidInput
from headrace.formats.times import TIMESTAMP, as_time


def reading_type(found: pa.DataType | None, wanted: pa.DataType, place: str) -> pa.DataType:
    """The type to read a field as, for a column of type `wanted`; `found` is None where only values can tell.

    Structs are read with the fields that are wanted. Raises InvalidInput, naming `place`, where they do not fit.
    """
    if found is None:
        return wanted
    if isinstance(found, pa.ListType) and isinstance(wanted, pa.ListType):
        return pa.list_(reading_type(found.value_type, wanted.value_type, f"{place}[]"))
    if isinstance(found, pa.MapType) and isinstance(wanted, pa.MapType):
        key = reading_type(found.key_type, wanted.key_type, f"{place}'s keys")
        return pa.map_(key, reading_type(found.item_type, wanted.item_type, f"{place}'s values"))
    if isinstance(found, pa.StructType) and isinstance(wanted, pa.StructType):
        return pa.struct([_struct_field(found, field, place) for field in wanted])
    if not _fits(found, wanted):
        raise InvalidInput(f"{place} is {found} and the column is {wanted}", hint="declare the column as the field is")
    return found


def fit(values: list[Any], read_as: pa.DataType, wanted: pa.DataType) -> pa.Array[Any]:
    """The column. Raises ArrowException where a value does not fit."""
    return fit_column(pa.array(values, read_as), wanted)


def fit_column(column: pa.Array[Any], wanted: pa.DataType) -> pa.Array[Any]:
    """The column as it is wanted. Raises ArrowException where a value does not fit."""
    if column.type == wanted:
        return column
    if wanted == TIMESTAMP and (pa.types.is_string(column.type) or column.type == pa.int64()):
        return as_time(pa.chunked_array([column])).combine_chunks()
    return column.cast(wanted)


def _struct_field(found: pa.StructType, wanted: pa.Field[Any], place: str) -> pa.Field[Any]:
    index = found.get_field_index(wanted.name)
    if index < 0:
        return pa.field(wanted.name, wanted.type)
    return pa.field(wanted.name, reading_type(found.field(index).type, wanted.type, f"{place}.{wanted.name}"))


def _fits(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Without loss, or checked value by value: an integer that is too large, bytes that are no text."""
    is_text = (pa.types.is_string, pa.types.is_binary)
    if found == wanted:
        return True
    if pa.types.is_integer(found):
        is_number = (pa.types.is_integer, pa.types.is_float64, pa.types.is_decimal)
        return any(is_of(wanted) for is_of in is_number) or (wanted == TIMESTAMP and found == pa.int64())
    if pa.types.is_floating(found):
        return pa.types.is_float64(wanted)
    if pa.types.is_timestamp(found):
        return pa.types.is_timestamp(wanted)
    if any(is_of(found) for is_of in is_text):
        return any(is_of(wanted) for is_of in is_text) or (pa.types.is_string(found) and wanted == TIMESTAMP)
    return pa.types.is_decimal(found) and pa.types.is_decimal(wanted)
