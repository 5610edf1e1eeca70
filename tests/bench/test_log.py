from __future__ import annotations

from pathlib import Path

import pytest

from headrace.bench.log import ITEMS, LogSettings, run_log
from headrace.bench.log_open import BATCH_RECORDS, TOPIC, make_log
from headrace.errors import InvalidInput
from headrace.log import LogStore


def test_unknown_items_and_peers_are_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match="produce-2k"):
        LogSettings(items=("produce-2k",))
    with pytest.raises(InvalidInput, match="rabbit"):
        LogSettings(against=("rabbit",))


def test_the_suite_measures_ours_alone() -> None:
    items = ("produce-1k", "consume-1k", "e2e-p50", "cpu-per-gb", "ready", "resident")
    said: list[str] = []
    report = run_log(LogSettings(megabytes=4, items=items, against=("klite",)), said.append)
    assert [result.name for result in report.results] == list(items)
    # Of so little data the CPU time may be below the clock's tick.
    assert all(result.ours > 0 for result in report.results if result.name != "cpu-per-gb")
    assert report.results[0].note.endswith("msg/s")
    assert any(sentence.startswith("klite is left out") for sentence in said)
    assert set(items) <= set(ITEMS)


def test_what_syncs_cost_is_measured_in_the_same_run() -> None:
    items = ("one-record-requests", "cpu-per-request")
    report = run_log(LogSettings(megabytes=1, items=items, against=("unsynced",)), lambda _: None)
    assert [(result.name, result.unit) for result in report.results] == [
        ("one-record-requests", "requests/s"),
        ("cpu-per-request", "µs"),
    ]
    assert all(result.ours > 0 and result.peers["unsynced"] > 0 for result in report.results)


def test_a_laid_out_log_opens_with_all_its_offsets(tmp_path: Path) -> None:
    make_log(tmp_path / "log", 40 << 20, segment_bytes=8 << 20)
    with LogStore.open(tmp_path / "log") as store:
        partition = store.partition(TOPIC, 0)
        assert partition.failure is None
        assert partition.high_watermark == partition.size_bytes // (256 << 10) * BATCH_RECORDS
        assert partition.size_bytes == 40 << 20
