"""Named state of one node in one lane: small values, tables by key, the last N numbers by key, and rows by their hash.

Each knows what changed since it was last written, so that a micro-batch costs what it touched and not what is there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import pyarrow as pa

from headrace.errors import Conflict, InvalidInput
from headrace.serial.candidate_rows import CandidateRows
from headrace.serial.hashed_rows import HashedRows
from headrace.serial.items import Fields, StateItem, ValueState
from headrace.serial.keyed_rings import KeyedRings
from headrace.serial.keyed_table import DELETED, KeyedTable, named_apart
from headrace.serial.state_file import FIRST, MORE, Section

S = TypeVar("S", bound=StateItem)


class NodeState:
    """The named states of one node in one lane. A name has one kind for ever."""

    def __init__(self) -> None:
        self._items: dict[str, StateItem] = {}
        self._stored: dict[str, list[Section]] = {}
        self._kinds: dict[str, str] = {}

    def value(self, name: str, default: Any = None) -> ValueState:
        return self._item(name, ValueState, lambda: ValueState(default))

    def table(self, name: str, key: Fields, columns: Fields) -> KeyedTable:
        """Raises Conflict when what is stored under the name has other columns."""
        key = named_apart(key, columns)
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

    def hashed_rows(self, name: str, key: Fields, columns: Fields, time: str) -> HashedRows:
        """Whole rows, found by the hash of their key. Raises Conflict when what is stored under the name has other
        columns."""
        found = self._item(name, HashedRows, lambda: HashedRows(key, columns, time))
        if (found.key, found.columns, found.time) != (tuple(key), tuple(columns), time):
            raise Conflict(
                f"the state {name!r} has other columns", hint="give the node a new id, or reset the pipeline"
            )
        return found

    def candidate_rows(self, name: str, key: Fields, columns: Fields) -> CandidateRows:
        """Whole rows, found by the hash of their key, some of which may go. Raises Conflict when what is stored under
        the name has other columns."""
        found = self._item(name, CandidateRows, lambda: CandidateRows(key, columns))
        if (found.key, found.columns) != (tuple(key), tuple(columns)):
            raise Conflict(
                f"the state {name!r} has other columns", hint="give the node a new id, or reset the pipeline"
            )
        return found

    def mark_written(self) -> None:
        for item in self._items.values():
            item.mark_written()

    @property
    def size(self) -> int:
        """How many values there are, about."""
        stored = sum(section.size for sections in self._stored.values() for section in sections)
        return stored + sum(item.size for item in self._items.values())

    def restore(self, section: Section) -> None:
        """Called by the store with what was written, in order. It is taken in when the operator asks for the name."""
        self._kinds[section.name] = section.kind
        item = self._items.get(section.name)
        if item is not None:
            _take_in(item, section)
        elif section.restated == FIRST:
            self._stored[section.name] = [section]
        else:
            self._stored.setdefault(section.name, []).append(section)

    def changes(self) -> list[Section]:
        """What is new since it was last written. Raises InvalidInput, with the name, for what cannot be stored."""
        found = ((name, item, _delta(name, item)) for name, item in self._items.items())
        return [Section(name, item.kind, rows, shape=item.shape) for name, item, rows in found if rows is not None]

    def part(self, buckets: range) -> list[Section]:
        """All that belongs to these buckets, also under names that nobody has asked for: kept for those who will."""
        found = ((name, item, item.snapshot(buckets)) for name, item in self._items.items())
        own = [Section(name, item.kind, rows, buckets, item.shape) for name, item, rows in found if rows is not None]
        return own if buckets.start else [*own, *self._restated()]

    def claim_all(self) -> dict[str, StateItem]:
        """Everything under every name, without the operator: for tools that look at state, or move it."""
        for name in list(self._stored):
            last = self._stored[name][-1]
            self._item(name, KINDS[last.kind], lambda last=last: item_of(last))  # type: ignore[misc]
        return dict(self._items)

    def _restated(self) -> list[Section]:
        return [
            replace(section, restated=FIRST if index == 0 else MORE)
            for sections in self._stored.values()
            for index, section in enumerate(sections)
        ]

    def _item(self, name: str, kind: type[S], make: Callable[[], S]) -> S:
        if name not in self._items:
            if self._kinds.get(name, kind.kind) != kind.kind:
                raise Conflict(f"the state {name!r} is stored as {self._kinds[name]}, not as {kind.kind}")
            item = make()
            for section in self._stored.get(name, ()):
                _require_columns(name, item, section)
                _take_in(item, section)
            self._stored.pop(name, None)
            self._items[name] = item
            self._kinds[name] = kind.kind
        found = self._items[name]
        if not isinstance(found, kind):
            raise Conflict(f"the state {name!r} is {found.kind}, not {kind.kind}")
        return found


KINDS: Mapping[str, type[StateItem]] = {
    kind.kind: kind for kind in (ValueState, KeyedTable, KeyedRings, HashedRows, CandidateRows)
}


def item_of(section: Section) -> StateItem:
    """An empty item of the kind, key and columns that a section has."""
    if section.kind == ValueState.kind:
        return ValueState()
    fields = [(field.name, field.type) for field in section.rows.schema]
    key, columns = fields[: section.shape["keys"]], fields[section.shape["keys"] :]
    if section.kind == KeyedRings.kind:
        return KeyedRings(key, section.shape["length"])
    if section.kind == HashedRows.kind:
        return HashedRows(key, columns[:-1], fields[section.shape["time"]][0])
    if section.kind == CandidateRows.kind:
        return CandidateRows(key, columns[:-1])
    return KeyedTable(key, [field for field in columns if field[0] != DELETED])


def _delta(name: str, item: StateItem) -> pa.Table | None:
    try:
        return item.delta()
    except InvalidInput as error:
        raise InvalidInput(f"the state {name!r}: {error.message}", hint=error.hint) from error


def _require_columns(name: str, item: StateItem, section: Section) -> None:
    """Raises Conflict where the code of an operator wants a column that its stored state does not have."""
    wanted = {field for field, _ in (*item.key, *item.columns)} if isinstance(item, KeyedTable) else set()
    if missing := sorted(wanted - set(section.rows.schema.names)):
        raise Conflict(
            f"the stored state {name!r} has no column {', '.join(map(repr, missing))}: the operator has changed",
            hint="give the node a new id, reset the pipeline, or take the old code back",
        )


def _take_in(item: StateItem, section: Section) -> None:
    if section.buckets is None:
        item.apply(section.rows)
    else:
        item.replace(section.rows, section.buckets)
