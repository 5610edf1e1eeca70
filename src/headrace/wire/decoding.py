"""Readers for messages, built from kio's schemas.

kio's own decoder is not used on bytes from outside: it allocates whatever length they claim, and a claim of gigabytes
ends the process. Here a length is checked against the bytes that are there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from types import NoneType
from typing import Any, Final, NamedTuple, get_args, get_type_hints
from uuid import UUID

from headrace.wire.codes import ErrorCode
from headrace.wire.packing import Malformed, Reader
from headrace.wire.schema import entry_type, is_array, our_names, tag_of

Read = Callable[[Reader], Any]


def _uuid(reader: Reader) -> UUID | None:
    """The id of all zeros says that there is none."""
    read = reader.uuid()
    return read if read.int else None


_FIXED: Final[dict[str, Read]] = {
    "int8": Reader.int8,
    "int16": Reader.int16,
    "int32": Reader.int32,
    "int64": Reader.int64,
    "timedelta_i32": Reader.int32,
    "timedelta_i64": Reader.int64,
    "datetime_i64": Reader.int64,
    "float64": Reader.float64,
    "bool": lambda reader: reader.int8() != 0,
    "error_code": lambda reader: ErrorCode(reader.int16()),
    "uuid": _uuid,
}


def message_reader(ours: Any, theirs: Any) -> Read:
    """A function that reads one entity of the schema class `theirs` into a message of type `ours`."""
    names = our_names(ours, theirs)
    hints = get_type_hints(ours)
    plain: list[tuple[str | None, Read]] = []
    tagged: dict[int, tuple[str, Read]] = {}
    for field in dataclasses.fields(theirs):
        name = names.get(field.name)
        tag = tag_of(field)
        if tag is None:
            plain.append((name, _field_reader(field, theirs.__flexible__, None if name is None else hints[name])))
        elif name is not None:
            tagged[tag] = (name, _field_reader(field, theirs.__flexible__, hints[name]))
    flexible: bool = theirs.__flexible__

    def read(reader: Reader) -> Any:
        values = {}
        for name, read_field in plain:
            value = read_field(reader)
            if name is not None:
                values[name] = value
        if flexible:
            _read_tagged(reader, tagged, values)
        return ours(**values)

    return read


def _read_tagged(reader: Reader, known: dict[int, tuple[str, Read]], values: dict[str, Any]) -> None:
    for _ in range(reader.tag_count()):
        tag = reader.unsigned_varint()
        content = reader.take(reader.unsigned_varint())
        if tag in known:
            name, read_field = known[tag]
            values[name] = read_field(Reader(content))


def _field_reader(field: dataclasses.Field[Any], flexible: bool, hint: Any) -> Read:
    """`hint` is the type of our field; None when its value is dropped."""
    nullable = NoneType in get_args(field.type)
    entries = entry_type(field.type)
    if entries is not None:
        ours = entry_type(hint) if hint is not None else None
        read_entry = message_reader(_Dropped if ours is None else ours, entries)
        if is_array(field.type):
            return _array_reader(read_entry, flexible, nullable)
        return _nullable_reader(read_entry) if nullable else read_entry
    kafka_type = str(field.metadata["kafka_type"])
    if is_array(field.type):
        return _array_reader(_primitive_reader(kafka_type, flexible, nullable=False), flexible, nullable)
    return _primitive_reader(kafka_type, flexible, nullable=nullable)


def _primitive_reader(kafka_type: str, flexible: bool, *, nullable: bool) -> Read:
    if kafka_type == "string":
        return (
            (lambda reader: reader.nullable_string(flexible)) if nullable else (lambda reader: reader.string(flexible))
        )
    if kafka_type in ("bytes", "records"):
        return lambda reader: _bytes(reader, flexible, nullable)
    return _FIXED[kafka_type]


def _array_reader(read_entry: Read, flexible: bool, nullable: bool) -> Read:
    def read(reader: Reader) -> tuple[Any, ...] | None:
        length = reader.nullable_array_length(flexible)
        if length is None:
            if nullable:
                return None
            raise Malformed("null where a list is required")
        return tuple([read_entry(reader) for _ in range(length)])

    return read


def _nullable_reader(read_entry: Read) -> Read:
    """A structure that may be absent comes after one byte that says so."""
    return lambda reader: None if reader.int8() < 0 else read_entry(reader)


def _bytes(reader: Reader, flexible: bool, nullable: bool) -> bytes | None:
    content = reader.nullable_bytes(flexible)
    if content is None and not nullable:
        raise Malformed("null where bytes are required")
    return None if content is None else bytes(content)


class _Dropped(NamedTuple):
    """Entries that no message of ours wants."""
