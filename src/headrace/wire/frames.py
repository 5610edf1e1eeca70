"""Frames: a four byte length and that many bytes. Requests begin with a header, responses with a correlation id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from struct import Struct
from typing import Final, NamedTuple

import numpy as np

from headrace.log import Span
from headrace.wire.packing import INT32, Malformed, Reader

LENGTH_BYTES: Final = 4
RECEIVE_BUFFER_BYTES: Final = 64 * 1024
# A claimed length is believed this far before its bytes arrive; beyond it the buffer grows with them.
TRUSTED_FRAME_BYTES: Final = 1024 * 1024

# Api key, version, correlation id; and of a response its length and the correlation id.
_HEADER: Final = Struct(">hhi")
_RESPONSE: Final = Struct(">ii")

Part = bytes | bytearray | memoryview
Piece = Part | Span
"""What a response is made of: bytes, and records that are still in their file."""


class FrameReceiver:
    """Cuts a byte stream into frames. Small frames are copied out of one shared buffer, large ones get their own.

    The transport asks for `free()` space, fills it, and calls `advance`, which yields every frame completed by that.
    """

    __slots__ = ("_filled", "_large", "_large_bytes", "_shared", "_view", "frame_bytes_max")

    def __init__(self, frame_bytes_max: int) -> None:
        # May be changed at any time; frames whose length was read already are not concerned.
        self.frame_bytes_max = frame_bytes_max
        # Made with the first byte: who never says anything costs next to nothing.
        self._shared = bytearray()
        self._view = memoryview(self._shared)
        self._large: memoryview | None = None
        self._large_bytes = 0
        self._filled = 0

    def free(self) -> memoryview:
        """Space to receive into; never empty."""
        if not self._shared:
            self._shared = bytearray(RECEIVE_BUFFER_BYTES)
            self._view = memoryview(self._shared)
        view = self._view if self._large is None else self._large
        return view[self._filled :] if self._filled else view

    @property
    def is_partial(self) -> bool:
        """Whether a frame has begun and is not whole."""
        return self._filled > 0

    def advance(self, received: int) -> Iterable[memoryview | bytes]:
        """Called after `received` bytes were put into `free()`. Raises Malformed on an impossible length."""
        self._filled = filled = self._filled + received
        if self._large is not None:
            return self._advance_large(self._large)
        if filled >= LENGTH_BYTES and self._frame_size(0) == filled - LENGTH_BYTES:
            # Just one, as of any client that waits for its answer.
            self._filled = 0
            return (bytes(self._view[LENGTH_BYTES:filled]),)
        return self._advance_shared()

    def _advance_large(self, large: memoryview) -> Iterator[memoryview]:
        if self._filled == self._large_bytes:
            self._large, self._filled = None, 0
            yield large[LENGTH_BYTES:]
        elif self._filled == len(large):
            self._large = _room(min(2 * len(large), self._large_bytes))
            self._large[: self._filled] = large

    def _advance_shared(self) -> Iterator[bytes]:
        start = 0
        while self._filled - start >= LENGTH_BYTES:
            total = LENGTH_BYTES + self._frame_size(start)
            if total > self._filled - start:
                self._expect(start, total)
                return
            yield bytes(self._view[start + LENGTH_BYTES : start + total])
            start += total
        self._keep_rest(self._shared, start)

    def _expect(self, start: int, total: int) -> None:
        """Make room for the rest of a frame that began at `start`."""
        if total <= RECEIVE_BUFFER_BYTES:
            self._keep_rest(self._shared, start)
            return
        self._large, self._large_bytes = _room(min(total, TRUSTED_FRAME_BYTES)), total
        self._keep_rest(self._large, start)

    def _keep_rest(self, target: bytearray | memoryview, start: int) -> None:
        if start == self._filled:
            self._filled = 0
            return
        rest = self._shared[start : self._filled]
        target[: len(rest)] = rest
        self._filled = len(rest)

    def _frame_size(self, start: int) -> int:
        size: int = INT32.unpack_from(self._shared, start)[0]
        if size < 0 or size > self.frame_bytes_max:
            raise Malformed(f"a frame of {size} bytes; at most {self.frame_bytes_max} are accepted")
        return size


def _room(size_bytes: int) -> memoryview:
    """Not set to zero, as Python's own buffers are: it is filled before anybody reads it."""
    return np.empty(size_bytes, dtype=np.uint8).data


class RequestHeader(NamedTuple):
    api_key: int
    version: int
    correlation_id: int
    client_id: str | None


def read_header(reader: Reader) -> RequestHeader:
    """The part of the header that every version has. Tagged fields, where the version has them, are still unread."""
    api_key, version, correlation_id = reader.fields(_HEADER)
    return RequestHeader(api_key, version, correlation_id, reader.nullable_string())


def response_frame(correlation_id: int, flexible_header: bool, body: Sequence[Piece]) -> list[Piece]:
    """The whole response as pieces to send one after the other; the body is not copied."""
    tags = b"\0" if flexible_header else b""
    size = LENGTH_BYTES + len(tags) + sum([len(part) for part in body])
    return [_RESPONSE.pack(size, correlation_id) + tags, *body]
