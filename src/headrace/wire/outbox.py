"""What a connection still has to send: bytes, and batches that the kernel takes straight from their file.

The transport writes bytes, and tells when a full socket has room again. A span goes by `sendfile` into the same socket,
while the transport holds nothing itself; where that cannot be (TLS, or a full socket) it is read piece by piece.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, cast

from headrace.log import Span
from headrace.wire.frames import Part, Piece

# Small parts are joined into one write; a large one is handed over as it is.
JOINED_BYTES_MAX: Final = 64 * 1024
# Of a span, brought into memory at once where nothing is sent from files.
COPIED_BYTES_MAX: Final = 256 * 1024
# Of a span, given to the transport when the socket is full: enough that it waits, and tells when there is room.
WAITING_BYTES_MAX: Final = 8 * 1024
# Sent to one client before others have their turn.
TURN_BYTES_MAX: Final = 4 * 1024 * 1024


class Outbox:
    """Sends pieces in order. Single-threaded: called on the loop.

    The transport may hold nothing back unnoticed: `pause` follows whenever it could not write everything at once.
    """

    def __init__(self, transport: asyncio.Transport, unsent_bytes_max: int, fail: Callable[[str], None]) -> None:
        """`fail` is called when a file cannot be read on: the client was promised more and has to be left."""
        self._transport = transport
        self._unsent_bytes_max = unsent_bytes_max
        self._fail = fail
        self._pieces: deque[Piece] = deque()
        self._queued_bytes = 0
        self._blocked = False
        self._continuing = False
        self._closes = False
        self._socket = _own_socket(transport)
        # TLS pauses at its limit, and not above it.
        transport.set_write_buffer_limits(high=0 if self._socket is not None else 1)

    @property
    def is_empty(self) -> bool:
        return not self._pieces and not self._blocked

    @property
    def is_full(self) -> bool:
        """Whether the client has to read before more is prepared for it."""
        return self._queued_bytes + self._transport.get_write_buffer_size() > self._unsent_bytes_max

    def send(self, pieces: Sequence[Piece]) -> None:
        if not self._pieces and not self._blocked and _is_short(pieces):
            # The transport holds nothing, and most answers are such.
            self._send_short(b"".join(cast(Sequence[Part], pieces)))
            return
        for piece in pieces:
            if len(piece):
                self._pieces.append(piece)
                self._queued_bytes += len(piece)
        self._drain()

    def _send_short(self, content: bytes) -> None:
        """Straight into the socket, which the transport would do in more steps; it gets what did not fit."""
        if self._socket is not None and not self._transport.is_closing():
            try:
                sent = self._socket.send(content)
            except OSError:
                sent = 0  # A full socket has room later; of a broken one the transport learns.
            if sent == len(content):
                return
            content = content[sent:]
        self._transport.write(content)

    def pause(self) -> None:
        """The transport could not write everything."""
        self._blocked = True

    def resume(self) -> None:
        """The transport has written everything."""
        self._blocked = False
        self._drain()

    def close_when_sent(self) -> None:
        self._closes = True
        self._drain()

    def close(self) -> None:
        """Nothing is sent any more, and no file is held open."""
        self._pieces.clear()
        self._queued_bytes = 0
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _drain(self) -> None:
        turn_bytes = 0
        while self._pieces and not self._blocked and turn_bytes < TURN_BYTES_MAX:
            if self._transport.is_closing():
                self.close()
                return
            before_bytes = self._queued_bytes
            if isinstance(self._pieces[0], Span):
                self._send_span(self._pieces[0])
            else:
                self._send_bytes()
            turn_bytes += before_bytes - self._queued_bytes
        if self._pieces and not self._blocked and not self._continuing:
            self._continuing = True
            asyncio.get_running_loop().call_soon(self._continue)
        if self._closes and self.is_empty:
            # Not within `resume`: a transport is not closed while it calls.
            asyncio.get_running_loop().call_soon(self._transport.close)

    def _continue(self) -> None:
        self._continuing = False
        self._drain()

    def _send_bytes(self) -> None:
        parts = self._leading_parts()
        self._queued_bytes -= sum(len(part) for part in parts)
        if sum(len(part) for part in parts) > JOINED_BYTES_MAX:
            self._transport.writelines(parts)
        elif rest := self._ahead_of_span(b"".join(parts)):
            self._transport.write(rest)

    def _leading_parts(self) -> list[Part]:
        parts: list[Part] = []
        while self._pieces and not isinstance(self._pieces[0], Span):
            parts.append(self._pieces.popleft())  # type: ignore[arg-type]
        return parts

    def _ahead_of_span(self, joined: bytes) -> bytes:
        """Bytes in front of a span travel with it, not in a packet of their own. What is left for the transport."""
        if self._socket is None or not self._pieces:
            return joined
        try:
            return joined[self._socket.send(joined, socket.MSG_MORE) :]
        except OSError:
            return joined  # A full socket has room later; of a broken one the transport learns.

    def _send_span(self, span: Span) -> None:
        try:
            sent = self._send_from_file(span) or self._send_copied(span)
        except OSError as error:
            self._give_up(f"{span.name} cannot be sent: {error}")
            return
        if not sent:
            self._give_up(f"{span.name} ends before what was promised of it")
            return
        self._queued_bytes -= sent
        if sent < len(span):
            self._pieces[0] = span.after(sent)
        else:
            self._pieces.popleft()

    def _give_up(self, reason: str) -> None:
        self.close()
        self._fail(reason)

    def _send_copied(self, span: Span) -> int:
        """How much the transport was given; 0 at the end of the file. Raises OSError."""
        content = span.content(COPIED_BYTES_MAX if self._socket is None else WAITING_BYTES_MAX)
        self._transport.write(content)
        return len(content)

    def _send_from_file(self, span: Span) -> int:
        """How much the socket took. Raises OSError."""
        if self._socket is None:
            return 0
        try:
            return span.send(self._socket.fileno(), TURN_BYTES_MAX)
        except (BlockingIOError, BrokenPipeError, ConnectionResetError):
            return 0


def _is_short(pieces: Sequence[Piece]) -> bool:
    """Whether it is bytes, few enough to be joined."""
    size_bytes = 0
    for piece in pieces:
        if isinstance(piece, Span):
            return False
        size_bytes += len(piece)
    return 0 < size_bytes <= JOINED_BYTES_MAX


def _own_socket(transport: asyncio.Transport) -> socket.socket | None:
    """A second descriptor of the connection; None where the bytes on it are not the ones that are written."""
    if transport.get_extra_info("sslcontext") is not None:
        return None
    return socket.socket(fileno=os.dup(transport.get_extra_info("socket").fileno()))
