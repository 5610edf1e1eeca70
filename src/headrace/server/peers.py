"""Which account a connection on loopback comes from. Linux tells it; other systems do not."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from typing import Final

Address = tuple[str, int | None]

_CONNECTIONS: Final = Path("/proc/net/tcp")
_LOCAL, _REMOTE, _ACCOUNT = 1, 2, 7


class Peer:
    """The other end of one connection. The account is looked up once, when it is first asked for."""

    def __init__(self, client: Address | None, server: Address | None) -> None:
        self._ends = None if client is None or server is None else (client, server)
        self._account: int | None = None
        self._is_known = False

    @property
    def account(self) -> int | None:
        """The user id that the connection was opened as; None where it cannot be told."""
        if not self._is_known:
            self._account = None if self._ends is None else _account_of(*self._ends)
            self._is_known = True
        return self._account


def _account_of(client: Address, server: Address) -> int | None:
    """The client's end of a loopback connection is in the same table as the server's."""
    try:
        local, remote = _written(client), _written(server)
        lines = _CONNECTIONS.read_text().splitlines()[1:]
    except OSError:
        return None
    for line in lines:
        fields = line.split()
        if fields[_LOCAL] == local and fields[_REMOTE] == remote:
            return int(fields[_ACCOUNT])
    return None


def _written(address: Address) -> str:
    host, port = address
    return f"{int.from_bytes(socket.inet_aton(host), sys.byteorder):08X}:{port or 0:04X}"
