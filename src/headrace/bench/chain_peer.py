"""Serial operators as one writes them by hand for Spark: state by key in `transformWithStateInPandas`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final

import pandas as pd
from pyspark.sql import SparkSession
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

LENGTH: Final = 1_000
WITHIN: Final = timedelta(seconds=10)


class LengthWindow(StatefulProcessor):
    """For every row, sum and average over the last rows of its key."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._numbers = handle.getListState("numbers", "x DOUBLE")

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:  # noqa: N802, N803
        kept = [row[0] for row in self._numbers.get()] if self._numbers.exists() else []
        for frame in rows:
            joined = pd.Series([*kept, *frame["x"]])
            windows = joined.rolling(LENGTH, min_periods=1)
            yield frame.assign(s=windows.sum()[len(kept) :].to_numpy(), a=windows.mean()[len(kept) :].to_numpy())
            kept = joined.tolist()[-LENGTH:]
        self._numbers.put([(number,) for number in kept])

    def close(self) -> None:
        pass


class TwoStep(StatefulProcessor):
    """A row with n > 900, followed by one with n < 100 of the same key within ten seconds."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._first = handle.getValueState("first", "ts TIMESTAMP")

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:  # noqa: N802, N803
        known = self._first.get() if self._first.exists() else None
        first: datetime | None = known[0] if known else None
        found: list[tuple[Any, datetime, datetime]] = []
        for frame in rows:
            for number, at in zip(frame["n"].tolist(), frame["ts"].tolist(), strict=True):
                if first is not None and at - first > WITHIN:
                    first = None
                elif first is not None and number < 100:
                    found.append((key[0], first, at))
                    first = None
                if number > 900:
                    first = at
        if first is None:
            self._first.clear()
        else:
            self._first.update((first,))
        yield pd.DataFrame(found, columns=["k", "first", "then"])

    def close(self) -> None:
        pass


WORKS: Final = {
    "window-length": (LengthWindow, "k STRING, n BIGINT, x DOUBLE, ts TIMESTAMP, s DOUBLE, a DOUBLE"),
    "two-step-10k-keys": (TwoStep, "k STRING, first TIMESTAMP, then TIMESTAMP"),
}


def run_chain_work(spark: SparkSession, command: dict[str, Any]) -> float:
    """Seconds from the start of a query over Parquet files until it has worked through all of them."""
    processor, columns = WORKS[command["work"]]
    reader = spark.readStream.schema(command["schema"]).option("maxFilesPerTrigger", command["files_per_batch"])
    grouped = reader.parquet(command["path"]).groupBy("k")
    made = grouped.transformWithStateInPandas(processor(), columns, "append", "none")
    writer = made.writeStream.format("parquet").option("path", command["output"])
    writer = writer.option("checkpointLocation", command["checkpoint"]).trigger(availableNow=True)
    began_s = time.monotonic()
    writer.start().awaitTermination()
    return time.monotonic() - began_s
