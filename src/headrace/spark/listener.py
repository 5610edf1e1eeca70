"""Spark's way of telling what its queries did, handed on."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql.streaming.listener import (
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
    StreamingQueryProgress,
)


class ProgressListener(StreamingQueryListener):
    """Calls `report(query id, progress)` after every batch, on a thread of Spark's."""

    def __init__(self, report: Callable[[str, StreamingQueryProgress], None]) -> None:
        super().__init__()
        self._report = report

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802  (Spark's name)
        pass

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        self._report(str(event.progress.id), event.progress)

    def onQueryIdle(self, event: object) -> None:  # noqa: N802
        pass

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        pass
