"""How a field of a message becomes a cell of a column, and back.

DATE is a number of days, DECIMAL a text, TIMESTAMP a google.protobuf.Timestamp; an enum is its name or its number, and
the number as text where the schema has no name for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final, cast

import pyarrow as pa
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from headrace.errors import InvalidInput
from headrace.formats.fitting import reading_type
from headrace.formats.times import TIMESTAMP

_TIMESTAMP_NAME: Final = "google.protobuf.Timestamp"
_WRAPPERS_FILE: Final = "google/protobuf/wrappers.proto"
_MICROS: Final = 1_000_000
_NUMBER: Final = re.compile(r"-?[0-9]{1,10}")
_TYPES: Final[dict[int, pa.DataType]] = {
    FieldDescriptor.CPPTYPE_INT32: pa.int32(),
    FieldDescriptor.CPPTYPE_INT64: pa.int64(),
    FieldDescriptor.CPPTYPE_UINT32: pa.uint32(),
    FieldDescriptor.CPPTYPE_UINT64: pa.uint64(),
    FieldDescriptor.CPPTYPE_DOUBLE: pa.float64(),
    FieldDescriptor.CPPTYPE_FLOAT: pa.float32(),
    FieldDescriptor.CPPTYPE_BOOL: pa.bool_(),
}


@dataclass(frozen=True, slots=True)
class FieldPlan:
    """`read_as` is the Arrow type of what `get` makes of a value in a message; `put` makes a value for a message."""

    read_as: pa.DataType
    get: Callable[[Any], Any]
    put: Callable[[Any], Any]


def plan_columns(message: Descriptor, columns: pa.Schema) -> dict[str, FieldPlan]:
    """Raises InvalidInput for a column that is no field of the message, or of a type that does not fit."""
    plans: dict[str, FieldPlan] = {}
    for column in columns:
        place = f"the field {column.name!r} of {message.full_name!r}"
        plan = plan_field(_field(message, column.name), column.type, place)
        reading_type(plan.read_as, column.type, place)
        plans[column.name] = plan
    return plans


def plan_field(field: FieldDescriptor, wanted: pa.DataType, place: str) -> FieldPlan:
    """From the message that holds the field to the cell, and from the cell to the field's own value."""
    name = field.name
    if _is_map(field):
        plan = _map_plan(field, wanted, place)
    elif field.is_repeated:
        plan = _list_plan(field, wanted, place)
    else:
        plan = _value_plan(field, wanted, place)
        if field.has_presence:
            return FieldPlan(plan.read_as, lambda m: plan.get(getattr(m, name)) if m.HasField(name) else None, plan.put)
    return FieldPlan(plan.read_as, lambda m: plan.get(getattr(m, name)), plan.put)


def _field(message: Descriptor, name: str) -> FieldDescriptor:
    field = message.fields_by_name.get(name)
    if field is None:
        valid = tuple(message.fields_by_name)
        raise InvalidInput(f"the message {message.full_name!r} has no field {name!r}", valid=valid)
    return field


def _is_map(field: FieldDescriptor) -> bool:
    return field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE and bool(_message(field).GetOptions().map_entry)


def _message(field: FieldDescriptor) -> Descriptor:
    """Of a field that holds messages."""
    return cast("Descriptor", field.message_type)


def _map_plan(field: FieldDescriptor, wanted: pa.DataType, place: str) -> FieldPlan:
    if not isinstance(wanted, pa.MapType):
        raise InvalidInput(f"{place} is a map and the column is {wanted}")
    pair = _message(field).fields_by_name
    key = _value_plan(pair["key"], wanted.key_type, f"{place}'s keys")
    value = _value_plan(pair["value"], wanted.item_type, f"{place}'s values")
    return FieldPlan(
        pa.map_(key.read_as, value.read_as),
        lambda cell: [(k, value.get(v)) for k, v in cell.items()],
        lambda cell: {k: value.put(_required(v)) for k, v in cell.items()},
    )


def _list_plan(field: FieldDescriptor, wanted: pa.DataType, place: str) -> FieldPlan:
    if not isinstance(wanted, pa.ListType):
        raise InvalidInput(f"{place} is repeated and the column is {wanted}", hint="declare it as ARRAY<…>")
    item = _value_plan(field, wanted.value_type, place)
    return FieldPlan(
        pa.list_(item.read_as),
        lambda cell: [item.get(one) for one in cell],
        lambda cell: [item.put(_required(one)) for one in cell],
    )


def _value_plan(field: FieldDescriptor, wanted: pa.DataType, place: str) -> FieldPlan:
    """For one value, whether it stands alone, in a list or in a map."""
    if field.type == FieldDescriptor.TYPE_ENUM:
        return _enum_plan(field, wanted)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return FieldPlan(pa.binary(), _same, _same)
    if field.type == FieldDescriptor.TYPE_STRING:
        return FieldPlan(wanted, _decimal, str) if pa.types.is_decimal(wanted) else FieldPlan(pa.string(), _same, _same)
    if field.cpp_type != FieldDescriptor.CPPTYPE_MESSAGE:
        is_days = pa.types.is_date32(wanted) and field.cpp_type == FieldDescriptor.CPPTYPE_INT32
        return FieldPlan(pa.date32() if is_days else _TYPES[field.cpp_type], _same, _same)
    if _message(field).full_name == _TIMESTAMP_NAME:
        return FieldPlan(TIMESTAMP, _micros, _moment)
    if _message(field).file.name == _WRAPPERS_FILE:
        inner = _value_plan(_message(field).fields_by_name["value"], wanted, place)
        return FieldPlan(inner.read_as, lambda cell: inner.get(cell.value), lambda cell: {"value": inner.put(cell)})
    return _struct_plan(_message(field), wanted, place)


def _struct_plan(message: Descriptor, wanted: pa.DataType, place: str) -> FieldPlan:
    if not isinstance(wanted, pa.StructType):
        raise InvalidInput(f"{place} is the message {message.full_name!r} and the column is {wanted}")
    plans = {f.name: plan_field(_field(message, f.name), f.type, f"{place}.{f.name}") for f in wanted}
    return FieldPlan(
        pa.struct([pa.field(name, plan.read_as) for name, plan in plans.items()]),
        lambda cell: {name: plan.get(cell) for name, plan in plans.items()},
        lambda cell: {name: plan.put(cell[name]) for name, plan in plans.items() if cell[name] is not None},
    )


def _enum_plan(field: FieldDescriptor, wanted: pa.DataType) -> FieldPlan:
    if not pa.types.is_string(wanted):
        return FieldPlan(pa.int32(), _same, _same)
    enum = cast("EnumDescriptor", field.enum_type)
    names = {number: value.name for number, value in enum.values_by_number.items()}
    # A newer writer may know more of them: such a number stays one, as in Protobuf's own JSON.
    return FieldPlan(
        pa.string(),
        lambda number: names.get(number) or str(number),
        lambda text: text if text in enum.values_by_name or not _NUMBER.fullmatch(text) else int(text),
    )


def _same(cell: Any) -> Any:
    return cell


def _required(cell: Any) -> Any:
    if cell is None:
        raise ValueError("a list or a map of Protobuf holds no null")
    return cell


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError(f"{text!r} is no decimal number") from None


def _micros(moment: Any) -> int:
    return int(moment.seconds * _MICROS + moment.nanos // 1_000)


def _moment(micros: int) -> dict[str, int]:
    return {"seconds": micros // _MICROS, "nanos": micros % _MICROS * 1_000}
