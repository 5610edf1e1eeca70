"""Where the rows of a test end: taken from a frame at once, or batch by batch from a stream that dies on its way."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from headrace.operators.json_rows import frame_as_json

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Row: TypeAlias = dict[str, object]


class _Killed(Exception):
    """Thrown where the stream is to die: the work of a micro-batch is done, and Spark has not noted it."""


def collected(frame: DataFrame) -> list[Row]:
    """All rows of a bounded frame, as JSON has them, with every digit of their numbers."""
    rows: list[Any] = frame.select(frame_as_json(frame)).collect()
    return [json.loads(row[0], parse_float=Decimal) for row in rows]


def killed_and_restarted(frame: DataFrame, mode: str, checkpoint: Path, fatal: int) -> list[Row]:
    """The rows of a stream that dies in the micro-batch `fatal`, and goes on from its checkpoint.

    As the sink of a job does, it takes the rows of a micro-batch once, however often that runs.
    """
    from pyspark.errors import StreamingQueryException  # noqa: PLC0415

    taken: dict[int, list[Row]] = {}
    deaths: list[int] = []

    def take(batch: DataFrame, number: int) -> None:
        rows = collected(batch)
        if number == fatal and not deaths:
            deaths.append(number)
            raise _Killed
        taken[number] = rows

    def run() -> None:
        writer = frame.writeStream.foreachBatch(take).outputMode(mode).option("checkpointLocation", str(checkpoint))
        writer.trigger(availableNow=True).start().awaitTermination()

    try:
        run()
    except StreamingQueryException:
        if not deaths:
            raise
        run()
    return [row for number in sorted(taken) for row in taken[number]]
