from __future__ import annotations

import multiprocessing

import pytest

from headrace.bench.memory import HANDOFF_BYTES, ITEMS, MemorySettings, run_memory
from headrace.bench.memory_ways import Way, sum_expected
from headrace.errors import InvalidInput, JobFailed


def test_unknown_items_and_peers_are_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match="frame-7mb"):
        MemorySettings(items=("frame-7mb",))
    with pytest.raises(InvalidInput, match="pigeon"):
        MemorySettings(against=("pigeon",))


def test_the_suite_measures_ours_and_peers_and_leaves_no_process() -> None:
    said: list[str] = []
    items = ("loan", "fill-6mb", "frame-6mb", "frame-6mb-cpu")
    report = run_memory(MemorySettings(frames=2, items=items, against=("socket", "queue")), said.append)
    assert [result.name for result in report.results] == list(items)
    assert all(result.ours > 0 for result in report.results if "cpu" not in result.name)
    assert set(report.results[2].peers) == {"socket", "queue"}
    assert set(items) <= set(ITEMS)
    assert not multiprocessing.active_children()


def test_a_reader_that_sees_other_bytes_ends_the_suite() -> None:
    assert sum_expected(1, 16) == 2 * 0x0101010101010101
    with Way("slots", HANDOFF_BYTES) as way:
        assert way.one(7) > 0
        send = way._send
        way._send = lambda value: send(value + 1)
        with pytest.raises(JobFailed, match="slots: the reader saw other bytes"):
            way.one(7)
