"""Times of records that cannot be: they are refused by name, and those of older directories do not hold retention."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from headrace.log import ErrorCode, LogRefusal, LogStore, Partition, encode_batches

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


def batch(*times_ms: int, codec: str = "none") -> bytes:
    values = [b"x" * 900 for _ in times_ms]
    return next(encode_batches(None, values, list(times_ms), codec=codec))  # type: ignore[arg-type]


def refused(partition: Partition, content: bytes) -> LogRefusal:
    with pytest.raises(LogRefusal) as caught:
        partition.append(content)
    return caught.value


@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_a_time_far_in_the_future_is_refused_and_the_records_are_named(
    partition: Partition, clock: Callable[[], int], codec: str
) -> None:
    now_ms = clock()
    partition.append(batch(now_ms + HOUR_MS, codec=codec))
    refusal = refused(partition, batch(now_ms, now_ms + HOUR_MS + 1, now_ms, now_ms + DAY_MS, codec=codec))
    assert refusal.error_code == ErrorCode.INVALID_TIMESTAMP
    assert [error.batch_index for error in refusal.record_errors] == [1, 3]
    assert str(now_ms + HOUR_MS + 1) in refusal.record_errors[0].message
    assert partition.log_end_offset == 1


def test_how_old_a_record_may_be_can_be_set(store: LogStore, clock: Callable[[], int]) -> None:
    settings = {"message.timestamp.before.max.ms": str(DAY_MS), "message.timestamp.after.max.ms": str(DAY_MS)}
    partition = store.create_topic("t", 1, settings).partitions[0]
    partition.append(batch(clock() - DAY_MS, clock() + DAY_MS))
    # -1 stands for no time.
    partition.append(batch(-1, clock()))
    refusal = refused(partition, batch(clock(), clock() - DAY_MS - 1))
    assert refusal.error_code == ErrorCode.INVALID_TIMESTAMP
    assert [error.batch_index for error in refusal.record_errors] == [1]


def test_a_topic_with_append_times_takes_any(store: LogStore, clock: Callable[[], int]) -> None:
    partition = store.create_topic("t", 1, {"message.timestamp.type": "LogAppendTime"}).partitions[0]
    assert partition.append(batch(clock() + 1000 * DAY_MS)).append_time_ms == clock()


def test_records_without_a_key_are_named(store: LogStore) -> None:
    partition = store.create_topic("t", 1, {"cleanup.policy": "compact"}).partitions[0]
    content = next(encode_batches([b"a", None, b"c", None], [b"1", b"2", b"3", b"4"], [1, 1, 1, 1]))
    refusal = refused(partition, content)
    assert refusal.error_code == ErrorCode.INVALID_RECORD
    assert [error.batch_index for error in refusal.record_errors] == [1, 3]


def test_a_record_of_the_future_does_not_hold_retention(
    open_store: Callable[..., LogStore], clock: Callable[[], int]
) -> None:
    """Such a record is there when the limit was raised, or an older version took it."""
    settings = {"segment.bytes": "1024", "retention.ms": str(DAY_MS), "message.timestamp.after.max.ms": str(10**15)}
    store = open_store()
    partition = store.create_topic("t", 1, settings).partitions[0]
    for _ in range(3):
        partition.append(batch(clock() + 10_000 * DAY_MS))
    store.sync()
    logs = sorted(partition.directory.glob("*.log"))
    for path in logs:
        os.utime(path, (0, (clock() - DAY_MS + HOUR_MS) / 1000))
    store.apply_retention()
    assert partition.log_start_offset == 0
    for path in logs[:2]:
        os.utime(path, (0, (clock() - DAY_MS - HOUR_MS) / 1000))
    store.apply_retention()
    assert partition.log_start_offset == 2
    os.utime(logs[2], (0, (clock() - DAY_MS - HOUR_MS) / 1000))
    partition = open_store().partition("t", 0)
    os.utime(logs[2], (0, (clock() - DAY_MS - HOUR_MS) / 1000))
    open_store().apply_retention()
    assert open_store().partition("t", 0).log_start_offset == 3
