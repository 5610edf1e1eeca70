"""The Spark session of test files: for many plans over few rows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from headrace.spark.session.begun import abandon_session
from headrace.spark.session.session import SparkSettings, begin_session, start_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Every case is a new plan over few rows.
FOR_FEW_ROWS: Final = {
    # To compile a plan costs a fifth to two fifths of all work.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # Rows in the plan itself: else each is a task.
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.shuffle.partitions": "1",
}
# Few rows never pay for Java's second compiler, which takes a third of all work.
_JAVA_OPTIONS: Final = "-XX:TieredStopAtLevel=1"
# A task that fails is not tried again: the same few rows would fail again.
_MASTER: Final = "local[2]"


@contextmanager
def for_few_rows(spark: SparkSession) -> Iterator[None]:
    """The settings of test files in a session that has others before and afterwards."""
    before = {name: spark.conf.get(name, None) for name in FOR_FEW_ROWS}
    for name, value in FOR_FEW_ROWS.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, earlier in before.items():
            spark.conf.unset(name) if earlier is None else spark.conf.set(name, earlier)


class CaseSession:
    """Starts with the first case that needs it. `start_s` is how long that took."""

    def __init__(self, directory: Path) -> None:
        self.start_s = 0.0
        self._directory = directory
        self._spark: SparkSession | None = None

    def begin(self) -> None:
        """Starts Java beside what comes before the first case."""
        begin_session(_settings(self._directory))

    def spark(self) -> SparkSession:
        """Raises ExternalFailure when Java is missing or does not start."""
        if self._spark is None:
            started_s = time.monotonic()
            self._spark = start_session(_settings(self._directory))
            self.start_s = time.monotonic() - started_s
        return self._spark

    def stop(self) -> None:
        abandon_session()
        if self._spark is not None:
            self._spark.stop()


def _settings(directory: Path) -> SparkSettings:
    return SparkSettings(directory, _MASTER, java_options=_JAVA_OPTIONS, extra=FOR_FEW_ROWS)
