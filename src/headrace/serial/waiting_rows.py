"""Rows that wait until the watermark has passed them, by key: then they go on in order of event time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from headrace.errors import InvalidInput
from headrace.serial.candidate_rows import one_batch
from headrace.serial.context import microseconds
from headrace.serial.items import Fields
from headrace.serial.places import Places
from headrace.serial.state import NodeState

# The name of the time up to which rows went on. It is the same in all lanes that have rows, so that state can move.
PLAYED = "_played"
# Rows that may wait at once in one node and lane of a stream.
WAITING_ROWS_MAX = 10_000_000

# Which row comes first of several of one time.
ORIGIN, OFFSET, NUMBER = "_origin", "_offset", "_number"
_ORDER: Fields = [(ORIGIN, pa.int64()), (OFFSET, pa.int64()), (NUMBER, pa.int64())]
# The origin of rows that no longer know their record: they are in the order in which they came.
NO_ORIGIN = -1


class WaitingRows:
    """A change costs the rows that were appended: what goes with time is not written down, but told by the time up to
    which rows went on. Rows of one time are in the order (source, partition, offset), however they arrived."""

    def __init__(self, state: NodeState, key: Fields, columns: Fields, time: str) -> None:
        """`time` is one of the columns, or of those of the key."""
        self._rows = state.candidate_rows("waiting", key, [*columns, *_ORDER])
        self._played = state.value(PLAYED)
        self._time = time
        self._added = 0
        self.earliest_us: int | None = None
        """The time of the first row that was left when `due` was last called."""
        self.names = [name for name, _ in (*key, *columns)]

    def __len__(self) -> int:
        """Rows that are there, some of which may be gone by their time."""
        return len(self._rows)

    def add(self, rows: pa.RecordBatch, places: Places | None, batch: int) -> None:
        """Rows with these columns among theirs, and a time; `batch` is the number of the micro-batch."""
        columns: list[Any] = [rows.column(name) for name in self.names]
        made = pa.record_batch([*columns, *self._order(rows.num_rows, places, batch)], schema=self._rows.schema)
        self._rows.append(made, self._rows.hashes_of(made))

    def require_room(self) -> None:
        """Raises InvalidInput when too many rows wait."""
        if len(self._rows) > WAITING_ROWS_MAX:
            raise InvalidInput(
                f"more than {WAITING_ROWS_MAX:,} rows wait for the watermark in one lane",
                hint="a partition without rows holds the watermark back: set idle_timeout at the source",
            )

    def due(self, before_us: int) -> pa.RecordBatch:
        """Rows before this time, which are gone afterwards, in order: with the columns that tell the order."""
        played_us = self._played.value
        if played_us is not None:
            self._rows.prune(lambda rows: self._times(rows) < played_us)
        if not len(self._rows):
            self.earliest_us = None
            return one_batch([], self._rows.schema)
        found = self._rows.all()
        at_us = self._times(found.rows)
        passed = at_us < before_us
        is_due = passed if played_us is None else passed & (at_us >= played_us)
        places = np.flatnonzero(is_due)
        order = [found.rows.column(name).to_numpy()[places] for name in (NUMBER, OFFSET, ORIGIN)]
        rows = found.rows.take(places[np.lexsort((*order, at_us[places]))])
        self.earliest_us = None if passed.all() else int(at_us[~passed].min())
        found.remove(passed)
        self._played.value = before_us
        return rows

    def _order(self, count: int, places: Places | None, batch: int) -> list[pa.Array[Any]]:
        numbers = np.arange(self._added, self._added + count)
        self._added += count
        if places is None:
            origins, offsets = np.full(count, NO_ORIGIN), np.full(count, batch)
        else:
            origins = np.broadcast_to(places.origins, count)
            offsets = places.offsets
        return [pa.array(values, pa.int64()) for values in (origins, offsets, numbers)]

    def _times(self, rows: pa.RecordBatch) -> np.ndarray[Any, np.dtype[np.int64]]:
        return microseconds(rows.column(self._time))
