"""Which files make up a lane's state: what a commit record says of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TypeAlias

from headrace.serial.items import ALL_BUCKETS

# Changes that are not needed any more, kept for workers that have an older version in memory.
CHANGES_KEPT = 16


@dataclass(frozen=True, slots=True)
class Change:
    """A file: what one micro-batch changed, and all that was then in some of the buckets, or in none."""

    name: str
    buckets: range
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Version:
    """A lane's state: its changes in order. `is_whole` says that the first one changed an empty state."""

    changes: tuple[Change, ...] = ()
    is_whole: bool = True

    @property
    def newest(self) -> str | None:
        return self.changes[-1].name if self.changes else None

    @property
    def size_bytes(self) -> int:
        return sum(change.size_bytes for change in self.changes)

    @property
    def next_bucket(self) -> int:
        """Buckets are written in turn."""
        return self.changes[-1].buckets.stop % len(ALL_BUCKETS) if self.changes else 0

    @property
    def changes_alone(self) -> int:
        """How many of the last changes have no buckets beside them."""
        return len(list(takewhile(lambda change: not change.buckets, reversed(self.changes))))

    def names_after(self, name: str | None) -> list[str] | None:
        """What must be taken in by someone who has this change; None if that cannot be told any more."""
        names = [change.name for change in self.changes]
        if name is None:
            return names if self.is_whole else None
        return names[names.index(name) + 1 :] if name in names else None

    def with_change(self, change: Change) -> Version:
        """One more, without those that nobody can need."""
        changes = (*self.changes, change)
        needed = _needed(changes)
        if needed is None:
            return Version(changes, self.is_whole)
        kept = changes[-(needed + CHANGES_KEPT) :]
        return Version(kept, self.is_whole and len(kept) == len(changes))

    def to_json(self) -> list[object]:
        changes = [[c.name, c.buckets.start, c.buckets.stop, c.size_bytes] for c in self.changes]
        return [changes, self.is_whole]

    @classmethod
    def from_json(cls, value: Sequence[object]) -> Version:
        changes, is_whole = value
        listed = (Change(name, range(start, stop), size) for name, start, stop, size in changes)  # type: ignore[attr-defined]
        return cls(tuple(listed), bool(is_whole))


# Node → lane → version.
Manifest: TypeAlias = Mapping[str, Mapping[int, Version]]


def _needed(changes: Sequence[Change]) -> int | None:
    """How many of the last changes hold every bucket; None if all of them together do not."""
    missing = set(ALL_BUCKETS)
    for count, change in enumerate(reversed(changes), 1):
        missing.difference_update(change.buckets)
        if not missing:
            return count
    return None


def file_name(node: str, lane: int, change: str) -> str:
    return f"{node}/{lane}/{change}.state"


def file_names(manifest: Manifest) -> set[str]:
    """All files that belong to a committed version."""
    return {
        file_name(node, lane, change.name)
        for node, lanes in manifest.items()
        for lane, version in lanes.items()
        for change in version.changes
    }


def manifest_to_json(manifest: Manifest) -> dict[str, dict[str, list[object]]]:
    return {node: {str(lane): version.to_json() for lane, version in lanes.items()} for node, lanes in manifest.items()}


def manifest_from_json(value: Mapping[str, Mapping[str, Sequence[object]]]) -> dict[str, dict[int, Version]]:
    return {
        node: {int(lane): Version.from_json(version) for lane, version in lanes.items()}
        for node, lanes in value.items()
    }
