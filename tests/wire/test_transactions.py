"""Transactions and committed offsets as values, and the records that keep them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.coordinators import transaction_records
from headrace.wire.coordinators.offsets import CommittedOffset, CommittedOffsets, OffsetKey, from_record, to_records
from headrace.wire.coordinators.transactions import EPOCH_MAX, Transaction, Transactions, TransactionState
from headrace.wire.state_records import decode_state_batches, encode_state_batch, newest

PARTITION = ("topic", 0)
KEY = OffsetKey("group", "topic", 0)
OFFSET = CommittedOffset(5, 0, "note", 1_000)


def fresh(epoch: int = 0) -> Transaction:
    return Transaction("id", 7, epoch, timeout_ms=1_000, updated_at_ms=0)


def test_a_transaction_commits_its_partitions_and_offsets() -> None:
    ongoing = fresh().with_partitions([PARTITION], 10).with_group("group", 20).with_offsets({KEY: OFFSET}, 30)
    assert (ongoing.ongoing, ongoing.started_at_ms) == (True, 10)
    decided = ongoing.ending(True, 40)
    assert decided is not None
    assert (decided.prepared, decided.commits) == (True, True)
    assert (decided.partitions, dict(decided.offsets)) == (frozenset({PARTITION}), {KEY: OFFSET})
    done = decided.completed(50)
    assert done.state is TransactionState.COMPLETE_COMMIT
    assert (done.partitions, done.groups, dict(done.offsets)) == (frozenset(), frozenset(), {})
    assert done.with_partitions([PARTITION], 60).started_at_ms == 60


def test_an_end_may_be_repeated_but_not_reversed() -> None:
    decided = fresh().with_partitions([PARTITION], 0).ending(True, 1)
    assert decided is not None
    assert decided.ending(True, 2) is decided
    with pytest.raises(Refusal, match="INVALID_TXN_STATE"):
        decided.ending(False, 2)
    assert decided.completed(3).ending(True, 4) is None
    with pytest.raises(Refusal, match="INVALID_TXN_STATE"):
        decided.completed(3).ending(False, 4)
    with pytest.raises(Refusal, match="INVALID_TXN_STATE"):
        fresh().ending(True, 0)


def test_nothing_is_added_while_the_end_is_under_way() -> None:
    decided = fresh().with_partitions([PARTITION], 0).ending(False, 1)
    assert decided is not None
    with pytest.raises(Refusal, match="CONCURRENT_TRANSACTIONS"):
        decided.with_partitions([PARTITION], 2)
    with pytest.raises(Refusal, match="INVALID_TXN_STATE"):
        decided.with_offsets({KEY: OFFSET}, 2)


def test_offsets_need_their_group_in_the_transaction() -> None:
    with pytest.raises(Refusal, match="INVALID_TXN_STATE"):
        fresh().with_partitions([PARTITION], 0).with_offsets({KEY: OFFSET}, 1)


def test_fencing_aborts_under_a_new_epoch() -> None:
    fenced = fresh(3).with_partitions([PARTITION], 0).fenced(1)
    assert (fenced.prepared, fenced.commits, fenced.producer_epoch) == (True, False, 4)
    with pytest.raises(Refusal) as refused:
        fenced.check(7, 3)
    assert refused.value.code is ErrorCode.PRODUCER_FENCED
    with pytest.raises(Refusal, match="INVALID_PRODUCER_ID_MAPPING"):
        fenced.check(8, 4)


def test_a_fresh_producer_id_follows_the_last_epoch() -> None:
    assert fresh(EPOCH_MAX).epochs_exhausted
    assert fresh(EPOCH_MAX).reinitialised(99, 500, 1) == Transaction("id", 99, 0, 500, 1)
    assert fresh(5).reinitialised(None, 500, 1).producer_epoch == 6


def test_only_ongoing_transactions_expire() -> None:
    ongoing = fresh().with_partitions([PARTITION], 100)
    assert (ongoing.expired(1_099), ongoing.expired(1_100)) == (False, True)
    assert not fresh().expired(10_000)


def test_writes_are_checked_against_the_holder() -> None:
    transactions = Transactions(ids_max=1)
    transactions.put(fresh(2).with_partitions([PARTITION], 0))
    transactions.check_write(7, 2, PARTITION)
    for producer_id, epoch, partition, code in [
        (8, 2, PARTITION, "INVALID_PRODUCER_ID_MAPPING"),
        (7, 1, PARTITION, "INVALID_PRODUCER_EPOCH"),
        (7, 2, ("topic", 1), "INVALID_TXN_STATE"),
    ]:
        with pytest.raises(Refusal, match=code):
            transactions.check_write(producer_id, epoch, partition)
    with pytest.raises(Refusal, match="at most 1 transactional ids"):
        transactions.check_room()
    transactions.put(fresh().reinitialised(9, 1_000, 5))
    with pytest.raises(Refusal, match="INVALID_PRODUCER_ID_MAPPING"):
        transactions.check_write(7, 2, PARTITION)


def test_ids_unused_for_long_are_forgotten_and_open_ones_are_not() -> None:
    transactions = Transactions(ids_max=10)
    transactions.put(fresh())
    transactions.put(Transaction("busy", 8, 0, 1_000, 0).with_partitions([PARTITION], 0))
    assert [entry.transactional_id for entry in transactions.forgettable(100, expiry_ms=100)] == ["id"]
    assert transactions.forgettable(99, expiry_ms=100) == []


names = st.text(min_size=1, max_size=20)
offset_keys = st.builds(OffsetKey, names, names, st.integers(0, 100))
committed_offsets = st.builds(CommittedOffset, st.integers(0, 2**62), st.integers(-1, 9), names, st.integers(0, 2**50))


@given(
    st.frozensets(st.tuples(names, st.integers(0, 100)), max_size=3),
    st.dictionaries(offset_keys, committed_offsets, max_size=3),
    st.sampled_from(TransactionState),
)
def test_transactions_come_back_from_their_records(
    partitions: frozenset[tuple[str, int]], offsets: dict[OffsetKey, CommittedOffset], state: TransactionState
) -> None:
    groups = frozenset(key.group_id for key in offsets)
    transaction = Transaction("ïd", 1, 2, 3, 4, state, 5, partitions, groups, offsets)
    key = transaction_records.key_of("ïd")
    assert transaction_records.transactional_id_of(key) == "ïd"
    assert transaction_records.unpack("ïd", transaction_records.pack(transaction)) == transaction


@given(offset_keys, committed_offsets | st.none())
def test_offsets_come_back_from_their_records(key: OffsetKey, committed: CommittedOffset | None) -> None:
    ((raw_key, raw_value),) = to_records([(key, committed)])
    assert from_record(raw_key, raw_value) == (key, committed)


@given(st.lists(st.tuples(st.binary(max_size=5), st.binary(max_size=300) | st.none()), min_size=1, max_size=20))
def test_state_records_come_back_and_the_newest_counts(records: list[tuple[bytes, bytes | None]]) -> None:
    middle = len(records) // 2
    parts = [part for part in (records[:middle], records[middle:]) if part]
    raw = b"".join(encode_state_batch(part, 1_000) for part in parts)
    assert list(decode_state_batches(raw)) == records
    expected: dict[bytes, bytes | None] = dict(records)
    assert newest(records) == {key: value for key, value in expected.items() if value is not None}


def test_offsets_are_kept_by_group_and_partition() -> None:
    offsets = CommittedOffsets()
    other = OffsetKey("other", "topic", 0)
    offsets.put(KEY, OFFSET)
    offsets.put(other, OFFSET)
    assert offsets.keys_of_topic("topic") == [KEY, other]
    offsets.put(KEY, None)
    assert (offsets.get(KEY), offsets.groups()) == (None, ("other",))


def test_a_transaction_of_the_newer_kind_ends_under_the_next_epoch() -> None:
    ongoing = Transaction("t", 7, 3, 1_000, 0).with_partitions([("a", 0)], 1)
    decided = ongoing.ending(True, 2, bump=True)
    assert decided is not None
    assert (decided.producer_epoch, decided.commits) == (4, True)
    done = decided.completed(3)
    assert done.was_held_by(7, 3)
    assert not done.was_held_by(7, 4)
    # The answer was lost, and the client asks again: the same is right, the opposite is not.
    assert done.repeated_ending(True) is None
    assert decided.repeated_ending(True) is decided
    with pytest.raises(Refusal, match="INVALID_TXN_STATE"):
        done.repeated_ending(False)


def test_of_the_newer_kind_nothing_can_be_aborted_but_not_committed() -> None:
    empty = Transaction("t", 7, 3, 1_000, 0)
    with pytest.raises(Refusal, match="INVALID_TXN_STATE"):
        empty.ending(True, 1, bump=True)
    aborted = empty.ending(False, 1, bump=True)
    assert aborted is not None
    assert aborted.completed(2).producer_epoch == 4
    assert aborted.completed(2).with_producer(9).producer_epoch == 0
