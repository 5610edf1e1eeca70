"""What every kind of named state can do, and the simplest kind: one value."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, TypeAlias

import pyarrow as pa

Fields: TypeAlias = Sequence[tuple[str, pa.DataType]]


class StateItem(ABC):
    """What the store asks of each kind of state. After `apply` it is as it was written."""

    kind: str

    @abstractmethod
    def snapshot(self) -> pa.Table:
        """All of it."""

    @abstractmethod
    def delta(self) -> pa.Table | None:
        """What changed since `mark_written`; None if nothing did."""

    @abstractmethod
    def apply(self, change: pa.Table, *, whole: bool) -> None:
        """Takes in what `delta` gave, or, if `whole`, what `snapshot` gave: then nothing was there before."""

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

    def snapshot(self) -> pa.Table:
        return pa.table({"value": [json.dumps(self._value)]})

    def delta(self) -> pa.Table | None:
        return self.snapshot() if self._changed else None

    def apply(self, change: pa.Table, *, whole: bool) -> None:
        self._value = json.loads(change["value"][0].as_py())
        self._changed = False

    def mark_written(self) -> None:
        self._changed = False
