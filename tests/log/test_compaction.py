"""Compaction on a disk that loses its power, beside a model that knows every key's newest value."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.errors import CorruptData, InvalidConfig
from headrace.log import (
    Codec,
    ErrorCode,
    LogRefusal,
    LogStore,
    OsStorage,
    Partition,
    PartitionReader,
    encode_batches,
    parse_batches,
    with_producer,
)
from headrace.log import compaction as compaction_module
from headrace.log.testing import Fault, FaultyStorage, PowerLossStorage

if TYPE_CHECKING:
    from tests.log.conftest import Clock

KEYS = (b"a", b"b", b"c", b"long" * 20, b"")
CONFIG = {
    "cleanup.policy": "compact",
    "segment.bytes": "1024",
    "min.cleanable.dirty.ratio": "0.1",
    "delete.retention.ms": "100",
}
STEPS = ("put", "put", "put", "tombstone", "begin", "commit", "abort", "sync", "compact", "compact", "wait", "reopen")
PRODUCER = 9
CODECS_USED: tuple[Codec, ...] = ("none", "lz4")

Row = tuple[bytes, bytes | None]


def rows_of(partition: Partition, *, committed: bool = True) -> dict[int, Row]:
    """Every record that a reader beside the broker sees, by its offset."""
    reader = PartitionReader(partition.directory)
    watermark = reader.watermark()
    end = watermark.last_stable_offset if committed else watermark.high_watermark
    rows: dict[int, Row] = {}
    for records in reader.read(watermark.log_start_offset, end, committed=committed):
        columns = (records.offsets.tolist(), records.keys.to_pylist(), records.values.to_pylist())
        rows.update({offset: (key, value) for offset, key, value in zip(*columns, strict=True)})
    return rows


def state(rows: dict[int, Row]) -> dict[bytes, bytes]:
    """The newest value of each key."""
    newest: dict[bytes, bytes | None] = {}
    for offset in sorted(rows):
        key, value = rows[offset]
        newest[key] = value
    return {key: value for key, value in newest.items() if value is not None}


class Run:
    """A compacted topic, what was appended to it, and what a power loss leaves of it."""

    def __init__(self, directory: Path, seed: int) -> None:
        self.choice = Random(seed)
        self.time_ms = 1_000
        self.committed: dict[int, Row] = {}
        self.open_rows: dict[int, Row] = {}
        self.in_transaction = False
        self._sequence = 0
        self._directory, self._disks = directory, 0
        (directory / "disk0").mkdir()
        self._open()
        self.store.create_topic("t", 1, CONFIG)

    def _open(self) -> None:
        self.storage = PowerLossStorage(self._directory / f"disk{self._disks}")
        root = self._directory / f"disk{self._disks}"
        self.store = LogStore.open(root, storage=self.storage, clock=lambda: self.time_ms)

    @property
    def partition(self) -> Partition:
        return self.store.partition("t", 0)

    def put(self, *, value: bool) -> None:
        count = self.choice.randrange(1, 5)
        rows = [
            (self.choice.choice(KEYS), self.choice.randbytes(self.choice.randrange(80)) if value else None)
            for _ in range(count)
        ]
        codec = self.choice.choice(CODECS_USED)
        batch = next(encode_batches([k for k, _ in rows], [v for _, v in rows], [self.time_ms] * count, codec=codec))
        if self.in_transaction:
            batch = with_producer(batch, PRODUCER, 0, self._sequence, transactional=True)
            self._sequence += count
        base = self.partition.append(batch).base_offset
        target = self.open_rows if self.in_transaction else self.committed
        target.update({base + index: row for index, row in enumerate(rows)})

    def end(self, *, commit: bool) -> None:
        if self.in_transaction and self.open_rows:
            self.partition.append_control(PRODUCER, 0, commit=commit)
            if commit:
                self.committed.update(self.open_rows)
        self.open_rows, self.in_transaction = {}, False

    def compact_and_lose_power(self) -> None:
        """A pass, and power lost at some moment of it or after."""
        self.store.sync()
        self.store.compact()
        self._disks += 1
        self.storage.lose_power(self._directory / f"disk{self._disks}", self.choice)
        self._open()

    def do(self, step: str) -> None:
        if step in ("put", "tombstone"):
            self.put(value=step == "put")
        elif step == "begin":
            self.in_transaction = True
        elif step in ("commit", "abort"):
            self.end(commit=step == "commit")
        elif step == "compact":
            self.store.sync()
            self.store.compact()
        elif step == "wait":
            self.time_ms += 60
        elif step == "reopen":
            self.store.close()
            self._open()
        else:
            self.store.sync()

    def check(self) -> None:
        """Every key has its newest committed value, and no record is anything but what was appended there."""
        self.store.sync()
        assert self.partition.failure is None
        limit = self.partition.last_stable_offset
        expected = {offset: row for offset, row in self.committed.items() if offset < limit}
        rows = rows_of(self.partition)
        assert rows.items() <= expected.items()
        assert state(rows) == state(expected)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), steps=st.lists(st.sampled_from(STEPS), min_size=20, max_size=120))
def test_any_history_keeps_the_newest_value_of_each_key(
    fresh_directory: Callable[[], Path], seed: int, steps: list[str]
) -> None:
    run = Run(fresh_directory(), seed)
    for step in steps:
        run.do(step)
    run.end(commit=run.choice.random() < 0.5)
    run.check()
    run.compact_and_lose_power()
    run.check()
    run.store.close()


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 2**32), steps=st.lists(st.sampled_from(STEPS), min_size=20, max_size=200))
def test_any_longer_history_keeps_the_newest_value_of_each_key(
    fresh_directory: Callable[[], Path], seed: int, steps: list[str]
) -> None:
    run = Run(fresh_directory(), seed)
    for number, step in enumerate(steps):
        run.do(step)
        if number % 50 == 49:
            run.end(commit=True)
            run.compact_and_lose_power()
            run.check()
    run.store.close()


def crash_points(directory: Path, seed: int) -> int:
    """How many changes of the disk a swap makes; power is lost after each of them in turn."""
    run = Run(directory, seed)
    for _ in range(60):
        run.put(value=True)
    run.store.sync()
    compaction = run.partition.begin_compaction()
    assert compaction is not None
    compaction.run()
    assert compaction.rewritten
    operations = 0
    original: tuple[Callable[..., None], ...] = (run.storage.rename, run.storage.unlink, run.storage.fsync_directory)

    def crash(number: int) -> None:
        target = directory / f"crash{number}"
        run.storage.lose_power(target, run.choice)
        with LogStore.open(target, clock=lambda: run.time_ms) as store:
            partition = store.partition("t", 0)
            assert partition.failure is None
            assert state(rows_of(partition)) == state(run.committed)
            assert not [name for name in partition.directory.iterdir() if name.suffix in (".new", ".json")]

    def counted(function: Callable[..., None]) -> Callable[..., None]:
        def call(*arguments: Path) -> None:
            nonlocal operations
            function(*arguments)
            operations += 1
            crash(operations)

        return call

    for name, function in zip(("rename", "unlink", "fsync_directory"), original, strict=True):
        setattr(run.storage, name, counted(function))
    run.partition.finish_compaction(compaction)
    for name in ("rename", "unlink", "fsync_directory"):
        delattr(run.storage, name)
    run.check()
    run.store.close()
    return operations


@pytest.mark.parametrize("seed", range(3))
def test_power_lost_at_any_moment_of_a_swap_leaves_the_old_or_the_new(tmp_path: Path, seed: int) -> None:
    assert crash_points(tmp_path, seed) > 10


def fill(partition: Partition, count: int, key: bytes = b"k") -> None:
    for number in range(count):
        partition.append(next(encode_batches([key], [b"%d" % number * 20], [5])))


@pytest.fixture
def compacted(store: LogStore) -> Partition:
    return store.create_topic("t", 1, CONFIG).partitions[0]


def test_segments_shrink_and_offsets_stay_without_gaps(store: LogStore, compacted: Partition) -> None:
    fill(compacted, 200)
    store.sync()
    before = compacted.size_bytes
    store.compact()
    assert compacted.size_bytes < before / 4
    rows = rows_of(compacted)
    assert max(rows) == 199
    assert rows[199] == (b"k", b"199" * 20)
    offset = 0
    while offset < compacted.high_watermark:
        for header in parse_batches(compacted.read(offset, 1 << 20, committed=True).content()):
            assert header.base_offset == offset
            offset = header.next_offset


def test_a_second_pass_over_a_clean_log_changes_nothing(store: LogStore, compacted: Partition) -> None:
    fill(compacted, 100)
    store.sync()
    store.compact()
    files = {path.name: path.stat().st_ino for path in compacted.directory.iterdir() if path.suffix == ".log"}
    store.compact()
    assert {path.name: path.stat().st_ino for path in compacted.directory.iterdir() if path.suffix == ".log"} == files


def test_records_without_a_key_are_refused(compacted: Partition) -> None:
    with pytest.raises(LogRefusal, match="without a key") as caught:
        compacted.append(next(encode_batches(None, [b"v"], [5])))
    assert caught.value.error_code == ErrorCode.INVALID_RECORD


def test_an_open_transaction_holds_compaction_back(store: LogStore, compacted: Partition) -> None:
    plain = next(encode_batches([b"k"], [b"v"], [5]))
    compacted.append(with_producer(plain, PRODUCER, 0, 0, transactional=True))
    fill(compacted, 100)
    store.sync()
    assert compacted.begin_compaction() is None
    compacted.append_control(PRODUCER, 0, commit=False)
    store.sync()
    store.compact()
    assert 0 not in rows_of(compacted, committed=False)


def test_more_keys_than_a_pass_remembers_take_several(
    store: LogStore, compacted: Partition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction_module, "KEYS_MAX", 10)
    for number in range(300):
        compacted.append(next(encode_batches([b"%d" % (number % 50)], [b"v" * 50], [5])))
    store.sync()
    passes = 0
    while (compaction := compacted.begin_compaction()) is not None and passes < 100:
        compaction.run()
        compacted.finish_compaction(compaction)
        passes += 1
    assert 2 < passes < 100
    assert set(state(rows_of(compacted))) == {b"%d" % number for number in range(50)}


def test_a_disk_that_fills_during_a_pass_changes_nothing_and_is_tidied(open_store: Callable[..., LogStore]) -> None:
    storage = FaultyStorage(OsStorage())
    store = open_store(storage)
    partition = store.create_topic("t", 1, CONFIG).partitions[0]
    fill(partition, 100)
    store.sync()
    storage.faults = [Fault("pwritev", ".log.new", errno.ENOSPC)]
    store.compact()
    assert partition.failure is None
    assert len(rows_of(partition)) == 100
    assert not list(partition.directory.glob("*.new"))
    storage.faults = []
    store.compact()
    assert len(rows_of(partition)) < 30


def test_damage_is_reported_and_not_compacted_away(store: LogStore, compacted: Partition) -> None:
    fill(compacted, 100)
    store.sync()
    first = compacted.directory / "00000000000000000000.log"
    content = bytearray(first.read_bytes())
    content[80] ^= 1
    first.write_bytes(content)
    compaction = compacted.begin_compaction()
    assert compaction is not None
    with pytest.raises(CorruptData, match="checksum"):
        compaction.run()
    compacted.finish_compaction(compaction, CorruptData("seen"))
    assert first.read_bytes() == content


def test_both_policies_delete_and_compact(open_store: Callable[..., LogStore]) -> None:
    store = open_store()
    config = {**CONFIG, "cleanup.policy": "delete,compact", "retention.bytes": "2000"}
    partition = store.create_topic("t", 1, config).partitions[0]
    for number in range(100):
        partition.append(next(encode_batches([b"%d" % number], [b"v" * 50], [5])))
    store.sync()
    store.apply_retention()
    assert partition.log_start_offset > 0
    assert store.topics["t"].config.to_names()["cleanup.policy"] == "compact,delete"


def test_reading_goes_on_while_segments_are_joined(store: LogStore, compacted: Partition) -> None:
    """A reader that listed the segments before the swap finds the records all the same."""
    fill(compacted, 100)
    store.sync()
    reader = PartitionReader(compacted.directory)
    listed = reader._bases
    calls = 0

    def bases_then_swap(start_offset: int, end_offset: int) -> list[int]:
        nonlocal calls
        calls += 1
        found = listed(start_offset, end_offset)
        if calls == 1:
            store.compact()
        return found

    reader._bases = bases_then_swap  # type: ignore[method-assign]
    offsets = [offset for records in reader.read(0, 100) for offset in records.offsets.tolist()]
    assert calls == 2
    assert offsets[-1] == 99


def superseded(store: LogStore, clock: Clock, **settings: str) -> Partition:
    """A key that is written again every 10 ms of the clock, in segments of two or three records."""
    config = {**CONFIG, **{name.replace("_", "."): value for name, value in settings.items()}}
    partition = store.create_topic("lagging", 1, config).partitions[0]
    for _ in range(10):
        clock.time_ms += 10
        partition.append(next(encode_batches([b"a"], [b"x" * 300], [clock.time_ms])))
    store.sync()
    # What is compacted has to be below the checkpoint.
    partition._save_checkpoint()
    return partition


def test_records_younger_than_the_smallest_lag_stay(store: LogStore, clock: Clock) -> None:
    partition = superseded(store, clock, min_compaction_lag_ms="60")
    before = rows_of(partition)
    store.compact()
    kept = rows_of(partition)
    assert len(kept) < len(before)
    assert set(range(5, 10)) <= set(kept)
    clock.time_ms += 1_000
    store.compact()
    assert len(rows_of(partition)) < len(kept)


def test_the_largest_lag_wins_over_the_dirty_ratio(store: LogStore, clock: Clock) -> None:
    settings = {"min_cleanable_dirty_ratio": "1", "max_compaction_lag_ms": "500"}
    partition = superseded(store, clock, **settings)
    store.compact()
    clock.time_ms += 100
    partition.append(next(encode_batches([b"b"], [b"x" * 900], [clock.time_ms])))
    partition.append(next(encode_batches([b"a"], [b"x" * 900], [clock.time_ms])))
    store.sync()
    partition._save_checkpoint()
    store.compact()
    before = rows_of(partition)
    clock.time_ms += 300
    store.compact()
    assert rows_of(partition) == before
    clock.time_ms += 300
    store.compact()
    assert len(rows_of(partition)) < len(before)


def test_lags_that_exclude_each_other_are_refused(store: LogStore) -> None:
    with pytest.raises(InvalidConfig, match=r"min\.compaction\.lag\.ms"):
        store.create_topic("never", 1, {**CONFIG, "min.compaction.lag.ms": "10", "max.compaction.lag.ms": "9"})
