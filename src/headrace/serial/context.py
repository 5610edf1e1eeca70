"""What an operator is handed when it is opened."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import numpy as np
import pyarrow as pa

from headrace.serial.state import NodeState
from headrace.serial.table_rows import TableRows
from headrace.serial.timers import Timers

# Models and clients that operators keep in a worker process between micro-batches.
CACHED_OBJECTS_MAX = 64

T = TypeVar("T")
_cache: OrderedDict[tuple[str, object], object] = OrderedDict()


@dataclass(slots=True)
class Context:
    """One node in one micro-batch of one lane. Times are microseconds since the epoch."""

    node: str
    lane: int
    batch: int
    state: NodeState
    timers: Timers
    watermark_us: int | None
    """No row below this is waited for; None before any row was seen. The same for all lanes of a micro-batch."""
    now_us: int
    """The time of the micro-batch; the same when it is run again. Operators never read the clock."""
    counts: Counter[str] = field(default_factory=Counter)
    """What the operator counted, by name: shown with the node's figures."""

    asides: list[tuple[dict[str, Any], str]] = field(default_factory=list)
    """Rows that the operator set aside, and why."""

    tables: Mapping[str, Callable[[], TableRows]] = field(default_factory=dict)
    """What is looked up at some of its inputs, read when it is first asked for."""

    def table(self, port: str) -> TableRows:
        """The table at an input, in the version of the micro-batch: the same when it is run again."""
        return self.tables[port]()

    def set_aside(self, rows: pa.RecordBatch, reasons: Sequence[str]) -> None:
        """These rows become dead letters, each with its reason. The operator's node names the topic for them."""
        self.asides += zip(rows.to_pylist(), reasons, strict=True)

    def is_late(self, times: pa.Array[Any]) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which rows lie below the watermark; a row without a time does not."""
        if self.watermark_us is None:
            return np.zeros(len(times), np.bool_)
        return microseconds(times, missing=self.watermark_us) < self.watermark_us

    def cached(self, key: object, make: Callable[[], T]) -> T:
        """An object that is dear to make (a model, a client), kept in this process under the node and the key."""
        place = (self.node, key)
        if place not in _cache:
            _cache[place] = make()
            if len(_cache) > CACHED_OBJECTS_MAX:
                _cache.popitem(last=False)
        _cache.move_to_end(place)
        return cast("T", _cache[place])


def microseconds(times: pa.Array[Any], *, missing: int = 0) -> np.ndarray[Any, np.dtype[np.int64]]:
    """A TIMESTAMP column as whole numbers."""
    if times.type != pa.timestamp("us", tz="UTC") and pa.types.is_timestamp(times.type):
        times = times.cast(pa.timestamp("us", tz="UTC"))
    whole = times.view(pa.int64()) if pa.types.is_timestamp(times.type) else times.cast(pa.int64())
    filled = whole.fill_null(missing) if whole.null_count else whole
    return cast("np.ndarray[Any, np.dtype[np.int64]]", filled.to_numpy(zero_copy_only=False))


def timestamps(values: np.ndarray[Any, Any]) -> pa.Array[Any]:
    """The way back: microseconds as a TIMESTAMP column."""
    whole: pa.Array[Any] = pa.array(values, pa.int64())
    return whole.view(pa.timestamp("us", tz="UTC"))
