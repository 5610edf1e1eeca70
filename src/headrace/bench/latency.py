"""How long a small micro-batch takes, while rows come at an even pace."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, cast

import numpy as np

from headrace.bench import rows as data
from headrace.bench.peers import Peers, Say
from headrace.bench.rates import OVER_KAFKA
from headrace.bench.report import Result
from headrace.embedded import Local
from headrace.errors import JobFailed
from headrace.pipeline import Pipeline
from headrace.wire.client import Client

ROWS_PER_TICK: Final = 20
TICK_S: Final = 0.1
FEED_LIMIT_S: Final = 400.0
WARM_UP_BATCHES: Final = 30
BLOCK_BATCHES: Final = 100
# Ours and the peers take turns: a busy moment of the machine then hits both.
BLOCKS: Final = 2
EVENT_TIMEOUT_S: Final = 60.0
PERCENTILES: Final = {"micro-batch-p50": 50, "micro-batch-p99": 99}


def measure_latency(home: Local, peers: Peers, directory: Path, say: Say) -> list[Result]:
    """Raises JobFailed when our pipeline stands still."""
    ours: list[float] = []
    theirs: dict[str, list[float]] = {}
    for block in range(BLOCKS):
        run = f"small-{block}"
        with _feed(home, f"{run}-ours"):
            ours += _ours(home, run)[WARM_UP_BATCHES:]
        say(f"{run}: ours p50 {np.percentile(ours, 50):.0f} ms")
        for peer in peers.names(OVER_KAFKA):
            with _feed(home, f"{run}-{peer}"):
                found = peers.ask(peer, _command(home, f"{run}-{peer}", directory))
            if found is not None:
                theirs.setdefault(peer, []).extend(found[WARM_UP_BATCHES:])
                say(f"{run}: {peer} p50 {np.percentile(theirs[peer], 50):.0f} ms")
    return [
        Result(item, "ms", float(np.percentile(ours, p)), {n: float(np.percentile(d, p)) for n, d in theirs.items()})
        for item, p in PERCENTILES.items()
    ]


def _ours(home: Local, run: str) -> list[float]:
    source = f'topic {run}-ours schema="{data.SCHEMA}"'
    pipeline = Pipeline.from_text(f'{source} ! filter "battery < 10" ! to-topic {run}-ours-out key=drone', name=run)
    events = home.events.follow()
    batches_ms: list[float] = []
    try:
        home.start(pipeline)
        while len(batches_ms) < WARM_UP_BATCHES + BLOCK_BATCHES:
            event = events.next(EVENT_TIMEOUT_S)
            if event is None or event.kind == "error":
                raise JobFailed(f"pipeline {run} stands still: {event}")
            if event.kind == "progress" and any(cast("dict[str, int]", event.details["partitions"]).values()):
                batches_ms.append(float(cast("float", event.details["batch_ms"])))
    finally:
        events.close()
        home.stop(run)
    return batches_ms


def _command(home: Local, topic: str, directory: Path) -> dict[str, Any]:
    home.create_topic(f"{topic}-out")
    return {
        "run": "latency",
        "from": "kafka",
        "schema": data.SCHEMA,
        "bootstrap": home.bootstrap,
        "topic": topic,
        "start": "earliest",
        "rows_per_batch": 1_000_000,
        "output": f"{topic}-out",
        "checkpoint": str(directory / topic),
        "batches": WARM_UP_BATCHES + BLOCK_BATCHES,
    }


@contextmanager
def _feed(home: Local, topic: str) -> Iterator[None]:
    """Rows come to a new topic of one partition, tick by tick, inside `with`; never for longer than FEED_LIMIT_S."""
    home.create_topic(topic)
    stop = threading.Event()
    thread = threading.Thread(target=_send, args=(home.bootstrap, topic, stop), name=f"feed-{topic}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _send(bootstrap: str, topic: str, stop: threading.Event) -> None:
    random = np.random.default_rng(data.SEED)
    first, end_s = 0, time.monotonic() + FEED_LIMIT_S
    with Client(bootstrap, client_id="headrace-bench") as client:
        while not stop.wait(TICK_S) and time.monotonic() < end_s:
            data.append_json(client, topic, 0, data.telemetry(random, first, first + ROWS_PER_TICK))
            first += ROWS_PER_TICK
