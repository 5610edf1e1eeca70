"""What every kind of named state can do, and the simplest kind: one value."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, TypeAlias

import pyarrow as pa

from headrace.serial.key_hash import BUCKETS

ALL_BUCKETS = range(BUCKETS)

Fields: TypeAlias = Sequence[tuple[str, pa.DataType]]


# What a state file says of an item beside its rows: enough to read it without the operator that made it.
Shape: TypeAlias = dict[str, int]


class StateItem(ABC):
    """What the store asks of each kind of state. After `apply` it is as it was written."""

    kind: str

    @property
    def shape(self) -> Shape:
        return {}

    @property
    @abstractmethod
    def size(self) -> int:
        """How many values there are, about."""

    @abstractmethod
    def snapshot(self, buckets: range = ALL_BUCKETS) -> pa.Table | None:
        """All that belongs to these buckets; None for nothing that must be written down."""

    @abstractmethod
    def delta(self) -> pa.Table | None:
        """What changed since `mark_written`; None if nothing did."""

    @abstractmethod
    def apply(self, change: pa.Table) -> None:
        """Takes in what `delta` gave."""

    @abstractmethod
    def replace(self, rows: pa.Table, buckets: range) -> None:
        """Takes in what `snapshot` gave: what was there in these buckets is gone."""

    @abstractmethod
    def mark_written(self) -> None:
        """What is there now is on disk."""


class ValueState(StateItem):
    """One value that JSON can carry. Assign to `value` to change it."""

    kind = "value"

    def __init__(self, default: Any = None) -> None:
        self._value = default
        self._changed = False

    @property
    def value(self) -> Any:
        return self._value

    @value.setter
    def value(self, value: Any) -> None:
        self._value = value
        self._changed = True

    @property
    def size(self) -> int:
        return 1

    def snapshot(self, buckets: range = ALL_BUCKETS) -> pa.Table | None:
        """A value is in the first bucket."""
        return self._table() if buckets.start == 0 else None

    def delta(self) -> pa.Table | None:
        return self._table() if self._changed else None

    def apply(self, change: pa.Table) -> None:
        self._value = json.loads(change["value"][0].as_py())
        self._changed = False

    def replace(self, rows: pa.Table, buckets: range) -> None:
        self.apply(rows)

    def mark_written(self) -> None:
        self._changed = False

    def _table(self) -> pa.Table:
        return pa.table({"value": [json.dumps(self._value)]})
