"""Whether a port can be listened on, before anything is started."""

from __future__ import annotations

import errno
import socket
from typing import Final

from headrace.errors import Conflict, InvalidInput

LOOPBACK: Final = "127.0.0.1"


def require_free_port(port: int, what: str, option: str) -> None:
    """Raises Conflict when another program listens there, InvalidInput for a number that is no port. 0 is free."""
    if not 0 <= port <= 65_535:
        raise InvalidInput(f"{port} is no port for the {what}", valid=["0 (pick a free one) to 65535"])
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            raise _refusal(error, port, what, option) from error


def _refusal(error: OSError, port: int, what: str, option: str) -> Conflict:
    hint = f"{option} 0 picks a free port"
    if error.errno == errno.EADDRINUSE:
        return Conflict(f"port {port}, which the {what} wants, is in use", hint=hint)
    return Conflict(f"the {what} cannot listen on port {port}: {error.strerror}", hint=hint)
