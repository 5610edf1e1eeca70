"""Texts of a column as they lie in memory."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

Bytes: TypeAlias = "np.ndarray[Any, np.dtype[np.uint8]]"
Places: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"


def text_bytes(column: pa.Array[Any]) -> tuple[Bytes, Places]:
    """Of a column of texts or of bytes: all bytes, and where each value begins; at last where the last one ends."""
    offsets, values = (memoryview(buffer or b"") for buffer in column.buffers()[1:])
    bounds = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
    return np.frombuffer(values, np.uint8), bounds.astype(np.int64)
