"""Primitive types of the Kafka protocol, read from and written to bytes.

Only Produce, Fetch, request headers and the broker's own state records are packed by hand; everything else goes
through `codec`.
"""

from __future__ import annotations

import struct
from typing import Final
from uuid import UUID

INT8: Final = struct.Struct(">b")
INT16: Final = struct.Struct(">h")
INT32: Final = struct.Struct(">i")
INT64: Final = struct.Struct(">q")
FLOAT64: Final = struct.Struct(">d")

UUID_BYTES: Final = 16

# A varint of the protocol has at most five bytes of seven bits.
VARINT_SHIFT_MAX: Final = 28


class Malformed(Exception):
    """Bytes that are no valid message. The text names what was wrong, never the bytes themselves."""


class Reader:
    """Reads primitives in order from one buffer; raises Malformed where the buffer does not hold what was asked for."""

    __slots__ = ("_buffer", "_end", "position")

    def __init__(self, buffer: bytes | bytearray | memoryview, position: int = 0) -> None:
        self._buffer = memoryview(buffer).toreadonly()
        self._end = len(self._buffer)
        self.position = position

    @property
    def whole(self) -> memoryview:
        """All that it was made with, wherever it stands now."""
        return self._buffer

    @property
    def remaining(self) -> int:
        return self._end - self.position

    def fields(self, kind: struct.Struct) -> tuple[int, ...]:
        """Numbers that stand one after the other."""
        try:
            values = kind.unpack_from(self._buffer, self.position)
        except struct.error:
            raise Malformed(f"ends inside a number of {kind.size} bytes") from None
        self.position += kind.size
        return values

    def int8(self) -> int:
        return self.fields(INT8)[0]

    def int16(self) -> int:
        return self.fields(INT16)[0]

    def int32(self) -> int:
        return self.fields(INT32)[0]

    def int64(self) -> int:
        return self.fields(INT64)[0]

    def float64(self) -> float:
        return float(FLOAT64.unpack(self.take(FLOAT64.size))[0])

    def uuid(self) -> UUID:
        return UUID(bytes=bytes(self.take(UUID_BYTES)))

    def unsigned_varint(self) -> int:
        if self.position < self._end and (first := self._buffer[self.position]) < 0x80:
            self.position += 1
            return first
        return self._long_varint()

    def _long_varint(self) -> int:
        value = 0
        try:
            for shift in range(0, VARINT_SHIFT_MAX + 1, 7):
                byte = self._buffer[self.position]
                self.position += 1
                value |= (byte & 0x7F) << shift
                if byte < 0x80:
                    return value
        except IndexError:
            raise Malformed("ends inside a varint") from None
        raise Malformed("a varint longer than five bytes")

    def take(self, length: int) -> memoryview:
        """The next `length` bytes, not copied."""
        start = self.position
        end = start + length
        if length < 0 or end > self._end:
            raise Malformed(f"a field of {length} bytes where {self.remaining} are left")
        self.position = end
        return self._buffer[start:end]

    def _text(self, length: int) -> str:
        try:
            return str(self.take(length), "utf-8")
        except UnicodeDecodeError:
            raise Malformed("a string that is not UTF-8") from None

    def nullable_string(self, flexible: bool = False) -> str | None:
        length = self.unsigned_varint() - 1 if flexible else self.fields(INT16)[0]
        return None if length == -1 else self._text(length)

    def string(self, flexible: bool = False) -> str:
        text = self.nullable_string(flexible)
        if text is None:
            raise Malformed("null where a string is required")
        return text

    def nullable_bytes(self, flexible: bool = False) -> memoryview | None:
        length = self.unsigned_varint() - 1 if flexible else self.fields(INT32)[0]
        return None if length == -1 else self.take(length)

    def nullable_array_length(self, flexible: bool = False) -> int | None:
        """The length of an array. An entry has at least one byte: a longer claim is refused."""
        length = self.unsigned_varint() - 1 if flexible else self.fields(INT32)[0]
        if length < -1 or length > self._end - self.position:
            raise Malformed(f"an array of {length} entries in {self.remaining} bytes")
        return None if length == -1 else length

    def array_length(self, flexible: bool = False) -> int:
        """As `nullable_array_length`, null read as empty."""
        return self.nullable_array_length(flexible) or 0

    def tag_count(self) -> int:
        """How many tagged fields follow; each has at least two bytes."""
        count = self.unsigned_varint()
        if count > self.remaining:
            raise Malformed(f"{count} tagged fields in {self.remaining} bytes")
        return count

    def skip_tagged_fields(self, flexible: bool = True) -> None:
        if not flexible:
            return
        if self.position < self._end and self._buffer[self.position] == 0:
            self.position += 1  # none, as almost always
            return
        for _ in range(self.tag_count()):
            self.unsigned_varint()
            self.take(self.unsigned_varint())


class Writer:
    """Builds one message from primitives. `flexible` fields are those of the protocol's compact encoding."""

    __slots__ = ("_buffer",)

    def __init__(self) -> None:
        self._buffer = bytearray()

    def __len__(self) -> int:
        return len(self._buffer)

    def getvalue(self) -> bytes:
        return bytes(self._buffer)

    def fields(self, kind: struct.Struct, *values: int) -> None:
        """Numbers one after the other."""
        self._buffer += kind.pack(*values)

    def int8(self, value: int) -> None:
        self._buffer += INT8.pack(value)

    def int16(self, value: int) -> None:
        self._buffer += INT16.pack(value)

    def int32(self, value: int) -> None:
        self._buffer += INT32.pack(value)

    def int64(self, value: int) -> None:
        self._buffer += INT64.pack(value)

    def float64(self, value: float) -> None:
        self._buffer += FLOAT64.pack(value)

    def unsigned_varint(self, value: int) -> None:
        while value > 0x7F:
            self._buffer.append(value & 0x7F | 0x80)
            value >>= 7
        self._buffer.append(value)

    def string(self, text: str | None, flexible: bool = False) -> None:
        raw = None if text is None else text.encode()
        length = -1 if raw is None else len(raw)
        if flexible:
            self.unsigned_varint(length + 1)
        else:
            self.int16(length)
        self._buffer += raw or b""

    def bytes_length(self, length: int, flexible: bool = False) -> None:
        """The length of a bytes field whose content follows elsewhere; -1 is null."""
        if flexible:
            self.unsigned_varint(length + 1)
        else:
            self.int32(length)

    def array_length(self, length: int, flexible: bool = False) -> None:
        self.bytes_length(length, flexible)

    def raw(self, content: bytes | memoryview) -> None:
        self._buffer += content

    def no_tagged_fields(self, flexible: bool = True) -> None:
        if flexible:
            self._buffer.append(0)
