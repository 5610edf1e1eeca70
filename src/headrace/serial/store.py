"""The state of a chain, by node and lane: how it goes from one version to the next.

Every micro-batch that changes a lane writes one file for each node: what changed, and all that is in the next few of
its buckets; of a state so large that one bucket has far more than changed, only every few micro-batches. So the files
of one turn through the buckets hold everything, no micro-batch ever writes all at once, and a worker that has an older
version in memory takes in only the changes that it missed.
"""

from __future__ import annotations

import re
import uuid
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from headrace.serial.files import StateFiles
from headrace.serial.items import ALL_BUCKETS
from headrace.serial.state import NodeState
from headrace.serial.state_file import Section, decode, encode
from headrace.serial.versions import Change, Manifest, Version, file_name, file_names

# A small state is written whole every time: values that are written beside the changes, at least.
PART_VALUES_MIN = 1_024
# Beside so many changed values, one more of the others is written.
CHANGED_PER_VALUE = 2
# Changes in a row that have no bucket beside them, at most: each is one more file to read when a worker starts anew.
CHANGES_ALONE_MAX = 7
# Lanes that a worker process keeps in memory between micro-batches.
LANES_IN_MEMORY_MAX = 64

_FILE = re.compile(r"(?P<node>[^/]+)/(?P<lane>\d+)/(?P<change>\d+-[0-9a-f]+)\.state")


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
        missed = version.names_after(held.newest) if held is not None else None
        if held is not None and missed is not None:
            for name in missed:
                self._take(held.state, file_name(node, lane, name), changes_only=True)
            return held.state
        return self._read(node, lane, version)

    def write(self, node: str, lane: int, batch: int, state: NodeState, base: Version) -> Version:
        """Writes what changed since `base`; durable when this returns. The same version if nothing did."""
        version = base
        if changes := state.changes():
            buckets = _next_buckets(base, state.size, sum(section.size for section in changes))
            beside = state.part(buckets) if buckets else []
            version = base.with_change(self._write(node, lane, batch, buckets, [*changes, *beside]))
        state.mark_written()
        self._memory[node, lane] = _Loaded(version.newest, state)
        if len(self._memory) > LANES_IN_MEMORY_MAX:
            self._memory.popitem(last=False)
        return version

    def write_whole(self, node: str, lane: int, batch: int, sections: Sequence[Section]) -> Version:
        """A state that was made elsewhere, all of it; durable when this returns."""
        change = self._write(node, lane, batch, ALL_BUCKETS, sections)
        return Version((change,), is_whole=False)

    def sweep(self, *kept: Manifest) -> list[str]:
        """Removes every file that none of these name: lost attempts and old versions. Returns their names."""
        named = {name for manifest in kept for name in file_names(manifest)}
        orphans = [name for name in self.files.names() if _FILE.fullmatch(name) and name not in named]
        for name in orphans:
            self.files.remove(name)
        return orphans

    def _write(self, node: str, lane: int, batch: int, buckets: range, sections: Sequence[Section]) -> Change:
        parts = encode(sections)
        name = f"{batch}-{uuid.uuid4().hex[:12]}"
        self.files.write(file_name(node, lane, name), parts)
        return Change(name, buckets, sum(len(part) for part in parts))

    def _read(self, node: str, lane: int, version: Version) -> NodeState:
        state = NodeState()
        # What the first files changed in buckets that a later one holds is replaced by it.
        for change in version.changes:
            self._take(state, file_name(node, lane, change.name))
        return state

    def _take(self, state: NodeState, name: str, *, changes_only: bool = False) -> None:
        for section in decode(name, self.files.read(name), changes_only=changes_only):
            state.restore(section)


def _next_buckets(base: Version, size: int, changed: int) -> range:
    """The next in turn: about as many values as the changes since the last had, so that the cost follows the change.
    None where even one bucket has more."""
    wanted = max(PART_VALUES_MIN, changed // CHANGED_PER_VALUE)
    count = min(len(ALL_BUCKETS), len(ALL_BUCKETS) * wanted * (1 + base.changes_alone) // max(1, size))
    if not count and base.changes_alone >= CHANGES_ALONE_MAX:
        count = 1
    first = base.next_bucket
    if first + count > len(ALL_BUCKETS):
        # A turn ends with the last bucket; a part of all of them begins anew.
        first, count = (0, count) if count == len(ALL_BUCKETS) else (first, len(ALL_BUCKETS) - first)
    return range(first, first + count)
