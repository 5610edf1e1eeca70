"""Offsets that are held stay, whatever retention wants; the backlog counts from them."""

from __future__ import annotations

from pathlib import Path

import pytest

from headrace.errors import InvalidInput
from headrace.log import LogStore, Partition, advance_hold, encode_batches, hold_owners, place_hold, release_hold
from headrace.log.holds import HOLDS_DIRECTORY


@pytest.fixture
def partition(store: LogStore) -> Partition:
    """Ten segments of which retention wants none."""
    partition = store.create_topic("t", 1, {"segment.bytes": "1024", "retention.bytes": "0"}).partitions[0]
    for _ in range(10):
        partition.append(next(encode_batches(None, [b"x" * 900], [5])))
    store.sync()
    return partition


def test_retention_stops_at_what_is_needed(store: LogStore, partition: Partition) -> None:
    place_hold(store.directory, "jobs/low battery", {("t", 0): 4})
    place_hold(store.directory, "rollback", {("t", 0): 6, ("other", 3): 0})
    store.apply_retention()
    assert partition.log_start_offset == 4
    release_hold(store.directory, "jobs/low battery")
    store.apply_retention()
    assert partition.log_start_offset == 6
    release_hold(store.directory, "rollback")
    release_hold(store.directory, "rollback")
    store.apply_retention()
    assert partition.log_start_offset == 10


def test_a_hold_moves_on(store: LogStore, partition: Partition) -> None:
    for offset in (2, 5):
        place_hold(store.directory, "job", {("t", 0): offset})
        store.apply_retention()
        assert partition.log_start_offset == offset


def test_a_hold_that_cannot_be_read_holds_everything(store: LogStore, partition: Partition) -> None:
    place_hold(store.directory, "job", {("t", 0): 5})
    (store.directory / HOLDS_DIRECTORY / "job.json").write_text('{"needed": [["t"')
    store.apply_retention()
    assert partition.log_start_offset == 0
    assert store.pressure.holds().damage is not None


@pytest.mark.parametrize("owner", ["", "x" * 201])
def test_an_owner_has_a_name(tmp_path: Path, owner: str) -> None:
    with pytest.raises(InvalidInput):
        place_hold(tmp_path, owner, {})


def test_the_backlog_is_that_of_the_slowest_reader(store: LogStore, partition: Partition) -> None:
    assert store.pressure.backlog(partition) == 0
    place_hold(store.directory, "job", {("t", 0): 7})
    store.pressure.holds()
    assert store.pressure.backlog(partition) == 3
    store.pressure.readers = lambda topic, index: [9, 2]
    assert store.pressure.backlog(partition) == 8


def test_what_may_be_read_again_stays_and_is_no_backlog(store: LogStore, partition: Partition) -> None:
    place_hold(store.directory, "job", {("t", 0): 2}, reached={("t", 0): 6})
    store.apply_retention()
    assert (partition.log_start_offset, store.pressure.backlog(partition)) == (2, 4)
    advance_hold(store.directory, "job", {("t", 0): 6}, {("t", 0): 10})
    store.apply_retention()
    assert (partition.log_start_offset, store.pressure.backlog(partition)) == (6, 0)


def test_owners_are_listed_by_their_names(tmp_path: Path) -> None:
    assert hold_owners(tmp_path) == []
    for owner in ("jobs/low battery", "rollback"):
        place_hold(tmp_path, owner, {})
    assert hold_owners(tmp_path) == ["jobs/low battery", "rollback"]
