"""Protobuf messages: from a .proto text or a descriptor, and made from columns."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

import pyarrow as pa
from google.protobuf import (
    any_pb2,
    descriptor_pb2,
    duration_pb2,
    empty_pb2,
    field_mask_pb2,
    struct_pb2,
    timestamp_pb2,
    wrappers_pb2,
)
from google.protobuf.descriptor import Descriptor, FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError

from headrace.errors import InvalidInput
from headrace.formats.proto_text import parse_proto

ROW_NAME: Final = "Row"
FILE_NAME: Final = "value.proto"

_WELL_KNOWN: Final[tuple[FileDescriptor, ...]] = tuple(
    module.DESCRIPTOR
    for module in (
        any_pb2,
        descriptor_pb2,
        duration_pb2,
        empty_pb2,
        field_mask_pb2,
        struct_pb2,
        timestamp_pb2,
        wrappers_pb2,
    )
)
_WRITTEN: Final[dict[pa.DataType, str]] = {
    pa.bool_(): "bool",
    pa.int8(): "int32",
    pa.int16(): "int32",
    pa.int32(): "int32",
    pa.int64(): "int64",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.binary(): "bytes",
    pa.date32(): "int32",
    pa.timestamp("us", tz="UTC"): "google.protobuf.Timestamp",
}
_KEYS: Final = ("bool", "int32", "int64", "string")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def file_of(text: str, name: str = FILE_NAME) -> FileDescriptorProto:
    """A .proto text, or a descriptor of one file in base64, as some clients send it. Raises InvalidInput."""
    if re.fullmatch(r"[A-Za-z0-9+/=\s]+", text):
        try:
            return FileDescriptorProto.FromString(base64.b64decode(text, validate=True))
        except (DecodeError, binascii.Error, ValueError):
            raise InvalidInput("neither a .proto text nor a descriptor in base64") from None
    return parse_proto(text, name)


@lru_cache(maxsize=256)
def message_of(text: str, name: str | None = None) -> Descriptor:
    """The message of this name, or the first of the file. Raises InvalidInput where there is none."""
    return find_message(load_file(file_of(text)), name)


def load_file(file: FileDescriptorProto, imports: Mapping[str, FileDescriptorProto] | None = None) -> FileDescriptor:
    """The file with its names resolved; the well-known types can be imported. Raises InvalidInput."""
    pool = DescriptorPool()
    known = {descriptor.name: descriptor.serialized_pb for descriptor in _WELL_KNOWN}
    given = {name: one.SerializeToString() for name, one in (imports or {}).items()}
    for dependency in (*file.dependency, *given):
        if dependency not in known and dependency not in given:
            raise InvalidInput(f"the import {dependency!r} is not known here", valid=tuple(sorted({*known, *given})))
    try:
        for data in (*known.values(), *given.values()):
            pool.AddSerializedFile(data)
        # Every file has a name of its own in a pool, whatever it was called where it came from.
        copy = FileDescriptorProto.FromString(file.SerializeToString())
        copy.name = copy.name if copy.name and copy.name not in {*known, *given} else FILE_NAME
        pool.AddSerializedFile(copy.SerializeToString())
        return pool.FindFileByName(copy.name)
    except (TypeError, KeyError, ValueError) as error:
        raise InvalidInput(f"the .proto file is not valid: {error}") from error


def find_message(file: FileDescriptor, name: str | None) -> Descriptor:
    found = {message.full_name: message for message in _messages(list(file.message_types_by_name.values()))}
    if not found:
        raise InvalidInput("the .proto file has no message")
    if name is None:
        return next(iter(found.values()))
    for full_name, message in found.items():
        if name in (full_name, full_name.removeprefix(f"{file.package}.")):
            return message
    raise InvalidInput(f"no message {name!r} in the .proto file", valid=tuple(found))


def message_at(file: FileDescriptor, path: Sequence[int]) -> Descriptor:
    """By its place in the file, then in the message around it. Raises InvalidInput where there is none."""
    try:
        message: Descriptor = list(file.message_types_by_name.values())[path[0]]
        for index in path[1:]:
            message = message.nested_types[index]
    except IndexError:
        raise InvalidInput(f"the .proto file has no message at {list(path)}") from None
    return message


def path_of(message: Descriptor) -> tuple[int, ...]:
    """The way to a message, as `message_at` takes it."""
    if message.containing_type is None:
        return (list(message.file.message_types_by_name.values()).index(message),)
    inside = message.containing_type
    return (*path_of(inside), list(inside.nested_types).index(message))


def proto_of(columns: pa.Schema, name: str = ROW_NAME) -> str:
    """A .proto text with a message for rows of these columns. Raises InvalidInput for what Protobuf cannot say."""
    body = _message_text(name, [(field.name, field.type) for field in columns], "")
    imports = 'import "google/protobuf/timestamp.proto";\n' if "google.protobuf.Timestamp" in body else ""
    return f'syntax = "proto3";\n{imports}{body}'


def _messages(first: list[Descriptor]) -> list[Descriptor]:
    """Outer ones before those inside them, maps' pairs left out."""
    found = [message for message in first if not message.GetOptions().map_entry]
    inner = [nested for message in found for nested in _messages(list(message.nested_types))]
    return [*found, *inner]


def _message_text(name: str, fields: list[tuple[str, pa.DataType]], indent: str) -> str:
    lines = [f"{indent}message {name} {{"]
    for number, (field, type_) in enumerate(fields, 1):
        if not _NAME.fullmatch(field):
            hint = "letters, digits and '_'; rename it in a select"
            raise InvalidInput(f"{field!r} is no name in Protobuf", hint=hint)
        nested, written = _field_text(field, type_, indent + "  ")
        lines += [*nested, f"{indent}  {written} {field} = {number};"]
    return "\n".join([*lines, f"{indent}}}", ""])


def _field_text(field: str, type_: pa.DataType, indent: str) -> tuple[list[str], str]:
    """The messages that the field needs, and its type with its label."""
    if isinstance(type_, pa.ListType):
        nested, written = _single(field, type_.value_type, indent)
        return nested, f"repeated {written}"
    if isinstance(type_, pa.MapType):
        nested, value = _single(field, type_.item_type, indent)
        key = _WRITTEN.get(type_.key_type)
        if key not in _KEYS or type_.key_type == pa.date32():
            raise InvalidInput(f"a map in Protobuf has no keys of type {type_.key_type}, as {field!r} has", valid=_KEYS)
        return nested, f"map<{key}, {value}>"
    nested, written = _single(field, type_, indent)
    return nested, f"optional {written}"


def _single(field: str, type_: pa.DataType, indent: str) -> tuple[list[str], str]:
    if type_ in _WRITTEN:
        return [], _WRITTEN[type_]
    if pa.types.is_decimal(type_):
        return [], "string"
    if isinstance(type_, pa.StructType):
        name = "".join(part[:1].upper() + part[1:] for part in field.split("_")) + "Value"
        return [_message_text(name, [(inner.name, inner.type) for inner in type_], indent).rstrip()], name
    raise InvalidInput(f"Protobuf has no lists of lists or maps, as in {field!r}: {type_}", hint="put a STRUCT between")
