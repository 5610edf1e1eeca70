"""The rows of a table that operators look up, in one version of it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar, cast

import pyarrow as pa

T = TypeVar("T")


def one_batch(table: pa.Table) -> pa.RecordBatch:
    """All rows of a table."""
    (rows,) = table.combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]
    return rows


class TableRows:
    """Kept by whoever reads the table, for as long as it does not change: so is what was made of the rows."""

    def __init__(self, rows: pa.RecordBatch) -> None:
        self.rows = rows
        self._made: dict[Hashable, object] = {}

    def made(self, key: Hashable, make: Callable[[pa.RecordBatch], T]) -> T:
        """What is dear to make of the rows (an index), made once under this key."""
        if key not in self._made:
            self._made[key] = make(self.rows)
        return cast("T", self._made[key])
