"""What the tests of the log share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from shutil import rmtree

import pytest

from headrace.log import LogStore, Partition, Storage


@dataclass
class Clock:
    """A clock that stands still until told."""

    time_ms: int = 1_700_000_000_000

    def __call__(self) -> int:
        return self.time_ms


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
def fresh_directory(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """A new empty directory at every call, for the examples of one test; the one before is removed."""
    root = tmp_path_factory.mktemp("examples")
    numbers = count()

    def fresh() -> Path:
        for old in root.iterdir():
            rmtree(old)
        directory = root / str(next(numbers))
        directory.mkdir()
        return directory

    return fresh


@pytest.fixture
def open_store(tmp_path: Path, clock: Clock) -> Iterator[Callable[..., LogStore]]:
    """Opens the store of the test's own directory; whatever is open at the end is closed."""
    opened: list[LogStore] = []

    def open_again(storage: Storage | None = None) -> LogStore:
        for store in opened:
            store.close()
        opened[:] = [LogStore.open(tmp_path / "data", storage=storage, clock=clock)]
        return opened[0]

    yield open_again
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: Callable[..., LogStore]) -> LogStore:
    return open_store()


@pytest.fixture
def partition(store: LogStore) -> Partition:
    """A partition with small segments."""
    return store.create_topic("events", 1, {"segment.bytes": "4096"}).partitions[0]
