"""Idempotent producers: resent batches are recognised, gaps and old epochs refused, also after a restart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.log import Appended, ErrorCode, LogRefusal, LogStore, Partition, encode_batches, with_producer
from headrace.log import producers as producers_module
from headrace.log.batch import SEQUENCE_SPACE, read_header
from headrace.log.producers import PRODUCER_IDLE_MS_MAX, BatchMemory, ProducerState


def batch(sequence: int, count: int = 1, *, producer: int = 7, epoch: int = 0, transactional: bool = False) -> bytes:
    plain = next(encode_batches(None, [b"v"] * count, [5] * count))
    return with_producer(plain, producer, epoch, sequence, transactional)


def code_of(partition: Partition, records: bytes) -> ErrorCode:
    before = partition.log_end_offset
    with pytest.raises(LogRefusal) as refused:
        partition.append(records)
    assert partition.log_end_offset == before
    return refused.value.error_code


def test_each_of_the_last_five_batches_is_recognised(partition: Partition) -> None:
    first_answers = [partition.append(batch(sequence, 2)) for sequence in range(0, 14, 2)]
    for sequence in range(4, 14, 2):
        assert partition.append(batch(sequence, 2)) == first_answers[sequence // 2]
    assert partition.log_end_offset == 14
    assert code_of(partition, batch(2, 2)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_gap_is_refused(partition: Partition) -> None:
    partition.append(batch(0, 3))
    assert code_of(partition, batch(4)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert partition.append(batch(3)).base_offset == 3


def test_a_batch_that_overlaps_is_refused(partition: Partition) -> None:
    partition.append(batch(0, 3))
    assert code_of(partition, batch(2, 2)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_an_unknown_producer_starts_at_zero(partition: Partition) -> None:
    assert code_of(partition, batch(3)) == ErrorCode.UNKNOWN_PRODUCER_ID


def test_a_new_epoch_starts_at_zero_and_ends_the_old_one(partition: Partition) -> None:
    partition.append(batch(0))
    assert code_of(partition, batch(1, epoch=1)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    partition.append(batch(0, epoch=1))
    assert code_of(partition, batch(1, epoch=0)) == ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_request_half_of_which_survived_is_completed(partition: Partition) -> None:
    partition.append(batch(0) + batch(1))
    assert partition.append(batch(0) + batch(1) + batch(2)) == Appended(0, 2, -1)
    assert partition.log_end_offset == 3


def test_a_request_is_appended_wholly_or_not_at_all(partition: Partition) -> None:
    assert code_of(partition, batch(0) + batch(2)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert partition.append(batch(0) + batch(1)).last_offset == 1


def test_sequences_wrap() -> None:
    last = SEQUENCE_SPACE - 1
    state = ProducerState(7, 0, (BatchMemory(last, last, 0, 0, -1),), None, 0)
    assert state.admit(read_header(batch(0))) is None
    assert read_header(batch(last, 3)).last_sequence == 1


@settings(max_examples=25, deadline=None)
@given(
    counts=st.lists(st.integers(1, 3), min_size=1, max_size=12),
    clean=st.booleans(),
    synced=st.booleans(),
)
def test_a_restart_changes_nothing(
    fresh_directory: Callable[[], Path], counts: list[int], clean: bool, synced: bool
) -> None:
    directory = fresh_directory() / "data"
    store = LogStore.open(directory)
    partition = store.create_topic("t", 1, {"segment.bytes": "1024"}).partitions[0]
    sequence, answers = 0, []
    for count in counts:
        answers.append((sequence, count, partition.append(batch(sequence, count))))
        sequence += count
        if synced:
            store.sync()
    if clean:
        store.close()
    else:
        store._lock.release()  # As a kill would: nothing is written any more.
    with LogStore.open(directory) as reopened:
        partition = reopened.partition("t", 0)
        for first, count, answer in answers[-5:]:
            assert partition.append(batch(first, count)) == answer
        assert partition.append(batch(sequence)).base_offset == sequence
        assert code_of(partition, batch(sequence + 5)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_idle_producers_are_forgotten(
    store: LogStore, partition: Partition, clock: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    partition.append(batch(0))
    partition.append(batch(0, producer=8, transactional=True))
    monkeypatch.setattr(clock, "time_ms", clock() + PRODUCER_IDLE_MS_MAX + 1)
    store.apply_retention()
    assert code_of(partition, batch(1)) == ErrorCode.UNKNOWN_PRODUCER_ID
    assert partition.append(batch(1, producer=8, transactional=True)).base_offset == 2


def test_the_number_of_producers_has_a_limit(partition: Partition, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(producers_module, "PRODUCERS_MAX", 3)
    partition.append(batch(0, producer=1, transactional=True))
    for producer in (2, 3, 4):
        partition.append(batch(0, producer=producer))
    assert code_of(partition, batch(1, producer=2)) == ErrorCode.UNKNOWN_PRODUCER_ID
    for producer in (1, 3, 4):
        assert partition.append(batch(1, producer=producer, transactional=producer == 1)).base_offset > 0
