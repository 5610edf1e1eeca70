"""A backup of a job at work: restored elsewhere, it goes on as if nothing had happened."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import headrace
from headrace.backup import create_backup, open_objects, restore_backup

pytestmark = [pytest.mark.slow, pytest.mark.spark]

KEYS = 5
LENGTH = 7
ROWS_BEFORE = 200
ROWS_AFTER = 100
POLL_S = 0.2

PIPELINE = headrace.Pipeline.from_text(
    'topic numbers schema="k STRING, n BIGINT" max_rows_per_batch=50'
    f' ! length-window {LENGTH} keys=k aggregates=["sum(n) AS total"] ! select k n total ! to-topic totals key=k',
    name="totals",
)


def row(number: int) -> dict[str, Any]:
    return {"k": f"d{number % KEYS}", "n": number}


def expected(numbers: range) -> list[tuple[str, int, int]]:
    """Each row once, with the sum of its key's last rows: a lost, doubled or forgotten one changes those behind it."""
    seen: dict[str, list[int]] = defaultdict(list)
    found = []
    for made in map(row, numbers):
        seen[made["k"]].append(made["n"])
        found.append((made["k"], made["n"], sum(seen[made["k"]][-LENGTH:])))
    return sorted(found)


def totals(h: headrace.Local) -> list[tuple[str, int, int]]:
    return sorted((found["k"], found["n"], found["total"]) for found in h.rows("totals"))


class Feed(threading.Thread):
    """Sends one row after the other until it is told to end."""

    def __init__(self, h: headrace.Local) -> None:
        super().__init__(daemon=True)
        self._h = h
        self._ends = threading.Event()
        self.sent = 0

    def run(self) -> None:
        for number in count():
            if self._ends.is_set():
                return
            self.sent += self._h.produce("numbers", [row(number)], key="k")

    def end(self) -> None:
        self._ends.set()
        self.join()


def test_a_stateful_job_goes_on_from_the_moment_of_the_backup(tmp_path: Path) -> None:
    objects = open_objects(str(tmp_path / "backup"))
    with headrace.local(tmp_path / "old") as h:
        h.create_topic("numbers", partitions=2)
        h.start(PIPELINE)
        feed = Feed(h)
        feed.start()
        while feed.sent < ROWS_BEFORE or len(totals(h)) < ROWS_BEFORE // 2:
            assert h.status(PIPELINE).state == "running"
            time.sleep(POLL_S)
        create_backup(tmp_path / "old", objects, bootstrap=h.bootstrap)
        feed.end()
        assert h.wait_idle(PIPELINE)
        assert totals(h) == expected(range(feed.sent))
        sent = feed.sent
    restore_backup(objects, tmp_path / "new")
    with headrace.local(tmp_path / "new") as h:
        kept = len(h.rows("numbers"))
        assert ROWS_BEFORE <= kept <= sent
        assert ROWS_BEFORE // 2 <= len(totals(h)) <= kept
        h.start(PIPELINE)
        h.produce("numbers", [row(number) for number in range(kept, kept + ROWS_AFTER)], key="k")
        assert h.wait_idle(PIPELINE)
        assert totals(h) == expected(range(kept + ROWS_AFTER))
