"""Named state of one node in one lane: small values, tables by key, and the last N numbers by key.

Each knows what changed since it was last written, so that a micro-batch costs what it touched and not what is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import pyarrow as pa

from headrace.errors import Conflict
from headrace.serial.items import Fields, StateItem, ValueState
from headrace.serial.keyed_rings import KeyedRings
from headrace.serial.keyed_table import KeyedTable

S = TypeVar("S", bound=StateItem)


class NodeState:
    """The named states of one node in one lane. A name has one kind for ever."""

    def __init__(self) -> None:
        self._items: dict[str, StateItem] = {}
        self._stored: dict[str, list[tuple[pa.Table, bool]]] = {}
        self._kinds: dict[str, str] = {}

    def value(self, name: str, default: Any = None) -> ValueState:
        return self._item(name, ValueState, lambda: ValueState(default))

    def table(self, name: str, key: Fields, columns: Fields) -> KeyedTable:
        """Raises Conflict when what is stored under the name has other columns."""
        found = self._item(name, KeyedTable, lambda: KeyedTable(key, columns))
        if found.key != tuple(key) or found.columns != tuple(columns):
            raise Conflict(
                f"the state {name!r} has other columns", hint="give the node a new id, or reset the pipeline"
            )
        return found

    def rings(self, name: str, key: Fields, length: int) -> KeyedRings:
        found = self._item(name, KeyedRings, lambda: KeyedRings(key, length))
        if found.key != tuple(key) or found.length != length:
            raise Conflict(f"the state {name!r} has another length or key", hint="give the node a new id")
        return found

    def items(self) -> Iterator[tuple[str, StateItem]]:
        return iter(self._items.items())

    def mark_written(self) -> None:
        for item in self._items.values():
            item.mark_written()

    def restore(self, name: str, kind: str, change: pa.Table, *, whole: bool) -> None:
        """Called by the store: what was written, in order. It is taken in when the operator asks for the name."""
        self._kinds[name] = kind
        item = self._items.get(name)
        if item is None:
            self._stored.setdefault(name, []).append((change, whole))
        else:
            item.apply(change, whole=whole)

    def unclaimed(self) -> Iterator[tuple[str, str, list[tuple[pa.Table, bool]]]]:
        """Stored under a name that nobody has asked for: kept for those who will."""
        return ((name, self._kinds[name], changes) for name, changes in self._stored.items())

    def _item(self, name: str, kind: type[S], make: Callable[[], S]) -> S:
        if name not in self._items:
            if self._kinds.get(name, kind.kind) != kind.kind:
                raise Conflict(f"the state {name!r} is stored as {self._kinds[name]}, not as {kind.kind}")
            item = make()
            for change, whole in self._stored.pop(name, ()):
                item.apply(change, whole=whole)
            self._items[name] = item
            self._kinds[name] = kind.kind
        found = self._items[name]
        if not isinstance(found, kind):
            raise Conflict(f"the state {name!r} is {found.kind}, not {kind.kind}")
        return found
