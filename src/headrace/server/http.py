"""The HTTP server itself: uvicorn with our limits, stopped by us and not by its own signal handlers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import uvicorn
from starlette.types import ASGIApp

from headrace.server.settings import ServerLimits


class HttpServer(uvicorn.Server):
    def __init__(self, app: ASGIApp, limits: ServerLimits) -> None:
        config = uvicorn.Config(
            app,
            loop="uvloop",
            log_config=None,
            access_log=False,
            server_header=False,
            limit_concurrency=limits.connections_max,
            timeout_graceful_shutdown=int(limits.shutdown_wait_s),
        )
        super().__init__(config)

    def stop(self) -> None:
        """`serve` returns soon after."""
        self.should_exit = True

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """The process handles signals; uvicorn would raise them again and end it before Spark is stopped."""
        yield
