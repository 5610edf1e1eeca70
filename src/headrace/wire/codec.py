"""Messages of control requests to bytes and back, in every version.

A message is one named tuple of ours that holds the fields of all versions. kio's schemas have one class per
version. The two are matched by field name: a version that lacks a field leaves ours at its default when decoding, and
drops it when encoding. Durations are integers named `*_ms` on our side.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from typing import Any, TypeVar, cast

from headrace.wire.decoding import Read, message_reader
from headrace.wire.encoding import Write, message_writer
from headrace.wire.packing import Reader, Writer
from headrace.wire.schema import Kind, entity_type

Message = TypeVar("Message")


def decode(message: type[Message], schema: str, kind: Kind, version: int, reader: Reader) -> Message:
    """Bytes to a message of ours. Raises Malformed when they are not one.

    Bytes after the last field are ignored, as Kafka does: librdkafka 2.16 sends some with Metadata for all topics.
    """
    decoded: Message = _reader(cast(Hashable, message), schema, kind, version)(reader)
    return decoded


def encode(message: Any, schema: str, kind: Kind, version: int) -> bytes:
    """A message of ours to bytes."""
    writer = Writer()
    _writer(cast(Hashable, type(message)), schema, kind, version)(writer, message)
    return writer.getvalue()


@cache
def _reader(message: Hashable, schema: str, kind: Kind, version: int) -> Read:
    return message_reader(message, entity_type(schema, kind, version))


@cache
def _writer(message: Hashable, schema: str, kind: Kind, version: int) -> Write:
    return message_writer(message, entity_type(schema, kind, version))
