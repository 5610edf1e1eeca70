"""Whether messages of one .proto file are read rightly with another: fields are matched by number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from google.protobuf.descriptor import Descriptor, FieldDescriptor, FileDescriptor

# Types that are the same on the wire, and mean the same.
_GROUPS: Final = (
    ("int32", "uint32", "int64", "uint64", "bool", "enum"),
    ("sint32", "sint64"),
    ("fixed32", "sfixed32"),
    ("fixed64", "sfixed64"),
    ("string", "bytes"),
)
_KINDS: Final[dict[int, str]] = {
    getattr(FieldDescriptor, f"TYPE_{name.upper()}"): name
    for name in (*(name for group in _GROUPS for name in group), "double", "float", "message")
}


def protobuf_problems(reader: FileDescriptor, writer: FileDescriptor) -> list[str]:
    """Why the reader cannot read all that the writer may write; nothing where it can."""
    found: list[str] = []
    if reader.package != writer.package:
        found.append(f"the package changes from {writer.package!r} to {reader.package!r}")
    return found + _namesakes(reader.message_types_by_name, writer.message_types_by_name)


def _namesakes(reader: Mapping[str, Descriptor], writer: Mapping[str, Descriptor]) -> list[str]:
    """Of messages of one file, or inside one message: values may be written as any of them."""
    found: list[str] = []
    for name, message in writer.items():
        if message.GetOptions().map_entry:
            continue
        if name not in reader:
            found.append(f"the message {_local(message)!r} is gone")
        else:
            found += _messages(reader[name], message, frozenset())
            found += _namesakes(reader[name].nested_types_by_name, message.nested_types_by_name)
    return found


def _messages(reader: Descriptor, writer: Descriptor, inside: frozenset[str]) -> list[str]:
    if writer.full_name in inside:
        return []
    inside |= {writer.full_name}
    found: list[str] = []
    for number, field in reader.fields_by_number.items():
        written = writer.fields_by_number.get(number)
        place = f"{_local(reader)}.{field.name}"
        if written is not None:
            found += _fields(field, written, place, inside)
        elif field.is_required:
            found.append(f"{place} is required, and the writer does not write it")
    return found + _gone(reader, writer) + _moved_into_oneof(reader, writer)


def _gone(reader: Descriptor, writer: Descriptor) -> list[str]:
    """Fields that the reader no longer has, where that matters."""
    found: list[str] = []
    kept = {_oneof(field) for field in reader.fields}
    for number, field in writer.fields_by_number.items():
        if number in reader.fields_by_number:
            continue
        place = f"{_local(writer)}.{field.name}"
        if field.is_required:
            found.append(f"{place} is required, and gone")
        elif (oneof := _oneof(field)) is not None and oneof in kept:
            found.append(f"{place} is gone from a oneof")
    return found


def _fields(reader: FieldDescriptor, writer: FieldDescriptor, place: str, inside: frozenset[str]) -> list[str]:
    kinds = _kind(reader), _kind(writer)
    if kinds[0] != kinds[1] and not any(set(kinds) <= set(group) for group in _GROUPS):
        return [f"{place}: {kinds[1]} is not read as {kinds[0]}"]
    if reader.is_repeated != writer.is_repeated and kinds[0] not in ("string", "bytes", "message"):
        return [f"{place}: a single number and a list of them are not the same"]
    if reader.is_required and not writer.is_required:
        return [f"{place} is required, and the writer may leave it out"]
    if reader.message_type is None or writer.message_type is None:
        return []
    if kinds[0] == "message" and _local(reader.message_type) != _local(writer.message_type):
        return [f"{place}: the message {_local(writer.message_type)!r} is not {_local(reader.message_type)!r}"]
    return _messages(reader.message_type, writer.message_type, inside)


def _kind(field: FieldDescriptor) -> str:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return "map"
    return _KINDS.get(field.type, "group")


def _local(message: Descriptor) -> str:
    """Its name without the package."""
    return message.full_name.removeprefix(f"{message.file.package}.")


def _oneof(field: FieldDescriptor) -> str | None:
    """The oneof that the field is in. An optional field has one of its own, which nobody wrote."""
    oneof = field.containing_oneof
    return None if oneof is None or oneof.name == f"_{field.name}" else str(oneof.name)


def _moved_into_oneof(reader: Descriptor, writer: Descriptor) -> list[str]:
    """Two fields that could be set together cannot be any more."""
    found: list[str] = []
    for oneof in reader.oneofs:
        fields = [
            writer.fields_by_number[field.number] for field in oneof.fields if field.number in writer.fields_by_number
        ]
        free = [field for field in fields if _oneof(field) is None]
        if free and len(fields) > 1:
            names = ", ".join(repr(field.name) for field in free)
            found.append(f"{_local(reader)}: {names} moved into the oneof {oneof.name!r}")
    return found
