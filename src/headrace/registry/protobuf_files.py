"""Whether messages of one .proto file are read rightly with another: fields are matched by number."""

from __future__ import annotations

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
    for name, message in writer.message_types_by_name.items():
        if name not in reader.message_types_by_name:
            found.append(f"the message {name!r} is gone")
        else:
            found += _messages(reader.message_types_by_name[name], message, frozenset())
    return found


def _messages(reader: Descriptor, writer: Descriptor, inside: frozenset[str]) -> list[str]:
    if writer.full_name in inside:
        return []
    inside |= {writer.full_name}
    found: list[str] = []
    for number, field in reader.fields_by_number.items():
        written = writer.fields_by_number.get(number)
        if written is not None:
            found += _fields(field, written, f"{reader.full_name}.{field.name}", inside)
        elif field.is_required:
            found.append(f"{reader.full_name}.{field.name} is required, and the writer does not write it")
    for number, field in writer.fields_by_number.items():
        if number not in reader.fields_by_number and _real_oneof(field):
            found.append(f"{writer.full_name}.{field.name} is gone from a oneof")
    return found + _moved_into_oneof(reader, writer)


def _fields(reader: FieldDescriptor, writer: FieldDescriptor, place: str, inside: frozenset[str]) -> list[str]:
    kinds = _kind(reader), _kind(writer)
    if kinds[0] != kinds[1] and not any(set(kinds) <= set(group) for group in _GROUPS):
        return [f"{place}: {kinds[1]} is not read as {kinds[0]}"]
    if reader.is_repeated != writer.is_repeated and kinds[0] not in ("string", "bytes", "message"):
        return [f"{place}: a single number and a list of them are not the same"]
    if reader.is_required and not writer.is_required:
        return [f"{place} is required, and the writer may leave it out"]
    if reader.message_type is not None and writer.message_type is not None:
        return _messages(reader.message_type, writer.message_type, inside)
    return []


def _kind(field: FieldDescriptor) -> str:
    return _KINDS.get(field.type, "group")


def _real_oneof(field: FieldDescriptor) -> bool:
    oneof = field.containing_oneof
    return oneof is not None and len(oneof.fields) > 1


def _moved_into_oneof(reader: Descriptor, writer: Descriptor) -> list[str]:
    """Two fields that could be set together cannot be any more."""
    found: list[str] = []
    for oneof in reader.oneofs:
        written = [writer.fields_by_number.get(field.number) for field in oneof.fields]
        free = [field for field in written if field is not None and not _real_oneof(field)]
        if len(free) > 1:
            found.append(f"{reader.full_name}: several fields moved into the oneof {oneof.name!r}")
    return found
