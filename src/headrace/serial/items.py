"""What every kind of named state can do, and the simplest kind: one value."""

from __future__ import annotations

import copy
import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, TypeAlias

import pyarrow as pa

from headrace.errors import InvalidInput
from headrace.serial.key_hash import BUCKETS

ALL_BUCKETS = range(BUCKETS)

# Enough that no two values are taken for one.
DIGEST_BYTES = 16
VALUES = "use None, bool, int, float, str, list, and dict with keys of str"

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
    """One value that JSON can carry: assign to `value`, or change a list or dict in place. Both are saved.

    A list or dict that was read in a micro-batch is encoded at its end and compared with what was written. That costs
    the size of the value, also where it did not change: a large state by key belongs into a table or a keyed class.
    """

    kind = "value"

    def __init__(self, default: Any = None) -> None:
        # A copy: operators of several lanes may share the object, and change it in place.
        self._value = copy.deepcopy(default)
        self._written = self._pending = _digest(encoded(self._value))
        self._assigned = False
        self._read = False

    @property
    def value(self) -> Any:
        self._read = True
        return self._value

    @value.setter
    def value(self, value: Any) -> None:
        self._value = value
        self._assigned = True

    @property
    def size(self) -> int:
        return 1

    def snapshot(self, buckets: range = ALL_BUCKETS) -> pa.Table | None:
        """A value is in the first bucket."""
        return _one_value(encoded(self._value)) if buckets.start == 0 else None

    def delta(self) -> pa.Table | None:
        """Raises InvalidInput for a value that would not come back as it is."""
        if not self._assigned and not (self._read and isinstance(self._value, dict | list)):
            return None
        text = encoded(self._value)
        self._pending = _digest(text)
        return _one_value(text) if self._assigned or self._pending != self._written else None

    def apply(self, change: pa.Table) -> None:
        text = change["value"][0].as_py()
        self._value, self._pending = json.loads(text), _digest(text)
        self.mark_written()

    def replace(self, rows: pa.Table, buckets: range) -> None:
        self.apply(rows)

    def mark_written(self) -> None:
        """What `delta` gave last is on disk."""
        self._written = self._pending
        self._assigned, self._read = False, False


def encoded(value: Any) -> str:
    """JSON that reads back as the same value. Raises InvalidInput where JSON would change it, or cannot carry it."""
    try:
        text = json.dumps(value)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"state cannot hold this value: {error}", hint=VALUES) from error
    if isinstance(value, dict | list):
        _refuse_other_keys(value)
    return text


def _refuse_other_keys(value: dict[Any, Any] | list[Any]) -> None:
    """JSON makes texts of all keys: 1 and "1" would be one key after a crash."""
    inner = value.values() if isinstance(value, dict) else value
    if isinstance(value, dict) and (other := [key for key in value if type(key) is not str]):
        raise InvalidInput(f"state holds a dict with the key {other[0]!r}, which is no str", hint=VALUES)
    for part in inner:
        if isinstance(part, dict | list):
            _refuse_other_keys(part)


def _one_value(text: str) -> pa.Table:
    return pa.table({"value": [text]})


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=DIGEST_BYTES).digest()
