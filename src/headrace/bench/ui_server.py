"""The real HTTP server with the editor and one large draft; without Spark, which would share the processor."""

from __future__ import annotations

import asyncio
import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headrace.bench.ui_graph import wide_document, wide_layout
from headrace.graph import NO_REVISION
from headrace.process.ports import LOOPBACK
from headrace.server.app import create_app
from headrace.server.http import HttpServer
from headrace.server.service import Service
from headrace.server.settings import ServerLimits, ServerSettings

NO_BROKER = f"{LOOPBACK}:1"


@contextmanager
def serve_editor(directory: Path) -> Iterator[str]:
    """The address of the editor, with its token, while the block runs."""
    token, limits = secrets.token_urlsafe(), ServerLimits(shutdown_wait_s=1.0)
    service = Service(ServerSettings(directory, NO_BROKER, token, limits=limits))
    service.drafts.write(wide_document(), NO_REVISION, wide_layout())
    with socket.create_server((LOOPBACK, 0)) as listener:
        port = listener.getsockname()[1]
        server = HttpServer(create_app(service, token=token, port=port), limits)
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])), name="bench-editor")
        thread.start()
        try:
            yield f"http://{LOOPBACK}:{port}/?token={token}"
        finally:
            server.stop()
            thread.join()
            service.close()
