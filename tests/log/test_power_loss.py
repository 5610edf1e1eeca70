"""Power loss at any moment of any history: what was acked stays, and nothing else than unacked bytes is gone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.errors import CorruptData
from headrace.log import LogRefusal, LogStore, Partition, PartitionReader, encode_batches, parse_batches, with_producer
from headrace.log import partition as partition_module
from headrace.log.marker import is_commit, pack_marker
from headrace.log.testing import PowerLossStorage, _replay_write

TIME_MS = 1000
PRODUCER = 7
TRANSACTIONAL_PRODUCER = 8
STEPS = (
    "append",
    "append",
    "several",
    "write",
    "commit",
    "abort",
    "sync",
    "half_sync",
    "delete",
    "retention",
    "reopen",
)


@dataclass
class Model:
    """What was appended, batch by batch, and what of it was acked."""

    batches: list[tuple[int, bytes]] = field(default_factory=list)
    acked_offset: int = 0
    start_offset: int = 0
    sequences: dict[int, int] = field(default_factory=dict)

    def add(self, offset: int, content: bytes) -> None:
        """A batch of one record, appended at an offset."""
        self.batches.append((offset, offset.to_bytes(8, "big") + content[8:]))

    def keep(self, end_offset: int) -> None:
        """Power was lost: the log now ends here."""
        self.batches = [(base, content) for base, content in self.batches if base < end_offset]
        self.sequences = {}
        for _, content in self.batches:
            header = next(parse_batches(content))
            if not header.is_control:
                self.sequences[header.producer_id] = header.last_sequence + 1
        self.acked_offset = end_offset


class Run:
    """A store on a disk that will lose its power, and the model beside it."""

    def __init__(self, directory: Path, seed: int) -> None:
        self.choice = Random(seed)
        self.model = Model()
        self._directory = directory
        self._disks = 0
        self._directory.joinpath("disk0").mkdir()
        self._open()
        self.store.create_topic("t", 1, {"segment.bytes": "1024", "retention.bytes": "4000"})

    def _open(self) -> None:
        self.root = self._directory / f"disk{self._disks}"
        self.storage = PowerLossStorage(self.root)
        self.store = LogStore.open(self.root, storage=self.storage, clock=lambda: TIME_MS)

    @property
    def partition(self) -> Partition:
        return self.store.partition("t", 0)

    def batch(self, producer: int, size: int) -> bytes:
        plain = next(encode_batches(None, [self.choice.randbytes(size)], [5]))
        sequence = self.model.sequences.get(producer, 0)
        self.model.sequences[producer] = sequence + 1
        return with_producer(plain, producer, 0, sequence, transactional=producer == TRANSACTIONAL_PRODUCER)

    def append(self, *batches: bytes) -> None:
        offset = self.partition.append(b"".join(batches)).base_offset
        for index, content in enumerate(batches):
            self.model.add(offset + index, content)

    def do(self, step: str) -> None:
        partition = self.partition
        if step == "append":
            self.append(self.batch(PRODUCER, self.choice.randrange(400)))
        elif step == "several":
            self.append(*(self.batch(PRODUCER, self.choice.randrange(200)) for _ in range(self.choice.randrange(2, 6))))
        elif step == "write":
            self.append(self.batch(TRANSACTIONAL_PRODUCER, self.choice.randrange(100)))
        elif step in ("commit", "abort"):
            offset = partition.append_control(TRANSACTIONAL_PRODUCER, 0, commit=step == "commit").base_offset
            marker = pack_marker(TRANSACTIONAL_PRODUCER, 0, commit=step == "commit", time_ms=TIME_MS)
            self.model.add(offset, marker)
        elif step == "sync":
            self.store.sync()
            self.model.acked_offset = partition.high_watermark
        elif step == "half_sync" and partition.is_dirty:
            partition.begin_sync().run()
            self.lose_power()
        elif step == "delete":
            self.model.start_offset = partition.delete_records(self.choice.randint(0, partition.high_watermark))
        elif step == "retention":
            self.store.apply_retention()
            self.model.start_offset = partition.log_start_offset
        elif step == "reopen":
            self.store.close()
            self._open()
            self.model.acked_offset = self.model.batches[-1][0] + 1 if self.model.batches else 0

    def lose_power(self) -> None:
        self._disks += 1
        self.storage.lose_power(self._directory / f"disk{self._disks}", self.choice)
        self._open()
        self.check()

    def check(self) -> None:
        """Everything acked is there, the rest is a prefix of what was appended, and the state fits it."""
        partition = self.partition
        assert partition.failure is None
        assert partition.high_watermark == partition.log_end_offset >= self.model.acked_offset
        assert partition.log_start_offset == self.model.start_offset
        start, end = partition.log_start_offset, partition.log_end_offset
        assert stored(partition) == [(base, content) for base, content in self.model.batches if start <= base < end]
        self.model.keep(partition.log_end_offset)
        self.check_meaning()

    def check_meaning(self) -> None:
        """Committed readers see what a plain scan of the markers says."""
        partition = self.partition
        pending: list[int] = []
        expected: list[int] = []
        for base, content in self.model.batches:
            header = next(parse_batches(content))
            if header.is_control:
                expected += pending if is_commit(content) else []
                pending = []
            elif header.is_transactional:
                pending.append(base)
            else:
                expected.append(base)
        start = partition.log_start_offset
        stable = max(start, pending[0] if pending else partition.log_end_offset)
        assert partition.last_stable_offset == stable
        if start < stable:
            read = PartitionReader(partition.directory).read(start, stable)
            seen = [int(offset) for records in read for offset in records.offsets]
            assert seen == sorted(offset for offset in expected if start <= offset < stable)


def stored(partition: Partition) -> list[tuple[int, bytes]]:
    batches, offset = [], partition.log_start_offset
    while (found := partition.read(offset, 3000, committed=False)).length:
        content, position = found.content(), 0
        for header in parse_batches(content):
            batches.append((header.base_offset, content[position : position + header.size_bytes]))
            position += header.size_bytes
            offset = header.next_offset
    return batches


histories = given(
    rounds=st.lists(st.lists(st.sampled_from(STEPS), max_size=25), min_size=1, max_size=4),
    seed=st.integers(0, 2**32),
    checkpoint_bytes=st.sampled_from([300, 2000, 1 << 20]),
)


def live_through(directory: Path, rounds: list[list[str]], seed: int, checkpoint_bytes: int) -> None:
    """Do the steps of each round, and lose power after each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partition_module, "CHECKPOINT_BYTES", checkpoint_bytes)
        run = Run(directory, seed)
        for steps in rounds:
            for step in steps:
                run.do(step)
            run.lose_power()


