"""Programs that connect and send nothing, or half a request: others are served all the same."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.server.conftest import LIMITS, TOKEN

from headrace.server.app import create_app
from headrace.server.crowd import TOLD_EVERY_S, Crowd
from headrace.server.http import HttpServer
from headrace.server.service import Service
from headrace.server.settings import ServerLimits, ServerSettings

# So long that it never counts, and so short that one need not wait.
NEVER_S = 1_000.0
SOON_S = 0.2
HALF = b"GET /api/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
FLOOD = 300


class Loop:
    """A connection that only knows that it was ended."""

    def __init__(self) -> None:
        self.is_ended = False

    def abort(self) -> None:
        self.is_ended = True


Serving = Callable[..., AbstractContextManager[int]]


@pytest.fixture
def serving(tmp_path: Path) -> Serving:
    """A server with other limits; the value is its port."""

    @contextmanager
    def start(**limits: Any) -> Iterator[int]:
        chosen: ServerLimits = replace(LIMITS, **limits)
        service = Service(ServerSettings(tmp_path, "127.0.0.1:1", TOKEN, limits=chosen))
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port: int = listener.getsockname()[1]
            server = HttpServer(create_app(service, token=TOKEN, port=port), chosen)
            thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])))
            thread.start()
            while not server.started and thread.is_alive():
                time.sleep(0.005)
            try:
                yield port
            finally:
                server.stop()
                thread.join()
                service.close()

    return start


def connect(port: int, sent: bytes = b"") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=30)
    connection.sendall(sent)
    return connection


def owner(port: int) -> httpx.Client:
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    return httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=bearer, trust_env=False, timeout=30)


@pytest.mark.parametrize("sent", [b"", b"G", HALF])
def test_half_open_requests_lock_nobody_out(serving: Serving, sent: bytes, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with serving(request_wait_s=NEVER_S) as port, ExitStack() as flood:
        for _ in range(FLOOD):
            flood.enter_context(connect(port, sent))
        with owner(port) as client:
            assert client.get("/api/jobs").status_code == 200
            assert client.get("/ready").status_code == 503, "Spark is not up"
        assert httpx.get(f"http://127.0.0.1:{port}/health", trust_env=False).status_code == 200
    assert len([record for record in caplog.records if record.levelno >= logging.WARNING]) <= 1


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        HALF,
        b"POST /api/check HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nAuthorization: Bearer the-token\r\n"
        b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
        b"POST /api/check HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Length: 100\r\n\r\n{",
        b"GET /health HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\nGET /hea",
    ],
)
def test_silence_ends_a_connection(serving: Serving, sent: bytes) -> None:
    with (
        serving(request_wait_s=SOON_S, body_wait_s=SOON_S) as port,
        connect(port, sent.replace(b"PORT", str(port).encode())) as connection,
    ):
        while connection.recv(65_536):
            pass


def test_bytes_that_drip_do_not_extend_the_time(serving: Serving) -> None:
    with serving(request_wait_s=SOON_S) as port, connect(port, HALF) as connection:
        connection.settimeout(0.01)
        deadline_s = time.monotonic() + 60
        while True:
            assert time.monotonic() < deadline_s, "the connection was never ended"
            try:
                connection.sendall(b"x")
                if not connection.recv(1):
                    break
            except TimeoutError:
                continue
            except OSError:
                break


def test_a_stream_of_events_is_no_silence(serving: Serving) -> None:
    with (
        serving(request_wait_s=SOON_S, body_wait_s=SOON_S) as port,
        owner(port) as client,
        client.stream("GET", "/api/events") as stream,
    ):
        lines = stream.iter_lines()
        with connect(port) as silent:
            assert silent.recv(1) == b"", "others have been ended meanwhile"
        assert stream.status_code == 200
        assert next(lines)


def test_health_is_answered_when_all_requests_are_taken(serving: Serving) -> None:
    with (
        serving(connections_max=1) as port,
        owner(port) as client,
        client.stream("GET", "/api/events") as stream,
    ):
        assert stream.status_code == 200
        with owner(port) as other:
            refused = other.get("/api/jobs")
            assert (refused.status_code, refused.json()["code"]) == (503, "busy")
            assert other.get("/health").status_code == 200
            assert other.get("/ready").json() == {"ready": False, "reason": "Spark starts", "notices": []}


def test_who_waited_longest_makes_room_and_who_is_served_stays() -> None:
    crowd = Crowd(3)
    served, first, second, third = (Loop() for _ in range(4))
    crowd.wait(served)
    crowd.serve(served)
    for one in (first, second, third):
        crowd.wait(one)
        crowd.make_room()
    assert [one.is_ended for one in (served, first, second, third)] == [False, True, False, False]
    crowd.leave(third)
    fourth = Loop()
    crowd.wait(fourth)
    crowd.make_room()
    assert not second.is_ended


def test_refusals_are_told_together(caplog: pytest.LogCaptureFixture) -> None:
    now_s = [0.0]
    crowd = Crowd(1, lambda: now_s[0])
    for _ in range(1_000):
        crowd.note("connections")
    now_s[0] += TOLD_EVERY_S
    crowd.note("connections")
    told = [record.getMessage() for record in caplog.records]
    assert told == [f"refused since the last such line: {count} connections" for count in (1, 1_000)]
