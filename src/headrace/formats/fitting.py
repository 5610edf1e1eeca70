"""Which columns the fields of another schema fit into, and how they get there.

A field is first read as its own Arrow type, then cast to that of its column: `reading_type` says what the first is.
"""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from headrace.errors import InvalidInput
from headrace.formats.times import TIMESTAMP, as_time

# Of a value that does not fit, so much is shown.
VALUE_CHARACTERS_MAX: Final = 80


def reading_type(found: pa.DataType | None, wanted: pa.DataType, place: str, *, narrows: bool = False) -> pa.DataType:
    """The type to read a field as, for a column of type `wanted`; `found` is None where only values can tell.

    Structs are read with the fields that are wanted. With `narrows` the field may have been widened since the column
    was declared: a DOUBLE is checked value by value. Raises InvalidInput, naming `place`, where they do not fit.
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
    if not _fits(found, wanted) and not (narrows and _narrows(found, wanted)):
        raise InvalidInput(f"{place} is {found} and the column is {wanted}", hint="declare the column as the field is")
    return found


def fit(name: str, values: list[Any], read_as: pa.DataType, wanted: pa.DataType) -> pa.Array[Any]:
    """The column. Raises ValueError, with its name, where a value does not fit."""
    try:
        return fit_column(pa.array(values, read_as), wanted)
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        shown = f"{repr(values[0])[:VALUE_CHARACTERS_MAX]} is no {wanted}: " if len(values) == 1 else ""
        raise ValueError(f"{name}: {shown}{error}") from error


def fit_column(column: pa.Array[Any], wanted: pa.DataType) -> pa.Array[Any]:
    """The column as it is wanted. Raises ArrowException where a value does not fit."""
    if column.type == wanted:
        return column
    if wanted == TIMESTAMP and (pa.types.is_string(column.type) or column.type == pa.int64()):
        return as_time(pa.chunked_array([column])).combine_chunks()
    return _narrowed(column) if _is_narrowed(column.type, wanted) else column.cast(wanted)


def _narrows(found: pa.DataType, wanted: pa.DataType) -> bool:
    """A schema may widen a whole number or a FLOAT to DOUBLE, and stays compatible."""
    return _is_narrowed(found, wanted) or (pa.types.is_float64(found) and pa.types.is_integer(wanted))


def _is_narrowed(found: pa.DataType, wanted: pa.DataType) -> bool:
    return pa.types.is_float64(found) and pa.types.is_float32(wanted)


def _narrowed(column: pa.Array[Any]) -> pa.Array[Any]:
    """Arrow itself rounds. Raises ArrowInvalid for a number with more digits than FLOAT has."""
    narrow = column.cast(pa.float32(), safe=False)
    is_same = pc.or_(pc.equal(narrow.cast(pa.float64()), column), pc.is_nan(column))
    if not pc.all(is_same, min_count=0).as_py():
        raise pa.ArrowInvalid("it has more digits than a FLOAT holds; declare the column as DOUBLE")
    return narrow


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
