"""State by key: one row for each key, column by column, as plain arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from headrace.serial.items import ALL_BUCKETS, Fields, Shape, StateItem
from headrace.serial.keys import Integers, KeyIndex

DELETED = "_deleted"
_SLOTS_FIRST = 64


class KeyedTable(StateItem):
    """One row for each key, by column: `table["sum"][slots]` is a plain numpy array to read and write.

    After writing to slots call `touch`; new rows are zeros (None where a column is no number) and count as touched.
    """

    kind = "table"

    def __init__(self, key: Fields, columns: Fields) -> None:
        self.key = tuple(key)
        self.columns = tuple(columns)
        self.index = KeyIndex()
        self._arrays = {name: np.zeros(_SLOTS_FIRST, _kind(type_)) for name, type_ in columns}
        self._touched = np.zeros(_SLOTS_FIRST, np.bool_)
        self._deleted: list[pa.RecordBatch] = []

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, column: str) -> np.ndarray[Any, Any]:
        return self._arrays[column]

    def find(self, keys: Sequence[pa.Array[Any]]) -> Integers:
        """Slots of these keys; −1 for one that is not there."""
        return self.index.find(keys)

    def add(self, keys: Sequence[pa.Array[Any]]) -> tuple[Integers, Integers]:
        """Slots of these keys, and which of those are new."""
        slots, fresh = self.index.add(keys)
        self._grow(self.index.capacity)
        for name, type_ in self.columns:
            self._arrays[name][fresh] = _zero(type_)
        self._touched[fresh] = True
        return slots, fresh

    def touch(self, slots: Integers) -> None:
        self._touched[slots] = True

    def delete(self, slots: Integers) -> None:
        """The keys of these slots are gone afterwards; the slots may be given to others."""
        if len(slots):
            self._deleted.append(self._rows(slots, deleted=True))
            self._touched[slots] = False
            self.index.remove(slots)

    def slots(self) -> Integers:
        return self.index.slots()

    def keys(self, slots: Integers) -> list[pa.Array[Any]]:
        return self.index.arrays(slots, [type_ for _, type_ in self.key])

    def values(self, column: str, slots: Integers) -> pa.Array[Any]:
        """A column of these slots, in its declared type."""
        return to_arrow(self._arrays[column][slots], dict(self.columns)[column])

    def assign(self, column: str, slots: Integers, values: pa.Array[Any]) -> None:
        """Values of the column's declared type; nulls of numbers become zeros."""
        self._arrays[column][slots] = to_numpy(values, dict(self.columns)[column])

    @property
    def shape(self) -> Shape:
        return {"keys": len(self.key)}

    @property
    def size(self) -> int:
        return len(self.index)

    def snapshot(self, buckets: range = ALL_BUCKETS) -> pa.Table:
        return pa.Table.from_batches([self._rows(self.index.slots(buckets), deleted=False)])

    def delta(self) -> pa.Table | None:
        touched = np.flatnonzero(self._touched)
        # Deletions first: a key that was deleted and came again is there.
        pieces = [*self._deleted, *([self._rows(touched, deleted=False)] if len(touched) else [])]
        return pa.Table.from_batches(pieces) if pieces else None

    def apply(self, change: pa.Table) -> None:
        for batch in change.to_batches():
            if batch.num_rows and batch.column(DELETED)[0].as_py():
                self._forget(batch)
            else:
                self._put(batch)
        self.mark_written()

    def replace(self, rows: pa.Table, buckets: range) -> None:
        if len(self.index):
            self.index.remove(self.index.slots(buckets))
        for batch in rows.combine_chunks().to_batches():
            self._put(batch)
        self.mark_written()

    def mark_written(self) -> None:
        self._touched[:] = False
        self._deleted = []

    def _forget(self, batch: pa.RecordBatch) -> None:
        slots = self.find([batch.column(name) for name, _ in self.key])
        self.index.remove(slots[slots >= 0])

    def _put(self, batch: pa.RecordBatch) -> None:
        if not batch.num_rows:
            return
        slots, _ = self.add([batch.column(name) for name, _ in self.key])
        for name, type_ in self.columns:
            self._arrays[name][slots] = to_numpy(batch.column(name), type_)

    def _rows(self, slots: Integers, *, deleted: bool) -> pa.RecordBatch:
        names = [name for name, _ in (*self.key, *self.columns)]
        arrays = [*self.keys(slots), *(self.values(name, slots) for name, _ in self.columns)]
        marks = pa.array(np.full(len(slots), deleted))
        return pa.record_batch([*arrays, marks], names=[*names, DELETED])

    def _grow(self, capacity: int) -> None:
        size = len(self._touched)
        if capacity <= size:
            return
        more = max(capacity, 2 * size) - size
        self._touched = np.concatenate([self._touched, np.zeros(more, np.bool_)])
        for name, array in self._arrays.items():
            self._arrays[name] = np.concatenate([array, np.zeros(more, array.dtype)])


def named_apart(key: Fields, columns: Fields) -> Fields:
    """The key's columns, with other names in what is written down where a user's name is one of ours."""
    made: list[tuple[str, pa.DataType]] = []
    for place, (name, type_) in enumerate(key):
        taken = {
            DELETED,
            *(other for other, _ in columns),
            *(other for other, _ in key[place + 1 :]),
            *(other for other, _ in made),
        }
        while name in taken:
            name = f"key:{name}"  # noqa: PLW2901 - the column goes on under the new name
        made.append((name, type_))
    return tuple(made)


def _kind(type_: pa.DataType) -> np.dtype[Any]:
    if pa.types.is_temporal(type_):
        return np.dtype(np.int64)
    if pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_boolean(type_):
        return np.dtype(type_.to_pandas_dtype())
    return np.dtype(object)


def _zero(type_: pa.DataType) -> object:
    return None if _kind(type_).hasobject else 0


def to_arrow(array: np.ndarray[Any, Any], type_: pa.DataType) -> pa.Array[Any]:
    """State of a column as it leaves. Numbers are never null there."""
    if array.dtype.hasobject:
        return pa.array(array.tolist(), type_)
    numbers: pa.Array[Any] = pa.array(array.astype(np.int32) if pa.types.is_date32(type_) else array)
    return numbers if numbers.type == type_ else numbers.cast(type_)


def to_numpy(column: pa.Array[Any], type_: pa.DataType) -> np.ndarray[Any, Any]:
    """A column as state keeps it: numbers, with zeros for nulls, or objects."""
    if _kind(type_).hasobject:
        values = np.empty(len(column), object)
        for place, value in enumerate(column.to_pylist()) if pa.types.is_nested(type_) else ():
            # Of several lists numpy would make one array.
            values[place] = value
        if not pa.types.is_nested(type_):
            values[:] = column.to_pylist()
        return values
    if pa.types.is_temporal(type_):
        column = column.view(pa.int32() if type_.bit_width == 32 else pa.int64())
    if column.null_count:
        column = column.fill_null(False if pa.types.is_boolean(column.type) else 0)
    array: np.ndarray[Any, Any] = column.to_numpy(zero_copy_only=False)
    return array
