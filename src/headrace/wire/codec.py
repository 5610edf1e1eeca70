"""Messages of control requests to bytes and back, in every version, by kio's generated schemas.

A message is one frozen dataclass of ours that holds the fields of all versions. kio has one class per version. The two
are matched by field name: a version that lacks a field leaves ours at its default, and drops it when encoding.
Durations are integers named `*_ms` on our side.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable
from datetime import timedelta
from functools import cache
from io import BytesIO
from typing import Any, TypeVar, cast, get_type_hints

from headrace.wire.decoding import Read, message_reader
from headrace.wire.packing import Reader
from headrace.wire.schema import Kind, entity_type, entry_type, our_names

Convert = Callable[[Any], Any]
Message = TypeVar("Message")


def wire_name(name: str, default: object = dataclasses.MISSING) -> Any:
    """A field of ours that the protocol calls by another name."""
    return dataclasses.field(default=default, metadata={"wire_name": name})


def decode(message: type[Message], schema: str, kind: Kind, version: int, reader: Reader) -> Message:
    """Bytes to a message of ours. Raises Malformed when they are not one.

    Bytes after the last field are ignored, as Kafka does: librdkafka 2.16 sends some with Metadata for all topics.
    """
    decoded: Message = _decoder(cast(Hashable, message), schema, kind, version)(reader)
    return decoded


def encode(message: Any, schema: str, kind: Kind, version: int) -> bytes:
    """A message of ours to bytes."""
    write, render = _encoder(cast(Hashable, type(message)), schema, kind, version)
    buffer = BytesIO()
    write(buffer, render(message))
    return buffer.getvalue()


@cache
def _decoder(message: Hashable, schema: str, kind: Kind, version: int) -> Read:
    return message_reader(message, entity_type(schema, kind, version))


@cache
def _encoder(message: Hashable, schema: str, kind: Kind, version: int) -> tuple[Callable[..., Any], Convert]:
    from kio.serial import entity_writer  # noqa: PLC0415 - imported on first use, see `schema`

    theirs = entity_type(schema, kind, version)
    return entity_writer(theirs), _renderer(message, theirs)


def _renderer(ours: Any, theirs: Any) -> Convert:
    """A function from a message of ours to an entity of kio."""
    hints = get_type_hints(ours)
    names = our_names(ours, theirs)
    plan: list[tuple[str, str, Convert | None]] = []
    fixed: dict[str, object] = {}
    for field in dataclasses.fields(theirs):
        if field.name in names:
            our_name = names[field.name]
            plan.append((field.name, our_name, _conversion(hints[our_name], field)))
        elif field.default is dataclasses.MISSING:
            fixed[field.name] = _neutral(ours, field)

    def render(message: Any) -> Any:
        values = dict(fixed)
        for their_name, our_name, convert in plan:
            value = getattr(message, our_name)
            values[their_name] = value if convert is None or value is None else convert(value)
        return theirs(**values)

    return render


def _neutral(ours: Any, field: dataclasses.Field[Any]) -> object:
    if field.name == "throttle_time":  # clients are slowed by back-pressure on the connection, never by this
        return timedelta(0)
    raise TypeError(f"{ours.__name__} needs a field {field.name!r}")


def _conversion(hint: Any, theirs: dataclasses.Field[Any]) -> Convert | None:
    if str(theirs.metadata.get("kafka_type", "")).startswith("timedelta"):
        return _from_ms
    our_entry, their_entry = entry_type(hint), entry_type(theirs.type)
    if our_entry is None or their_entry is None:
        return None
    convert = _renderer(our_entry, their_entry)
    return lambda values: tuple([convert(value) for value in values])


def _from_ms(duration_ms: int) -> timedelta:
    return timedelta(milliseconds=duration_ms)
