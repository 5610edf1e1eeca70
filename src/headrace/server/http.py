"""The HTTP server itself: uvicorn with our limits, stopped by us and not by its own signal handlers."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Iterator
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from headrace.server.crowd import Crowd
from headrace.server.peers import Peer
from headrace.server.security import PEER
from headrace.server.settings import ServerLimits


class HttpServer(uvicorn.Server):
    def __init__(self, app: ASGIApp, limits: ServerLimits) -> None:
        # It has a line for every broken request, which any program on this machine can send.
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
        super().__init__(_Config(app, limits))

    def stop(self) -> None:
        """`serve` returns soon after."""
        self.should_exit = True

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """The process handles signals; uvicorn would raise them again and end it before Spark is stopped."""
        yield


class _Config(uvicorn.Config):
    def __init__(self, app: ASGIApp, limits: ServerLimits) -> None:
        self.limits = limits
        self.crowd = Crowd(limits.connections_max + limits.connections_reserve)
        super().__init__(
            app,
            loop="uvloop",
            http=_Connection,
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=int(limits.request_wait_s),
            timeout_graceful_shutdown=int(limits.shutdown_wait_s),
        )


class _Connection(H11Protocol):
    """A connection that must send a whole request in time: uvicorn itself waits for ever."""

    config: _Config

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._limits, self._crowd = self.config.limits, self.config.crowd
        self._awaited = ""
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.app_state = {**self.app_state, PEER: Peer(self.client, self.server)}
        self._watch()
        self._crowd.make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._crowd.leave(self)
        self._await("")
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def send_400_response(self, msg: str) -> None:
        self._crowd.note("requests that are not HTTP")
        super().send_400_response(msg)

    def abort(self) -> None:
        self.transport.abort()

    def _watch(self) -> None:
        """Called whenever something came or went: what is awaited now, and whether a request is being served."""
        if self.transport.is_closing():
            return
        is_served = self.cycle is not None and not self.cycle.response_complete
        if is_served:
            self._crowd.serve(self)
        else:
            self._crowd.wait(self)
        if self.conn.their_state is h11.SEND_BODY:
            self._await("a body", self._limits.body_wait_s)
        elif is_served:
            self._await("")
        else:
            # One limit for a silent connection and for half a request: bytes that come one by one do not extend it.
            self._await("a request", self._limits.request_wait_s)

    def _await(self, what: str, wait_s: float = 0.0) -> None:
        """The connection ends when the same is still awaited after `wait_s`."""
        if what == self._awaited:
            return
        if self._deadline is not None:
            self._deadline.cancel()
        self._awaited = what
        self._deadline = self.loop.call_later(wait_s, self._give_up) if what else None

    def _give_up(self) -> None:
        self._crowd.note(f"connections that waited too long with {self._awaited}")
        self.transport.close()
