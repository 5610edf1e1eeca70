from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator

import httpx
import pytest

from headrace.server.app import create_app
from headrace.server.http import HttpServer
from headrace.server.service import Service
from headrace.server.settings import ServerLimits, ServerSettings

TOKEN = "the-token"
LIMITS = ServerLimits(
    body_bytes_max=20_000,
    event_streams_max=2,
    keep_alive_s=0.0,
    shutdown_wait_s=1.0,
    requests_per_second=5_000,
    costly_requests_per_second=5_000,
)


@pytest.fixture(scope="module")
def bootstrap() -> str:
    """No broker answers there; tests that need one override this."""
    return "127.0.0.1:1"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, bootstrap: str) -> Iterator[Service]:
    """The real one, before Spark is up."""
    directory = tmp_path_factory.mktemp("data")
    made = Service(ServerSettings(directory, bootstrap, TOKEN, limits=LIMITS))
    yield made
    made.close()


@pytest.fixture(autouse=True)
def _no_pipelines(request: pytest.FixtureRequest) -> None:
    """Each test begins without pipelines, and with the first revision of every draft."""
    if "service" in request.fixturenames:
        service: Service = request.getfixturevalue("service")
        for info in service.pipelines():
            service.delete(info.name)
        with service._store._database.writing() as connection:
            connection.execute("DELETE FROM drafts")


@pytest.fixture(scope="module")
def port(service: Service) -> Iterator[int]:
    """The port of a real HTTP server that serves it."""
    listener = socket.create_server(("127.0.0.1", 0))
    number: int = listener.getsockname()[1]
    server = HttpServer(create_app(service, token=TOKEN, port=number), LIMITS)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])))
    thread.start()
    deadline_s = time.monotonic() + 20
    while not server.started:
        assert time.monotonic() < deadline_s, "the HTTP server did not start"
        time.sleep(0.005)
    yield number
    server.stop()
    thread.join()
    listener.close()


@pytest.fixture
def stranger(port: int) -> Iterator[httpx.Client]:
    """Knows the address and not the token."""
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=20) as client:
        yield client


@pytest.fixture
def client(stranger: httpx.Client) -> httpx.Client:
    stranger.headers["Authorization"] = f"Bearer {TOKEN}"
    return stranger
