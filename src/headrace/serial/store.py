"""The state of a chain, by node and lane: which files make it up, and how it goes from one version to the next.

A version is named by the commit record alone. Every micro-batch that changes a lane writes one file of changes for each
node, now and then a file with everything. A worker that has an older version in memory takes in only what is missing.
"""

from __future__ import annotations

import re
import uuid
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from headrace.errors import CorruptData
from headrace.serial.files import StateFiles
from headrace.serial.state import NodeState
from headrace.serial.state_file import Section, decode, encode

# A snapshot is written after this many changes, or when they are larger than the last one.
CHANGES_MAX = 24
SNAPSHOT_BYTES_MIN = 1 << 20
# Changes from before a snapshot that are kept for workers that have an older version in memory.
CHANGES_KEPT = 16
# Lanes that a worker process keeps in memory between micro-batches.
LANES_IN_MEMORY_MAX = 64

_FILE = re.compile(r"(?P<node>[^/]+)/(?P<lane>\d+)/(?P<change>\d+-[0-9a-f]+)\.(?:changes|snapshot)")


@dataclass(frozen=True, slots=True)
class Version:
    """A lane's state: `snapshot` holds everything up to and with that change; `changes` are in order.

    Changes before the snapshot are not needed to read it anew.
    """

    changes: tuple[str, ...] = ()
    snapshot: str | None = None
    bytes_since: int = 0
    snapshot_bytes: int = 0

    @property
    def newest(self) -> str | None:
        return self.changes[-1] if self.changes else self.snapshot

    def after(self, change: str | None) -> tuple[str, ...] | None:
        """What must be taken in by someone who has `change`; None if that cannot be told any more."""
        if change == self.newest:
            return ()
        if change is None:
            return self.changes if self.snapshot is None else None
        return self.changes[self.changes.index(change) + 1 :] if change in self.changes else None

    def to_json(self) -> list[object]:
        return [list(self.changes), self.snapshot, self.bytes_since, self.snapshot_bytes]

    @classmethod
    def from_json(cls, value: Sequence[object]) -> Version:
        changes, snapshot, since, size = value
        return cls(tuple(changes), snapshot, since, size)  # type: ignore[arg-type]


# Node → lane → version: what a commit record says of a query's state.
Manifest: TypeAlias = Mapping[str, Mapping[int, Version]]


@dataclass(slots=True)
class _Loaded:
    newest: str | None
    state: NodeState


@dataclass(slots=True)
class StateStore:
    """Reads and writes the lanes of one query. A loaded state belongs to the caller until it is given back."""

    files: StateFiles
    _memory: OrderedDict[tuple[str, int], _Loaded] = field(default_factory=OrderedDict)

    def load(self, node: str, lane: int, version: Version) -> NodeState:
        """The state as of this version. Raises CorruptData where a file is gone or damaged."""
        held = self._memory.pop((node, lane), None)
        missing = version.after(held.newest) if held is not None else None
        if held is not None and missing is not None:
            for change in missing:
                self._take(held.state, _name(node, lane, change, "changes"))
            return held.state
        return self._read(node, lane, version)

    def write(self, node: str, lane: int, batch: int, state: NodeState, base: Version) -> Version:
        """Writes what changed since `base`; durable when this returns. The same version if nothing did."""
        changes = [
            Section(name, item.kind, False, delta)
            for name, item in state.items()
            if (delta := item.delta()) is not None
        ]
        version = base
        if changes:
            change = f"{batch}-{uuid.uuid4().hex[:12]}"
            size = self._write(_name(node, lane, change, "changes"), changes)
            version = Version((*base.changes, change), base.snapshot, base.bytes_since + size, base.snapshot_bytes)
            if _wants_snapshot(version):
                version = self._snapshot(node, lane, change, state, version)
        state.mark_written()
        self._memory[node, lane] = _Loaded(version.newest, state)
        if len(self._memory) > LANES_IN_MEMORY_MAX:
            self._memory.popitem(last=False)
        return version

    def sweep(self, *kept: Manifest) -> list[str]:
        """Removes every file that none of these name: lost attempts and old versions. Returns their names."""
        named = {name for manifest in kept for name in file_names(manifest)}
        orphans = [name for name in self.files.names() if _FILE.fullmatch(name) and name not in named]
        for name in orphans:
            self.files.remove(name)
        return orphans

    def _read(self, node: str, lane: int, version: Version) -> NodeState:
        state = NodeState()
        needed = version.changes
        if version.snapshot is not None:
            self._take(state, _name(node, lane, version.snapshot, "snapshot"))
            needed = _since_snapshot(version)
        for change in needed:
            self._take(state, _name(node, lane, change, "changes"))
        return state

    def _take(self, state: NodeState, name: str) -> None:
        for section in decode(name, self.files.read(name)):
            state.restore(section.name, section.kind, section.rows, whole=section.whole)

    def _snapshot(self, node: str, lane: int, change: str, state: NodeState, version: Version) -> Version:
        sections = [Section(name, item.kind, True, item.snapshot()) for name, item in state.items()]
        sections += [
            Section(name, kind, whole, rows) for name, kind, stored in state.unclaimed() for rows, whole in stored
        ]
        size = self._write(_name(node, lane, change, "snapshot"), sections)
        return Version(version.changes[-CHANGES_KEPT:], change, 0, size)

    def _write(self, name: str, sections: Iterable[Section]) -> int:
        parts = encode(sections)
        self.files.write(name, parts)
        return sum(len(part) for part in parts)


def file_names(manifest: Manifest) -> set[str]:
    """All files that belong to a committed version."""
    names: set[str] = set()
    for node, lanes in manifest.items():
        for lane, version in lanes.items():
            names.update(_name(node, lane, change, "changes") for change in version.changes)
            if version.snapshot is not None:
                names.add(_name(node, lane, version.snapshot, "snapshot"))
    return names


def _name(node: str, lane: int, change: str, kind: str) -> str:
    return f"{node}/{lane}/{change}.{kind}"


def _wants_snapshot(version: Version) -> bool:
    return len(_since_snapshot(version)) >= CHANGES_MAX or version.bytes_since > max(
        SNAPSHOT_BYTES_MIN, version.snapshot_bytes
    )


def _since_snapshot(version: Version) -> tuple[str, ...]:
    if version.snapshot is None:
        return version.changes
    if version.snapshot not in version.changes:
        raise CorruptData(f"the state version with the snapshot {version.snapshot} does not name its changes")
    return version.changes[version.changes.index(version.snapshot) + 1 :]


def manifest_to_json(manifest: Manifest) -> dict[str, dict[str, list[object]]]:
    return {node: {str(lane): version.to_json() for lane, version in lanes.items()} for node, lanes in manifest.items()}


def manifest_from_json(value: Mapping[str, Mapping[str, Sequence[object]]]) -> dict[str, dict[int, Version]]:
    return {
        node: {int(lane): Version.from_json(version) for lane, version in lanes.items()}
        for node, lanes in value.items()
    }
