"""Values that name their schema: Confluent's wire format.

A zero byte, the schema's id in four bytes, and before a Protobuf message which one of the file it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias, cast

import pyarrow as pa
import pyarrow.compute as pc

from headrace.errors import InvalidInput, NotFound
from headrace.formats.decoding import NO_VALUE, UNREADABLE, Bad, Decoded, Decoder, at_places, combine, in_order, reason

HEAD_BYTES: Final = 5
INDEXES_MAX: Final = 32

MessagePath: TypeAlias = tuple[int, ...]
SchemaKey: TypeAlias = tuple[int, MessagePath]
"""A schema's id and, of Protobuf, the way to the message: its place in the file, then in the message around it."""


def prefix(schema_id: int, path: MessagePath | None = None) -> bytes:
    """What stands before a value; `path` is given for Protobuf."""
    head = b"\0" + schema_id.to_bytes(4, "big")
    if path is None:
        return head
    # The first message of a file is so common that it has a short form.
    return head + (b"\0" if path == (0,) else b"".join(_varint(number) for number in (len(path), *path)))


def with_prefix(values: pa.Array[Any], before: bytes) -> pa.Array[Any]:
    if not before:
        return values
    parts: list[Any] = [pa.scalar(before, pa.binary()), values, pa.scalar(b"", pa.binary())]
    return cast("pa.Array[Any]", pc.binary_join_element_wise(*parts))


def split(value: bytes, *, has_path: bool) -> tuple[SchemaKey, bytes]:
    """Raises ValueError for a value that does not begin so."""
    if len(value) < HEAD_BYTES or value[0] != 0:
        raise ValueError("the value does not begin with a zero byte and the id of a schema")
    schema_id = int.from_bytes(value[1:HEAD_BYTES], "big")
    if not has_path:
        return (schema_id, ()), value[HEAD_BYTES:]
    count, position = _read_varint(value, HEAD_BYTES)
    if not 0 <= count <= INDEXES_MAX:
        raise ValueError(f"{count} message indexes")
    path: list[int] = []
    for _ in range(count):
        number, position = _read_varint(value, position)
        path.append(number)
    return (schema_id, tuple(path) or (0,)), value[position:]


class FramedDecoder:
    """Values of several schemas may stand side by side: each is decoded with its own."""

    def __init__(self, schema: pa.Schema, make: Callable[[SchemaKey], Decoder], *, has_path: bool) -> None:
        """`make` raises NotFound and InvalidInput for a schema that is not there or does not fit the columns."""
        self.schema = schema
        self._make = make
        self._has_path = has_path
        self._decoders: dict[SchemaKey, Decoder | str] = {}

    def __call__(self, values: pa.BinaryArray) -> Decoded:
        groups: dict[SchemaKey, tuple[list[int], list[bytes]]] = {}
        bad: list[Bad] = []
        for index, value in enumerate(cast("Sequence[bytes | None]", values.to_pylist())):
            try:
                if value is None:
                    raise ValueError(NO_VALUE)
                key, rest = split(value, has_path=self._has_path)
            except UNREADABLE as error:
                bad.append(Bad(index, reason(error)))
                continue
            indices, payloads = groups.setdefault(key, ([], []))
            indices.append(index)
            payloads.append(rest)
        unframed = Decoded(combine([], self.schema), pa.array([], pa.int64()), tuple(bad))
        parts = [self._group(key, *group) for key, group in groups.items()]
        return in_order([*parts, unframed] if bad or not parts else parts, self.schema)

    def _group(self, key: SchemaKey, indices: list[int], payloads: list[bytes]) -> Decoded:
        decoder = self._decoder(key)
        if isinstance(decoder, str):
            return Decoded(combine([], self.schema), pa.array([], pa.int64()), tuple(Bad(i, decoder) for i in indices))
        return at_places(decoder(pa.array(payloads, pa.binary())), indices)

    def _decoder(self, key: SchemaKey) -> Decoder | str:
        """The decoder for a schema, or why there is none."""
        if key not in self._decoders:
            try:
                self._decoders[key] = self._make(key)
            except (NotFound, InvalidInput) as error:
                self._decoders[key] = f"schema {key[0]}: {error.message}"
            except UNREADABLE as error:
                self._decoders[key] = f"schema {key[0]}: {reason(error)}"
        return self._decoders[key]


def _varint(number: int) -> bytes:
    """Zigzag, seven bits a byte, as Avro and Kafka write whole numbers."""
    rest = (number << 1) ^ (number >> 31)
    made = bytearray()
    while rest > 0x7F:
        made.append(rest & 0x7F | 0x80)
        rest >>= 7
    made.append(rest)
    return bytes(made)


def _read_varint(data: bytes, position: int) -> tuple[int, int]:
    shift = found = 0
    while shift < HEAD_BYTES * 7:
        byte = data[position]
        position += 1
        found |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (found >> 1) ^ -(found & 1), position
        shift += 7
    raise ValueError("a message index is too long")
