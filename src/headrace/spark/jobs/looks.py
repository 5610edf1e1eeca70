"""The looks that are open on an engine."""

from __future__ import annotations

import threading
from collections.abc import Callable

from headrace.graph.document import Document
from headrace.graph.validation import Validated
from headrace.operators import Catalogue
from headrace.spark.jobs.beginning import Beginning
from headrace.spark.jobs.decisions import source_starts
from headrace.spark.jobs.events import EventBus
from headrace.spark.jobs.job import Job
from headrace.spark.jobs.launching import Launching, Start
from headrace.spark.jobs.look import LOOK_PREFIX, Look, LookPlaces
from headrace.spark.jobs.sink import Shown
from headrace.spark.jobs.workplace import Workplace, require_secrets
from headrace.spark.planning.meaning import Meaning
from headrace.spark.planning.plan import QueryPlan
from headrace.spark.planning.queries import plan_queries
from headrace.spark.planning.runnable import runnable
from headrace.spark.reading.starts import resolve_start


class Looks:
    """Opened one at a time, under the lock of the engine. `require_room` raises Conflict where none is left."""

    def __init__(
        self,
        place: Workplace,
        launching: Launching,
        lock: threading.RLock,
        require_room: Callable[[Validated, Catalogue], None],
    ) -> None:
        self._place = place
        self._launching = launching
        self._lock = lock
        self._require_room = require_room
        self._open: set[Look] = set()

    def open(self, document: Document, shown: Shown) -> Look:
        """As `Engine.look`."""
        code = self._place.code(document)
        own = Look(document.name, self._look_places, self._open.discard)
        with self._lock, code.active():
            validated = runnable(document, code)
            require_secrets(document)
            self._require_room(validated, code)
            beginnings = tuple(self._of_look(plan, validated) for plan in plan_queries(validated, code))
            launcher = self._launching.launcher(validated, Start(beginnings, until_end=False, code=code, shown=shown))
            job = Job(validated, launcher, EventBus(), lambda pipeline: None)
            self._open.add(own)
            try:
                own.start(job)
            except BaseException:
                own.close()
                raise
        return own

    def jobs(self) -> list[Job]:
        return [look.job for look in list(self._open) if look.job is not None]

    def close(self) -> None:
        for look in list(self._open):
            look.close()

    def sweep(self) -> None:
        """Removes what looks of an earlier run left behind; called while none is open. Raises ExternalFailure."""
        self._look_places.sweep(LOOK_PREFIX)

    @property
    def _look_places(self) -> LookPlaces:
        settings = self._place.settings
        return LookPlaces(settings.bootstrap, self._place.jobs_directory, settings.log_directory)

    def _of_look(self, plan: QueryPlan, validated: Validated) -> Beginning:
        """Looks have names of their own, and nothing is stored under them."""
        starts = source_starts(validated)
        topics = Meaning.of(plan).topics.items()
        return Beginning(
            plan, starts={node: resolve_start(self._place.location(topic), starts[node]) for node, topic in topics}
        )