@settings(max_examples=60, deadline=None)
@histories
def test_acked_stays_and_only_unacked_goes(
    fresh_directory: Callable[[], Path], rounds: list[list[str]], seed: int, checkpoint_bytes: int
) -> None:
    live_through(fresh_directory(), rounds, seed, checkpoint_bytes)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@settings(max_examples=1000, deadline=None)
@histories
def test_acked_stays_in_many_histories(
    fresh_directory: Callable[[], Path], rounds: list[list[str]], seed: int, checkpoint_bytes: int
) -> None:
    live_through(fresh_directory(), rounds, seed, checkpoint_bytes)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), created=st.integers(0, 3), deleted=st.booleans())
def test_topics_are_there_or_not_never_half(
    fresh_directory: Callable[[], Path], seed: int, created: int, deleted: bool
) -> None:
    directory = fresh_directory()
    root = directory / "before"
    root.mkdir()
    storage = PowerLossStorage(root)
    store = LogStore.open(root, storage=storage)
    for number in range(created):
        store.create_topic(f"t{number}", 2, {})
    if deleted and created:
        store.delete_topic("t0")
    storage.lose_power(directory / "after", Random(seed))
    with LogStore.open(directory / "after") as reopened:
        assert list(reopened.topics) == [f"t{number}" for number in range(1 if deleted else 0, created)]


@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 2**32), stop_after=st.integers(0, 40), delete=st.booleans())
def test_power_lost_within_a_change_of_topics(
    fresh_directory: Callable[[], Path], seed: int, stop_after: int, delete: bool
) -> None:
    """Whatever state is found, the store opens and the topic can be created and used."""
    directory = fresh_directory()
    root = directory / "before"
    root.mkdir()
    storage = Stopping(root)
    store = LogStore.open(root, storage=storage)
    if delete:
        partition = store.create_topic("t", 2, {}).partitions[0]
        partition.append(next(encode_batches(None, [b"old"], [5])))
        store.sync()
    storage.operations_left = stop_after
    with suppress(Stopped):
        store.delete_topic("t") if delete else store.create_topic("t", 2, {})
    storage.lose_power(directory / "after", Random(seed))
    with LogStore.open(directory / "after") as reopened:
        if "t" in reopened.topics:
            assert reopened.partition("t", 0).log_end_offset == (1 if delete else 0)
            reopened.delete_topic("t")
        assert reopened.create_topic("t", 2, {}).partitions[0].log_end_offset == 0


class Stopped(Exception):
    """The machine stops here."""


class Stopping(PowerLossStorage):
    """A disk of a machine that stops after some more changes."""

    operations_left = 10_000

    def _count(self) -> None:
        self.operations_left -= 1
        if self.operations_left < 0:
            raise Stopped

    def fdatasync(self, descriptor: int) -> None:
        self._count()
        super().fdatasync(descriptor)

    def fsync_directory(self, path: Path) -> None:
        self._count()
        super().fsync_directory(path)

    def rename(self, source: Path, target: Path) -> None:
        self._count()
        super().rename(source, target)

    def unlink(self, path: Path) -> None:
        self._count()
        super().unlink(path)

    def make_directory(self, path: Path) -> None:
        self._count()
        super().make_directory(path)


