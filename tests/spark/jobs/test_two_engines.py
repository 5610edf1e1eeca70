"""An engine that was thought dead goes on beside its successor: every batch is committed by one of them, once."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from headrace.errors import CorruptData, HeadraceError
from headrace.kafka import Reader
from headrace.log import encode_batches
from headrace.spark.jobs.sink import Committer
from headrace.spark.specs import SinkSpec
from headrace.spark.writing.commit import OPENED, CommitLog, CommitRecord
from headrace.spark.writing.staged import Staged, TopicPart
from headrace.wire.client import Client

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

pytestmark = pytest.mark.spark

BATCHES = 15
TURNS_MAX = 5_000


def plan(checkpoint: Path, batch: int) -> None:
    """Spark's write-ahead file, the same for both: they share the checkpoint."""
    folder = checkpoint / "offsets"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / str(batch)).write_text(f'v1\n{{"batchTimestampMs":{batch}}}\n{{"0":{batch + 1}}}')


def message(topic: str, text: str) -> Staged:
    values = pa.array([text.encode()], pa.binary())
    # Of today: retention would remove a record that says it is from 1970.
    now_ms = np.full(1, time.time_ns() // 1_000_000, np.int64)
    (encoded,) = encode_batches(None, values, now_ms, codec="none", batch_bytes=1 << 20)
    return Staged(0, (TopicPart(topic, 0, encoded, None),), (), {}, {})


class EngineHalf(threading.Thread):
    """The committing half of an engine: works through the batches from where it believes the query stands."""

    def __init__(self, name: str, bootstrap: str, spec: SinkSpec, topic: str, seed: int) -> None:
        super().__init__(name=name, daemon=True)
        self.refusals: Counter[str] = Counter()
        self._log = CommitLog(Client(bootstrap, client_id=name), spec.query)
        self._committer = Committer(spec, self._log)
        self._topic = topic
        self._random = random.Random(seed)

    def run(self) -> None:
        batch = 0
        for _ in range(TURNS_MAX):
            if batch >= BATCHES:
                break
            try:
                self._committer.commit(batch, [message(self._topic, f"{batch} {self.name}")])
                batch += 1
            except CorruptData as refusal:
                self.refusals[type(refusal).__name__] += 1
                batch = self._position()
            except HeadraceError as refusal:
                self.refusals[type(refusal).__name__] += 1
            if self._random.random() < 0.3:
                self._log.forget()
        self._committer.close()

    def _position(self) -> int:
        self._log.forget()
        last = self._log.last()
        return 0 if last is None else last.batch + 1


def test_every_batch_is_committed_by_one_of_two(stack: Stack, tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    topic, query = stack.topic("out", partitions=1), stack.name("shared")
    spec = SinkSpec(query, stack.bootstrap, str(tmp_path / "staging"), str(tmp_path / "checkpoint"), ())
    for batch in range(BATCHES):
        plan(tmp_path / "checkpoint", batch)
    with Client(stack.bootstrap) as client:
        log = CommitLog(client, query)
        log.create()
        log.commit(CommitRecord(OPENED, 0, "plan", {"rows": {"0": 0}}), {})
    halves = [EngineHalf(name, stack.bootstrap, spec, topic, seed + n) for n, name in enumerate(("old", "new"))]
    for half in halves:
        half.start()
    for half in halves:
        half.join(120)
        assert not half.is_alive(), seed
    with Reader(stack.bootstrap, topic) as reader:
        rows = [(record.value or b"").decode().split() for record in reader.records()]
    assert [int(batch) for batch, _ in rows] == list(range(BATCHES)), seed
