"""A look: a pipeline that runs only as long as somebody watches its rows, and leaves nothing behind."""

from __future__ import annotations

import shutil
import threading
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from headrace.errors import HeadraceError, NotFound
from headrace.log import hold_owners, release_hold
from headrace.spark.writing.commit import commit_topic
from headrace.wire.client import Client

if TYPE_CHECKING:
    from headrace.spark.jobs.job import Job

# What the names of such pipelines begin with.
LOOK_PREFIX: Final = "__look-"


def look_name() -> str:
    return f"{LOOK_PREFIX}{uuid.uuid4().hex[:12]}"


@dataclass(frozen=True, slots=True)
class LookPlaces:
    """Where looks keep things while they are open."""

    bootstrap: str
    jobs_directory: Path
    log_directory: Path | None

    def sweep(self, pipeline: str) -> None:
        """Removes all that pipelines whose names begin so have left. Raises ExternalFailure, OSError."""
        with Client(self.bootstrap, client_id="headrace-look") as client:
            topics = [name for name in client.metadata().topics if name.startswith(commit_topic(pipeline))]
            if topics:
                with suppress(NotFound):
                    client.delete_topics(topics)
        if self.log_directory is not None:
            for owner in hold_owners(self.log_directory):
                if owner.startswith(pipeline):
                    release_hold(self.log_directory, owner)
        for directory in self.jobs_directory.glob(f"{pipeline}*"):
            shutil.rmtree(directory, ignore_errors=True)


class Look:
    """Open from its start to `close`. Its methods may be called from any thread."""

    def __init__(self, pipeline: str, places: LookPlaces, closed: Callable[[Look], None]) -> None:
        self._pipeline = pipeline
        self._places = places
        self._closed = closed
        self._closing = threading.Lock()
        self.job: Job | None = None

    def start(self, job: Job) -> None:
        """Raises what the start of a job raises; then it must be closed all the same."""
        self.job = job
        job.start()

    @property
    def failure(self) -> HeadraceError | None:
        """Why it failed. A job would be tried again: who watches is rather told."""
        return None if self.job is None else self.job.error

    def close(self) -> None:
        """Nothing runs, and nothing is left of it, afterwards; what a broker that is away keeps, the next sweep gets.

        May be called twice.
        """
        with self._closing:
            if self.job is None:
                return
            if self.job.state in ("starting", "running"):
                self.job.stop()
            self.job = None
        self._closed(self)
        with suppress(HeadraceError, OSError):
            self._places.sweep(self._pipeline)
