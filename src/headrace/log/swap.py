"""Put one new segment in the place of some old ones, so that a crash at any moment leaves the old or the new ones.

The new segment's files are written and synced beside the old ones under marked names. Then a journal says what is to be
done; from then on it will be done, by the swap itself or by recovery. Every step can be repeated.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from headrace.errors import CorruptData
from headrace.log.segment import SEGMENT_SUFFIXES, segment_path
from headrace.log.storage import Storage, read_whole, replace_atomically

JOURNAL_FILE = "swap.json"
NEW_MARK = ".new"


@dataclass(frozen=True, slots=True)
class Swap:
    """The new segment has the base offset of the first old one."""

    base_offset: int
    suffixes: Sequence[str]
    """Which files the new segment has."""
    removed: Sequence[int]
    """Base offsets of the other old segments."""

    def commit(self, storage: Storage, directory: Path) -> None:
        """Afterwards the new segment is in place, durably. After an OSError only recovery can tell what holds."""
        replace_atomically(storage, directory / JOURNAL_FILE, json.dumps(asdict(self)).encode())
        self._carry_out(storage, directory)

    def _carry_out(self, storage: Storage, directory: Path) -> None:
        names = set(storage.list_directory(directory))
        for suffix in SEGMENT_SUFFIXES:
            source = segment_path(directory, self.base_offset, suffix + NEW_MARK)
            target = segment_path(directory, self.base_offset, suffix)
            if source.name in names:
                storage.rename(source, target)
            elif suffix not in self.suffixes and target.name in names:
                storage.unlink(target)
        for path in (segment_path(directory, base, suffix) for base in self.removed for suffix in SEGMENT_SUFFIXES):
            if path.name in names:
                storage.unlink(path)
        storage.fsync_directory(directory)
        storage.unlink(directory / JOURNAL_FILE)
        storage.fsync_directory(directory)


def finish_swap(storage: Storage, directory: Path) -> None:
    """Carry out what a journal that a crash left says. Raises CorruptData when it cannot be read, OSError."""
    content = read_whole(storage, directory / JOURNAL_FILE)
    if content is None:
        return
    try:
        swap = Swap(**json.loads(content))
    except (ValueError, TypeError) as error:
        raise CorruptData(
            f"{directory.name}: {JOURNAL_FILE} cannot be read: {error}", hint="restore the partition from a backup"
        ) from error
    swap._carry_out(storage, directory)


def discard_new(storage: Storage, directory: Path) -> None:
    """Remove new segments that are not to take a place. Raises OSError."""
    for name in storage.list_directory(directory):
        if name.endswith(NEW_MARK):
            storage.unlink(directory / name)
