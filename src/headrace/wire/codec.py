"""Messages of control requests to bytes and back, in every version, through kio's generated schemas.

A message is one frozen dataclass of ours that holds the fields of all versions. kio has one class per version. The two
are matched by field name: a version that lacks a field leaves ours at its default, and drops it when encoding.
Durations are integers named `*_ms` on our side. kio's modules are imported per message on first use, since all of them
together cost more than a second and 50 MB.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable
from datetime import timedelta
from functools import cache
from importlib import import_module
from io import BytesIO
from types import UnionType
from typing import Any, Final, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from headrace.wire.packing import Malformed

Kind = Literal["request", "response"]
Convert = Callable[[Any], Any]
Message = TypeVar("Message")

_MILLISECOND: Final = timedelta(milliseconds=1)


def wire_name(name: str, default: object = dataclasses.MISSING) -> Any:
    """A field of ours that the protocol calls by another name."""
    return dataclasses.field(default=default, metadata={"wire_name": name})


def decode(message: type[Message], schema: str, kind: Kind, version: int, body: memoryview | bytes) -> Message:
    """Bytes to a message of ours. Raises Malformed when they are not one.

    Bytes after the last field are ignored, as Kafka does: librdkafka 2.16 sends some with Metadata for all topics.
    """
    parse, adopt = _decoder(cast(Hashable, message), schema, kind, version)
    try:
        entity, _ = parse(body, 0)
        adopted: Message = adopt(entity)
    # kio raises several kinds (underflow, bad text, overflow, null where none may be): to a broker they are all one.
    except Exception as error:
        raise Malformed(f"no {schema} {kind} of version {version}: {type(error).__name__}: {error}") from None
    return adopted


def encode(message: Any, schema: str, kind: Kind, version: int) -> bytes:
    """A message of ours to bytes."""
    write, render = _encoder(cast(Hashable, type(message)), schema, kind, version)
    buffer = BytesIO()
    write(buffer, render(message))
    return buffer.getvalue()


@cache
def _decoder(message: Hashable, schema: str, kind: Kind, version: int) -> tuple[Callable[..., Any], Convert]:
    from kio.serial import entity_reader  # noqa: PLC0415 - imported on first use, see above

    theirs = _entity_type(schema, kind, version)
    return entity_reader(theirs), _adopter(message, theirs)


@cache
def _encoder(message: Hashable, schema: str, kind: Kind, version: int) -> tuple[Callable[..., Any], Convert]:
    from kio.serial import entity_writer  # noqa: PLC0415 - imported on first use, see above

    theirs = _entity_type(schema, kind, version)
    return entity_writer(theirs), _renderer(message, theirs)


def _entity_type(schema: str, kind: Kind, version: int) -> Any:
    module = import_module(f"kio.schema.{schema}.v{version}.{kind}")
    name = schema.replace("_", "") + kind
    return next(value for key, value in vars(module).items() if key.lower() == name)


def is_flexible(schema: str, version: int) -> bool:
    """Whether a version uses the compact encoding, and with it headers with tagged fields."""
    return bool(_entity_type(schema, "request", version).__flexible__)


def _adopter(ours: Any, theirs: Any) -> Convert:
    """A function from an entity of kio to a message of ours."""
    known = {field.name: field for field in dataclasses.fields(theirs)}
    hints = get_type_hints(ours)
    plan: list[tuple[str, str, Convert | None]] = []
    for field in dataclasses.fields(ours):
        name = _their_name(field, known)
        if name is not None:
            plan.append((field.name, name, _field_conversion(hints[field.name], known[name], _adopter, _to_ms)))

    def adopt(entity: Any) -> Any:
        values = {}
        for our_name, their_name, convert in plan:
            value = getattr(entity, their_name)
            values[our_name] = value if convert is None or value is None else convert(value)
        return ours(**values)

    return adopt


def _renderer(ours: Any, theirs: Any) -> Convert:
    """A function from a message of ours to an entity of kio."""
    hints = get_type_hints(ours)
    known = {field.name: field for field in dataclasses.fields(theirs)}
    by_their_name = {_their_name(field, known): field.name for field in dataclasses.fields(ours)}
    plan: list[tuple[str, str, Convert | None]] = []
    fixed: dict[str, object] = {}
    for name, field in known.items():
        our_name = by_their_name.get(name)
        if our_name is not None:
            plan.append((name, our_name, _field_conversion(hints[our_name], field, _renderer, _from_ms)))
        elif field.default is dataclasses.MISSING:
            fixed[name] = _neutral(ours, field)

    def render(message: Any) -> Any:
        values = dict(fixed)
        for their_name, our_name, convert in plan:
            value = getattr(message, our_name)
            values[their_name] = value if convert is None or value is None else convert(value)
        return theirs(**values)

    return render


def _their_name(field: dataclasses.Field[Any], known: dict[str, dataclasses.Field[Any]]) -> str | None:
    for candidate in (field.metadata.get("wire_name"), field.name, field.name.removesuffix("_ms")):
        if candidate in known:
            return str(candidate)
    return None


def _neutral(ours: Any, field: dataclasses.Field[Any]) -> object:
    if field.name == "throttle_time":  # clients are slowed by back-pressure on the connection, never by this
        return timedelta(0)
    raise TypeError(f"{ours.__name__} needs a field {field.name!r}")


def _field_conversion(
    hint: Any, theirs: dataclasses.Field[Any], nested: Callable[[Any, Any], Convert], duration: Convert
) -> Convert | None:
    if str(theirs.metadata.get("kafka_type", "")).startswith("timedelta"):
        return duration
    our_entry, their_entry = _dataclass_in(hint), _dataclass_in(theirs.type)
    if our_entry is None or their_entry is None:
        return None
    convert = nested(our_entry, their_entry)
    return lambda values: tuple([convert(value) for value in values])


def _dataclass_in(hint: Any) -> type[Any] | None:
    """The dataclass inside `tuple[X, ...]` or `tuple[X, ...] | None`."""
    if dataclasses.is_dataclass(hint):
        return hint if isinstance(hint, type) else None
    if get_origin(hint) in (tuple, Union, UnionType):
        found = [_dataclass_in(argument) for argument in get_args(hint)]
        return next((entry for entry in found if entry is not None), None)
    return None


def _to_ms(duration: timedelta) -> int:
    return duration // _MILLISECOND


def _from_ms(duration_ms: int) -> timedelta:
    return timedelta(milliseconds=duration_ms)
