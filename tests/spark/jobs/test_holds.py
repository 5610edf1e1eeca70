"""A job's topic keeps what the job has not read, however long it is stopped, and whatever retention wants."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from headrace.wire.client import EARLIEST, LATEST, Client

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

pytestmark = pytest.mark.spark

DEADLINE_S = 60.0
# Everything but the active segment is unwanted at once.
GREEDY = {"retention.bytes": "0", "segment.bytes": "1024"}
CHUNK = 30


def offset(client: Client, topic: str, which: int) -> int:
    return client.list_offsets(topic, {0: which})[0].offset


def wait_until(condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.05)


def produce(stack: Stack, topic: str, first: int) -> None:
    """One record each batch, so that there are many segments."""
    for n in range(first, first + CHUNK):
        stack.produce(topic, [{"n": n, "padding": "x" * 400}])


def test_a_stopped_job_finds_everything_it_has_not_read(stack: Stack) -> None:
    source, free, copies = stack.name("held"), stack.name("free"), stack.name("copies")
    with Client(stack.bootstrap) as client:
        client.create_topics({source: 1, free: 1}, GREEDY)
        document = stack.pipeline(f'topic {source} schema="n BIGINT" ! to-topic {copies}')
        stack.engine.start(document)
        produce(stack, source, 0)
        stack.finish(document)
        produce(stack, source, CHUNK)
        produce(stack, free, 0)
        # One pass of retention visits all topics.
        wait_until(lambda: offset(client, free, EARLIEST) >= offset(client, free, LATEST) - 3)
        assert offset(client, source, EARLIEST) <= CHUNK
        stack.run(document)
        assert sorted(row["n"] for row in stack.rows(copies)) == list(range(2 * CHUNK))
        stack.engine.release(document.name)
        wait_until(lambda: offset(client, source, EARLIEST) >= offset(client, source, LATEST) - 3)
