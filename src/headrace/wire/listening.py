"""The ports that a broker serves, opened and closed together."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import Any, Final

from headrace.errors import Conflict
from headrace.wire.config import BrokerConfig
from headrace.wire.connection import Connection
from headrace.wire.door import Door
from headrace.wire.listener import Listener, local_policy, policy_of, tls_context
from headrace.wire.security.credentials import own_credential
from headrace.wire.security.registry import SecurityRegistry
from headrace.wire.security.session import AccessPolicy
from headrace.wire.services import Endpoint

LOOPBACK: Final = "127.0.0.1"
BACKLOG: Final = 512
TLS_HANDSHAKE_S_MAX: Final = 10.0

Connect = Callable[[Listener], Connection]


class Listening:
    """Closed when made; `open` binds all ports, and only then are connections taken."""

    def __init__(self, config: BrokerConfig, security: SecurityRegistry, door: Door, connect: Connect) -> None:
        self._config = config
        self._security = security
        self._door = door
        self._connect = connect
        self._servers: list[asyncio.Server] = []
        self._sweeping: asyncio.TimerHandle | None = None
        # The main one, and the local one where it was asked for.
        self.endpoints: list[Endpoint] = []

    async def open(self) -> None:
        """Raises Conflict (port in use) and InvalidConfig (certificates); then none is open."""
        config = self._config
        try:
            own = own_credential(config.data_dir)
            await self._bind(config.host, config.port, tls_context(config), policy_of(config, self._security, own))
            if config.local_port is not None:
                await self._bind(LOOPBACK, config.local_port, None, local_policy(config, self._security, own))
        except BaseException:
            self.close()
            raise
        asyncio.get_running_loop().set_exception_handler(_report)
        for server in self._servers:
            await server.start_serving()
        self._sweep()

    async def _bind(self, host: str, port: int, tls: ssl.SSLContext | None, policy: AccessPolicy) -> None:
        bound: list[Listener] = []
        loop = asyncio.get_running_loop()
        try:
            server = await loop.create_server(
                lambda: self._connect(bound[0]),
                host,
                port,
                ssl=tls,
                ssl_handshake_timeout=None if tls is None else TLS_HANDSHAKE_S_MAX,
                backlog=BACKLOG,
                start_serving=False,
            )
        except OSError as error:
            raise Conflict(
                f"cannot listen on {host}:{port}: {error.strerror or error}",
                hint="stop the other process, or choose another port (0 picks a free one)",
            ) from error
        self._servers.append(server)
        told = self._config.advertised_host if host == self._config.host else None
        endpoint = Endpoint(told or host, server.sockets[0].getsockname()[1])
        bound.append(Listener(endpoint, policy))
        self.endpoints.append(endpoint)

    def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        self._door.sweep(loop.time())
        self._sweeping = loop.call_later(self._door.limits.sweep_s, self._sweep)

    def close(self) -> None:
        """No new connections; those that are there stay."""
        if self._sweeping is not None:
            self._sweeping.cancel()
        for server in self._servers:
            server.close()


def _report(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """A client that leaves during the handshake, or does not speak TLS, is not worth a line."""
    if not isinstance(context.get("exception"), (ssl.SSLError, ConnectionError, TimeoutError)):
        loop.default_exception_handler(context)
