"""State and timers of each key, as objects in Python while rows are played, as a table between micro-batches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from headrace.errors import InvalidInput
from headrace.operators.kept_state import Codec
from headrace.serial.items import Fields
from headrace.serial.keys import Integers
from headrace.serial.state import NodeState

# Of one lane: a limit for a lane can only fail, for which keys share a lane is not for the result to depend on.
KEYS_MAX = 1_000_000
# Of one key, as JSON.
STATE_CHARACTERS_MAX = 1 << 20
TIMERS_PER_KEY_MAX = 1_000

_STATE, _TIMERS, _NEXT = "state", "timers", "next_us"
_COLUMNS: Fields = [(_STATE, pa.string()), (_TIMERS, pa.binary()), (_NEXT, pa.int64())]
# Stands for no timer: after all times.
_NEVER_US = np.iinfo(np.int64).max

# A key that can be put in order with others; nulls first.
Rank: TypeAlias = "tuple[tuple[bool, Any], ...]"


@dataclass(slots=True, eq=False)
class KeyEntry:
    """One key in one micro-batch."""

    key: Any
    """As the methods of the class get it."""
    cells: tuple[Any, ...]
    rank: Rank
    value: Any
    text: str | None
    """As it is stored; None for a key that has no state yet."""
    timers: set[int] = field(default_factory=set)
    stored_timers: frozenset[int] = frozenset()
    is_stored: bool = False
    rows_left: int = 0
    """Of those that are being played."""
    depths: dict[int, int] = field(default_factory=dict)
    """Timers that were set by timers after the last row of a bounded input: how often in a row."""


class KeyedStates:
    """The keys of one lane. `save` writes what changed, whatever way it was changed."""

    def __init__(self, state: NodeState, key: Fields, codec: Codec) -> None:
        self._table = state.table("keys", key, _COLUMNS)
        self._types = [type_ for _, type_ in key]
        self._codec = codec
        self._new_text = codec.encode(codec.new())
        self._entries: dict[Rank, KeyEntry] = {}

    def of(self, keys: Sequence[pa.Array[Any]]) -> list[KeyEntry]:
        """One for each key, new or not."""
        slots = self._table.find(keys) if len(self._table) else np.full(len(keys[0]), -1)
        cells = zip(*(column.to_pylist() for column in keys), strict=True)
        return [self._entry(key, slot) for key, slot in zip(cells, slots.tolist(), strict=True)]

    def with_timers(self, before_us: int) -> list[KeyEntry]:
        """Of all keys that have a timer before this time. Walks numbers, and makes objects of what is due only."""
        slots = self._table.slots()
        due: Integers = slots[self._table[_NEXT][slots] < before_us]
        return self.of(self._table.keys(due)) if len(due) else []

    def at(self, rank: Rank) -> KeyEntry:
        return self._entries[rank]

    def renew(self, entry: KeyEntry) -> None:
        """The key begins anew."""
        entry.value = self._codec.new()
        entry.timers.clear()

    def earliest_us(self) -> int | None:
        """The first timer, once `save` was called."""
        slots = self._table.slots()
        first = int(self._table[_NEXT][slots].min()) if len(slots) else _NEVER_US
        return None if first == _NEVER_US else first

    def save(self) -> None:
        """Raises InvalidInput, with the key, for a state that cannot be stored, and where keys are too many."""
        changed: list[tuple[KeyEntry, str]] = []
        ended: list[KeyEntry] = []
        for entry in self._entries.values():
            text = self._encoded(entry)
            if text == self._new_text and not entry.timers:
                ended += [entry] if entry.is_stored else []
            elif text != entry.text or entry.timers != entry.stored_timers:
                changed.append((entry, text))
        if ended:
            self._table.delete(self._table.find(self._columns(ended)))
        if changed:
            self._put([entry for entry, _ in changed], [text for _, text in changed])
        self._entries = {}
        if len(self._table) > KEYS_MAX:
            hint = "delete the state of keys that are over: set a timer, and call delete_state() in on_timer"
            raise InvalidInput(f"more than {KEYS_MAX:,} keys have state in one lane", hint=hint)

    def _encoded(self, entry: KeyEntry) -> str:
        try:
            text = self._codec.encode(entry.value)
        except InvalidInput as error:
            raise InvalidInput(f"the key {entry.key!r}: {error.message}", hint=error.hint) from error
        if len(text) > STATE_CHARACTERS_MAX:
            size = f"{len(text):,} characters, more than {STATE_CHARACTERS_MAX:,}"
            message = f"the state of the key {entry.key!r} has {size}"
            raise InvalidInput(message, hint="keep less by key: totals instead of rows, or the newest rows only")
        return text

    def _put(self, entries: Sequence[KeyEntry], texts: Sequence[str]) -> None:
        slots, _ = self._table.add(self._columns(entries))
        self._table.assign(_STATE, slots, pa.array(texts, pa.string()))
        timers = (np.array(sorted(entry.timers), np.int64).tobytes() for entry in entries)
        self._table.assign(_TIMERS, slots, pa.array(list(timers), pa.binary()))
        self._table[_NEXT][slots] = [min(entry.timers, default=_NEVER_US) for entry in entries]
        self._table.touch(slots)

    def _columns(self, entries: Iterable[KeyEntry]) -> list[pa.Array[Any]]:
        listed = list(entries)
        return [pa.array([e.cells[i] for e in listed], type_) for i, type_ in enumerate(self._types)]

    def _entry(self, cells: tuple[Any, ...], slot: int) -> KeyEntry:
        rank = tuple((cell is not None, 0 if cell is None else cell) for cell in cells)
        if rank not in self._entries:
            self._entries[rank] = self._made(cells, rank, slot)
        return self._entries[rank]

    def _made(self, cells: tuple[Any, ...], rank: Rank, slot: int) -> KeyEntry:
        key = cells[0] if len(cells) == 1 else cells
        if slot < 0:
            return KeyEntry(key, cells, rank, self._codec.new(), None)
        text = self._table[_STATE][slot]
        timers = frozenset(np.frombuffer(self._table[_TIMERS][slot], np.int64).tolist())
        return KeyEntry(key, cells, rank, self._codec.decode(text), text, set(timers), timers, is_stored=True)
