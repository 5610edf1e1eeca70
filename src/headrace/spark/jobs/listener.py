"""Spark's way of telling what its queries did, handed on."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from pyspark import SparkContext
from pyspark.sql.streaming.listener import (
    JStreamingQueryListener,
    QueryProgressEvent,
    StreamingQueryListener,
    StreamingQueryProgress,
)


class ProgressListener(StreamingQueryListener):
    """Calls `report(run id, progress)` after every batch, on a thread of Spark's, and `idle(run id)` from time to time
    while a query has nothing to do."""

    def __init__(self, report: Callable[[str, StreamingQueryProgress], None], idle: Callable[[str], None]) -> None:
        super().__init__()
        self._report = report
        self.idle = idle
        jvm: Any = SparkContext._jvm
        wrapper = jvm.org.apache.spark.sql.streaming.PythonStreamingQueryListenerWrapper
        self._jlistenerobj = wrapper(_OneCallListener(self))

    def onQueryStarted(self, event: object) -> None:  # noqa: N802  (Spark's name)
        pass

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        self._report(str(event.progress.runId), event.progress)

    def onQueryTerminated(self, event: object) -> None:  # noqa: N802
        pass


class _OneCallListener(JStreamingQueryListener):
    """Takes a report over as one text: field by field it costs some hundred calls between the two worlds."""

    def onQueryStarted(self, jevent: Any) -> None:  # noqa: N802
        pass

    def onQueryProgress(self, jevent: Any) -> None:  # noqa: N802
        progress = StreamingQueryProgress.fromJson(json.loads(jevent.progress().json()))
        self.pylistener.onQueryProgress(QueryProgressEvent(progress))

    def onQueryIdle(self, jevent: Any) -> None:  # noqa: N802
        listener: Any = self.pylistener
        listener.idle(jevent.runId().toString())

    def onQueryTerminated(self, jevent: Any) -> None:  # noqa: N802
        pass
