"""Writers for messages, built from kio's schemas."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from types import NoneType
from typing import Any, Final, get_args, get_type_hints
from uuid import UUID

from headrace.wire.packing import Writer
from headrace.wire.schema import entry_type, is_array, our_names, tag_of

Write = Callable[[Writer, Any], None]

_NO_UUID: Final = UUID(int=0)

_FIXED: Final[dict[str, Write]] = {
    "int8": Writer.int8,
    "int16": Writer.int16,
    "int32": Writer.int32,
    "int64": Writer.int64,
    "timedelta_i32": Writer.int32,
    "timedelta_i64": Writer.int64,
    "datetime_i64": Writer.int64,
    "float64": Writer.float64,
    "bool": lambda writer, value: writer.int8(1 if value else 0),
    "error_code": Writer.int16,
    "uuid": lambda writer, value: writer.raw((value or _NO_UUID).bytes),
}


def message_writer(ours: Any, theirs: Any) -> Write:
    """A function that writes a message of type `ours` as the schema class `theirs` lays it out."""
    flexible: bool = theirs.__flexible__
    names = our_names(ours, theirs)
    hints = get_type_hints(ours)
    plan: list[tuple[str | None, Any, Write]] = []
    tagged: dict[int, tuple[str, Write]] = {}
    for field in dataclasses.fields(theirs):
        name = names.get(field.name)
        tag = tag_of(field)
        if tag is not None:
            if name is not None:
                tagged[tag] = (name, _field_writer(field, flexible, hints[name]))
            continue
        constant = _constant(ours, field) if name is None else None
        plan.append((name, constant, _field_writer(field, flexible, None if name is None else hints[name])))

    def write(writer: Writer, message: Any) -> None:
        for name, constant, write_field in plan:
            write_field(writer, constant if name is None else getattr(message, name))
        if flexible:
            _write_tagged(writer, tagged, message)

    return write


def _write_tagged(writer: Writer, tagged: dict[int, tuple[str, Write]], message: Any) -> None:
    """Optional fields, those left out that are empty."""
    present = {tag: entry for tag, entry in sorted(tagged.items()) if getattr(message, entry[0])}
    writer.unsigned_varint(len(present))
    for tag, (name, write_field) in present.items():
        content = Writer()
        write_field(content, getattr(message, name))
        writer.unsigned_varint(tag)
        writer.unsigned_varint(len(content))
        writer.raw(content.getvalue())


def _constant(ours: Any, field: dataclasses.Field[Any]) -> Any:
    """What stands in a field that our message does not have."""
    if field.name == "throttle_time":  # clients are slowed by back-pressure on the connection, never by this
        return 0
    if field.default is dataclasses.MISSING or str(field.metadata.get("kafka_type", "")).startswith("timedelta"):
        raise TypeError(f"{ours.__name__} needs a field {field.name!r}")
    return field.default


def _field_writer(field: dataclasses.Field[Any], flexible: bool, hint: Any) -> Write:
    """`hint` is the type of our field; None when a constant is written."""
    entries = entry_type(field.type)
    if entries is not None:
        ours = entry_type(hint)
        write_entry = _no_entry if ours is None else message_writer(ours, entries)
        if is_array(field.type):
            return _array_writer(write_entry, flexible)
        return _nullable_writer(write_entry) if NoneType in get_args(field.type) else write_entry
    write_one = _primitive_writer(str(field.metadata["kafka_type"]), flexible)
    return _array_writer(write_one, flexible) if is_array(field.type) else write_one


def _primitive_writer(kafka_type: str, flexible: bool) -> Write:
    if kafka_type == "string":
        return lambda writer, value: writer.string(value, flexible)
    if kafka_type in ("bytes", "records"):
        return lambda writer, value: _write_bytes(writer, value, flexible)
    return _FIXED[kafka_type]


def _array_writer(write_entry: Write, flexible: bool) -> Write:
    def write(writer: Writer, values: tuple[Any, ...] | None) -> None:
        writer.array_length(-1 if values is None else len(values), flexible)
        for value in values or ():
            write_entry(writer, value)

    return write


def _nullable_writer(write_entry: Write) -> Write:
    """A structure that may be absent comes after one byte that says so."""

    def write(writer: Writer, value: Any) -> None:
        writer.int8(-1 if value is None else 1)
        if value is not None:
            write_entry(writer, value)

    return write


def _write_bytes(writer: Writer, value: bytes | None, flexible: bool) -> None:
    writer.bytes_length(-1 if value is None else len(value), flexible)
    writer.raw(value or b"")


def _no_entry(writer: Writer, value: Any) -> None:
    raise TypeError(f"no message of ours has entries like {value!r}")
