"""Transactions: what is stable, what was aborted, and what survives a restart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from aiokafka.record.control_record import ABORT_MARKER, COMMIT_MARKER, ControlRecord
from aiokafka.record.default_records import DefaultRecordBatch
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.log import (
    AbortedTransaction,
    ErrorCode,
    LogRefusal,
    LogStore,
    Partition,
    PartitionReader,
    decode_fetched,
    encode_batches,
    parse_batches,
    with_producer,
)


def batch(value: bytes, producer: int, sequence: int, *, epoch: int = 0, transactional: bool = True) -> bytes:
    return with_producer(next(encode_batches(None, [value], [5])), producer, epoch, sequence, transactional)


def test_the_stable_offset_waits_for_the_first_open_transaction(store: LogStore, partition: Partition) -> None:
    partition.append(batch(b"a", 1, 0))
    partition.append(batch(b"b", 2, 0))
    partition.append(next(encode_batches(None, [b"plain"], [5])))
    store.sync()
    assert (partition.high_watermark, partition.last_stable_offset) == (3, 0)
    assert partition.open_transactions() == {1: 0, 2: 1}
    partition.append_control(1, 0, commit=True)
    store.sync()
    assert (partition.high_watermark, partition.last_stable_offset) == (4, 1)
    partition.append_control(2, 0, commit=False)
    store.sync()
    assert (partition.high_watermark, partition.last_stable_offset) == (5, 5)
    assert partition.open_transactions() == {}


def test_a_marker_counts_once_it_is_durable(store: LogStore, partition: Partition) -> None:
    partition.append(batch(b"a", 1, 0))
    store.sync()
    partition.append_control(1, 0, commit=True)
    ticket = partition.begin_sync()
    assert partition.last_stable_offset == 0
    ticket.run()
    partition.finish_sync(ticket)
    assert partition.last_stable_offset == 2


def test_a_marker_behind_the_sync_does_not_count_yet(partition: Partition) -> None:
    partition.append(batch(b"a", 1, 0))
    ticket = partition.begin_sync()
    partition.append_control(1, 0, commit=True)
    ticket.run()
    partition.finish_sync(ticket)
    assert (partition.high_watermark, partition.last_stable_offset) == (1, 0)


def test_committed_reads_end_at_the_stable_offset_and_list_aborts(store: LogStore, partition: Partition) -> None:
    partition.append(batch(b"a", 1, 0))
    partition.append_control(1, 0, commit=False)
    partition.append(batch(b"b", 1, 1))
    store.sync()
    assert partition.read(2, 1000, committed=True).length == 0
    assert partition.read(2, 1000, committed=False).length > 0
    assert partition.read(0, 1000, committed=True).aborted == (AbortedTransaction(1, 0, 1),)
    assert partition.read(0, 1000, committed=False).aborted == ()


@pytest.mark.parametrize("commit", [True, False])
def test_markers_are_kafkas(store: LogStore, partition: Partition, commit: bool) -> None:
    partition.append(batch(b"a", 9, 0, epoch=4))
    partition.append_control(9, 4, commit=commit)
    store.sync()
    content = partition.read(1, 1000, committed=False).content()
    marker = DefaultRecordBatch(content)
    assert marker.validate_crc()
    assert (marker.is_control_batch, marker.producer_id, marker.producer_epoch) == (True, 9, 4)
    (record,) = list(marker)
    assert record.key is not None
    assert ControlRecord.parse(record.key) == (COMMIT_MARKER if commit else ABORT_MARKER)


def test_a_plain_write_within_a_transaction_is_refused(partition: Partition) -> None:
    partition.append(batch(b"a", 1, 0))
    with pytest.raises(LogRefusal) as refused:
        partition.append(batch(b"b", 1, 1, transactional=False))
    assert refused.value.error_code == ErrorCode.INVALID_TXN_STATE


def test_a_marker_of_a_new_epoch_fences_the_old_one(store: LogStore, partition: Partition) -> None:
    partition.append(batch(b"a", 1, 0))
    partition.append_control(1, 1, commit=False)
    attempts: list[Callable[[], object]] = [
        lambda: partition.append(batch(b"b", 1, 1)),
        lambda: partition.append_control(1, 0, commit=True),
    ]
    for attempt in attempts:
        with pytest.raises(LogRefusal) as refused:
            attempt()
        assert refused.value.error_code == ErrorCode.INVALID_PRODUCER_EPOCH
    assert partition.append(batch(b"c", 1, 0, epoch=1)).base_offset == 2


Step = tuple[int, str]
steps = st.lists(st.tuples(st.integers(1, 3), st.sampled_from(["write", "commit", "abort", "plain"])), max_size=40)


def run(partition: Partition, history: list[Step], rows: range, sequences: dict[int, int]) -> None:
    for number in rows:
        producer, step = history[number]
        value = b"%d-%d" % (number, producer)
        if step == "write":
            partition.append(batch(value, producer, sequences.get(producer, 0)))
            sequences[producer] = sequences.get(producer, 0) + 1
        elif step == "plain":
            partition.append(next(encode_batches(None, [value], [5])))
        else:
            partition.append_control(producer, 0, commit=step == "commit")


def expected_values(history: list[Step]) -> tuple[list[bytes], int]:
    """What a committed reader sees of the history, and the stable offset, by the simplest model."""
    fates: dict[int, bool] = {}
    open_offsets: dict[int, list[int]] = {}
    for offset, (producer, step) in enumerate(history):
        if step == "write":
            open_offsets.setdefault(producer, []).append(offset)
        elif step in ("commit", "abort"):
            fates.update(dict.fromkeys(open_offsets.pop(producer, []), step == "commit"))
    stable = min([len(history), *(offsets[0] for offsets in open_offsets.values())])
    seen = [
        b"%d-%d" % (offset, producer)
        for offset, (producer, step) in enumerate(history[:stable])
        if step == "plain" or (step == "write" and fates[offset])
    ]
    return seen, stable


@settings(max_examples=60, deadline=None)
@given(history=steps, restart_at=st.integers(0, 40), clean=st.booleans())
def test_committed_readers_see_exactly_what_was_committed(
    fresh_directory: Callable[[], Path], history: list[Step], restart_at: int, clean: bool
) -> None:
    directory = fresh_directory() / "data"
    sequences: dict[int, int] = {}
    store = LogStore.open(directory)
    partition = store.create_topic("t", 1, {"segment.bytes": "1024"}).partitions[0]
    restart_at = min(restart_at, len(history))
    run(partition, history, range(restart_at), sequences)
    store.sync()
    if clean:
        store.close()
    else:
        store._lock.release()
    with LogStore.open(directory) as store:
        partition = store.partition("t", 0)
        run(partition, history, range(restart_at, len(history)), sequences)
        store.sync()
        values, stable = expected_values(history)
        assert (partition.log_end_offset, partition.last_stable_offset) == (len(history), stable)
        assert values_of_reader(partition.directory, stable) == values
        assert values_of_fetches(partition) == values


def values_of_reader(directory: Path, end_offset: int) -> list[bytes | None]:
    return [value for records in PartitionReader(directory).read(0, end_offset) for value in records.values.to_pylist()]


def values_of_fetches(partition: Partition) -> list[bytes | None]:
    """As a client: fetch by fetch, aborted transactions taken out by the list that comes with each."""
    values: list[bytes | None] = []
    offset = 0
    while (found := partition.read(offset, 600, committed=True)).length:
        for records in decode_fetched(found.content(), found.aborted):
            values += records.values.to_pylist()
        offset = list(parse_batches(found.content()))[-1].next_offset
    return values


def test_transactions_and_aborts_survive_a_restart(open_store: Callable[[], LogStore], partition: Partition) -> None:
    partition.append(batch(b"a", 1, 0))
    partition.append_control(1, 0, commit=False)
    partition.append(batch(b"b", 2, 0))
    reopened = open_store().partition("events", 0)
    assert reopened.open_transactions() == {2: 2}
    assert reopened.last_stable_offset == 2
    assert reopened.read(0, 1000, committed=True).aborted == (AbortedTransaction(1, 0, 1),)


def test_the_mark_of_a_signal_takes_an_offset_and_changes_no_transaction(
    open_store: Callable[[], LogStore], partition: Partition
) -> None:
    partition.append(batch(b"a", 1, 0))
    assert partition.append_signal_mark().base_offset == 1
    partition.append(batch(b"b", 1, 1))
    partition.append_control(1, 0, commit=True)
    partition.append_signal_mark()
    before = partition.producers()
    reopened = open_store().partition("events", 0)
    assert (reopened.producers(), reopened.open_transactions()) == (before, {})
    assert (reopened.log_end_offset, reopened.last_stable_offset) == (5, 5)
    assert values_of_fetches(reopened) == [b"a", b"b"]