def _filled(directory: Path, *, close: bool) -> Path:
    """A partition of several segments; everything in it acked."""
    store = LogStore.open(directory)
    partition = store.create_topic("t", 1, {"segment.bytes": "2048"}).partitions[0]
    for number in range(20):
        partition.append(next(encode_batches(None, [bytes([number]) * 300], [number])))
    store.sync()
    if close:
        store.close()
    else:
        store._lock.release()
    return partition.directory


@pytest.mark.parametrize("close", [True, False])
@pytest.mark.parametrize("lost_bytes", [1, 100, 400])
def test_acked_bytes_missing_at_the_end_are_reported_and_nothing_is_cut(
    tmp_path: Path, close: bool, lost_bytes: int
) -> None:
    log = sorted(_filled(tmp_path / "data", close=close).glob("*.log"))[-1]
    log.write_bytes(log.read_bytes()[:-lost_bytes])
    size = log.stat().st_size
    with LogStore.open(tmp_path / "data") as store:
        partition = store.partition("t", 0)
        assert isinstance(partition.failure, CorruptData)
        assert "was durable" in str(partition.failure)
        assert log.stat().st_size == size
        assert len(stored_until_refused(partition)) == 20 - (2 if lost_bytes == 400 else 1)


@pytest.mark.parametrize("place", ["acked", "unacked"])
def test_a_flipped_bit_is_reported_where_acked_and_cut_where_not(tmp_path: Path, place: str) -> None:
    store = LogStore.open(tmp_path / "data")
    partition = store.create_topic("t", 1, {}).partitions[0]
    for number in range(6):
        partition.append(next(encode_batches(None, [bytes([number]) * 300], [number])))
        if number == 3:
            store.sync()
    store._lock.release()
    log = partition.directory / f"{0:020d}.log"
    content = bytearray(log.read_bytes())
    content[len(content) // 6 * (2 if place == "acked" else 4) + 200] ^= 1
    log.write_bytes(content)
    with LogStore.open(tmp_path / "data") as store:
        partition = store.partition("t", 0)
        if place == "unacked":
            assert (partition.failure, partition.high_watermark) == (None, 4)
            assert log.stat().st_size == len(content) // 6 * 4
        else:
            assert "the batch at offset 2 fails its checksum" in str(partition.failure)
            assert log.read_bytes() == content
            assert stored_until_refused(partition) == [0, 1]


def test_acks_without_a_sync_are_lost_without_a_report(tmp_path: Path) -> None:
    """A broker may be told to ack what the operating system has: after a power loss it goes on with what is left."""
    root = tmp_path / "before"
    root.mkdir()
    storage = PowerLossStorage(root)
    partition = LogStore.open(root, storage=storage).create_topic("t", 1, {}).partitions[0]
    for _ in range(20):
        partition.append(next(encode_batches(None, [b"x" * 100], [5])))
        partition.finish_sync(partition.begin_sync())
    assert partition.high_watermark == 20
    storage.lose_power(tmp_path / "after", Random(3))
    with LogStore.open(tmp_path / "after") as store:
        survivor = store.partition("t", 0)
        assert survivor.failure is None
        assert survivor.append(next(encode_batches(None, [b"y"], [5]))).base_offset < 20


def stored_until_refused(partition: Partition) -> list[int]:
    offsets: list[int] = []
    with suppress(LogRefusal):
        while (found := partition.read(len(offsets), 500, committed=False)).length:
            offsets += [header.base_offset for header in parse_batches(found.content())]
    return offsets


def test_a_write_beside_a_sync_is_not_forgotten_by_the_simulated_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Brokers sync in threads, also one that was killed: what a sync made safe is there after a loss of power."""
    root = tmp_path / "before"
    root.mkdir()
    storage = PowerLossStorage(root)
    descriptor = storage.open(root / "file", create=True)
    storage.fsync_directory(root)
    storage.pwritev(descriptor, [b"a"], 0)

    def sync_and_write() -> None:
        storage.fdatasync(descriptor)
        storage.pwritev(descriptor, [b"b"], 1)

    other = threading.Thread(target=sync_and_write)

    def replay_beside_another(content: bytearray, position: int, written: bytes | None) -> None:
        _replay_write(content, position, written)
        if other.ident is None:
            other.start()
            other.join(0.2)  # It ends only if the disk lets it in between.

    monkeypatch.setattr("headrace.log.testing._replay_write", replay_beside_another)
    storage.fdatasync(descriptor)
    other.join()
    storage.fdatasync(descriptor)
    storage.lose_power(tmp_path / "after", Random(1))
    assert (tmp_path / "after" / "file").read_bytes() == b"ab"
