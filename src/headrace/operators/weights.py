"""Rows that retract others: beside its columns a row has a weight, 1 if it holds, −1 if it holds no longer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from headrace.graph.schema import WEIGHT
from headrace.serial import Batch

HOLDS, RETRACTED = 1, -1


def weighed(rows: pa.RecordBatch, holds: bool | np.ndarray[Any, Any]) -> pa.RecordBatch:
    """The rows with their weights. `holds` is of all of them, or of each."""
    weights = np.where(np.broadcast_to(holds, rows.num_rows), HOLDS, RETRACTED)
    return rows.append_column(pa.field(WEIGHT, pa.int32()), pa.array(weights, pa.int32()))


def weighed_batch(rows: pa.RecordBatch, holds: np.ndarray[Any, Any]) -> Batch:
    """These rows as they leave an operator."""
    return Batch(weighed(rows, holds), private=True, retracted=int(np.count_nonzero(~holds)))


def changed_rows(before: Sequence[pa.RecordBatch], after: pa.RecordBatch) -> pa.RecordBatch:
    """Rows as they were, and as they are now, with their weights."""
    parts = [weighed(after, holds=True), *(weighed(rows, holds=False) for rows in before)]
    (both,) = pa.Table.from_batches(parts).combine_chunks().to_batches()
    return both
