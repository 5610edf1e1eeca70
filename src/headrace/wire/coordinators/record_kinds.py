"""Kinds of records in `__consumer_offsets`: the first two bytes of a key, numbered as Kafka's own."""

from __future__ import annotations

from typing import Final

from headrace.errors import Conflict
from headrace.wire.packing import Reader, Writer

OFFSET: Final = 1
CLASSIC_GROUP: Final = 2
CONSUMER_GROUP: Final = 3
CONSUMER_MEMBER: Final = 5
TARGET: Final = 6
MEMBER_TARGET: Final = 7
MEMBER_ASSIGNMENT: Final = 8

# 0 is an older layout of an offset's key, equal to 1.
_KNOWN: Final = (0, OFFSET, CLASSIC_GROUP, CONSUMER_GROUP, CONSUMER_MEMBER, TARGET, MEMBER_TARGET, MEMBER_ASSIGNMENT)


def kind_of(key: bytes) -> int:
    """Raises Conflict for a record that only a newer Headrace can have written, Malformed for one that is none."""
    kind = Reader(key).int16()
    if kind not in _KNOWN:
        raise newer(f"a key of kind {kind}", _KNOWN)
    return OFFSET if kind == 0 else kind


def pack_key(kind: int, *parts: str) -> bytes:
    writer = Writer()
    writer.int16(kind)
    for part in parts:
        writer.string(part)
    return writer.getvalue()


def unpack_key(key: bytes) -> tuple[int, list[str]]:
    """The kind and the names of a key that consists of names."""
    reader = Reader(key)
    kind, names = reader.int16(), []
    while reader.remaining:
        names.append(reader.string())
    return kind, names


def check_version(what: str, version: int, known: int) -> None:
    """Raises Conflict when a value is of a later version than `known`."""
    if version > known:
        raise newer(f"{what} of version {version}", range(known + 1))


def newer(found: str, known: range | tuple[int, ...]) -> Conflict:
    return Conflict(
        f"__consumer_offsets holds {found}; this Headrace knows {', '.join(map(str, known))}",
        hint="start the version of Headrace that wrote the data directory, or a later one",
    )
