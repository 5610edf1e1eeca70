"""The ports that a broker serves, opened and closed together."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import Final

from headrace.errors import Conflict
from headrace.wire.config import BrokerConfig
from headrace.wire.connection import Connection
from headrace.wire.listener import Listener, open_policy, policy_of, tls_context
from headrace.wire.security.registry import SecurityRegistry
from headrace.wire.security.session import AccessPolicy
from headrace.wire.services import Endpoint

LOOPBACK: Final = "127.0.0.1"

Connect = Callable[[Listener], Connection]


class Listening:
    """Closed when made; `open` binds all ports, and only then are connections taken."""

    def __init__(self, config: BrokerConfig, security: SecurityRegistry, connect: Connect) -> None:
        self._config = config
        self._security = security
        self._connect = connect
        self._servers: list[asyncio.Server] = []
        # The main one, and the local one where it was asked for.
        self.endpoints: list[Endpoint] = []

    async def open(self) -> None:
        """Raises Conflict (port in use) and InvalidConfig (certificates); then none is open."""
        config = self._config
        try:
            await self._bind(config.host, config.port, tls_context(config), policy_of(config, self._security))
            if config.local_port is not None:
                await self._bind(LOOPBACK, config.local_port, None, open_policy(self._security))
        except BaseException:
            self.close()
            raise
        for server in self._servers:
            await server.start_serving()

    async def _bind(self, host: str, port: int, tls: ssl.SSLContext | None, policy: AccessPolicy) -> None:
        bound: list[Listener] = []
        loop = asyncio.get_running_loop()
        try:
            server = await loop.create_server(lambda: self._connect(bound[0]), host, port, ssl=tls, start_serving=False)
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

    def close(self) -> None:
        """No new connections; those that are there stay."""
        for server in self._servers:
            server.close()
