"""A registry that does not answer: the pipeline says that it waits for it, and goes on when it is back."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from headrace.spark import JobStatus

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

pytestmark = pytest.mark.spark

DEADLINE_S = 90.0
SCHEMA = {"type": "record", "name": "R", "fields": [{"name": "n", "type": "long"}]}
# Framed as Confluent's serializers do: a zero, the id 1, then the value; the number 5 in Avro.
VALUE = b"\0\0\0\0\1\x0a"


AWAY = "the schema registry at 127.0.0.1 does not answer"


class Answering(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps({"schema": json.dumps(SCHEMA)}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is printed."""


def until(stack: Stack, pipeline: str, holds: Callable[[JobStatus], bool]) -> list[JobStatus]:
    """All that was seen on the way; the last one is as wanted."""
    seen: list[JobStatus] = []
    deadline_s = time.monotonic() + DEADLINE_S
    while not seen or not holds(seen[-1]):
        assert time.monotonic() < deadline_s, seen[-1:]
        time.sleep(0.02)
        seen.append(stack.engine.status(pipeline))
    return seen


def test_a_pipeline_says_that_it_waits_for_the_registry(stack: Stack) -> None:
    source, target = stack.topic("away", [VALUE], partitions=1), stack.name("away-out")
    with socket.create_server(("127.0.0.1", 0)) as place:
        port = place.getsockname()[1]
    document = stack.pipeline(
        f'topic {source} schema="n BIGINT" format=avro schema_registry=http://127.0.0.1:{port} ! to-topic {target}'
    )
    stack.engine.start(document)
    seen = until(stack, document.name, lambda status: status.restarts >= 2 and status.state == "running")
    again = [status for status in seen if status.restarts > 0]
    # Whichever moment somebody looks.
    for status in again:
        assert AWAY in (status.waits_for or ""), status
        assert AWAY in str((status.error or {}).get("message")), status
    with ThreadingHTTPServer(("127.0.0.1", port), Answering) as registry:
        thread = threading.Thread(target=registry.serve_forever)
        thread.start()
        try:
            until(stack, document.name, lambda status: status.waits_for is None and status.error is None)
            stack.finish(document)
        finally:
            registry.shutdown()
            thread.join()
    assert stack.rows(target) == [{"n": 5}]
