"""Times as text or as epoch milliseconds → Arrow's timestamps."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

TIMESTAMP = pa.timestamp("us", tz="UTC")
# How a time may be written, the likeliest first: with a zone or without one, and finer than microseconds.
_WRITTEN_TIMES: tuple[pa.DataType, ...] = (TIMESTAMP, pa.timestamp("us"), pa.timestamp("ns", tz="UTC"))


def as_time(column: pa.ChunkedArray[Any]) -> pa.ChunkedArray[Any]:
    """Text or epoch milliseconds as timestamps; UTC is meant where no zone is written. Raises ArrowInvalid."""
    if column.type == pa.int64():
        return column.cast(pa.timestamp("ms", tz="UTC")).cast(TIMESTAMP)
    for written in _WRITTEN_TIMES:
        try:
            return column.cast(written).cast(TIMESTAMP, safe=False)
        except pa.ArrowInvalid:
            continue
    return column.cast(pa.timestamp("ns")).cast(TIMESTAMP, safe=False)
