"""Lag as it is now: Spark tells it once a batch, as of its planning; the log itself tells it any time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from headrace.errors import HeadraceError
from headrace.log.watermark import read_watermark
from headrace.spark import JobStatus, QueryStatus


class LiveLag:
    """Without a log on this machine what Spark told stays."""

    def __init__(self, log_directory: Path | None) -> None:
        self._log_directory = log_directory

    def of(self, status: JobStatus) -> JobStatus:
        """The same status, with the lag of this moment unless the job was stopped."""
        if self._log_directory is None or status.state in ("stopping", "stopped"):
            return status
        return replace(status, queries=tuple(self._measured(query) for query in status.queries))

    def _measured(self, query: QueryStatus) -> QueryStatus:
        lag = {place: self._behind(place, position) for place, position in query.positions.items()}
        known = {place: count for place, count in lag.items() if count is not None}
        return replace(query, lag={**query.lag, **known})

    def _behind(self, place: str, position: int) -> int | None:
        """None for a partition that is just being made or deleted."""
        try:
            end = read_watermark((self._log_directory or Path()) / place).last_stable_offset
        except HeadraceError:
            return None
        return max(0, end - position)
