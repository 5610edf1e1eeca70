"""What a start decides: where each query begins. It is written down in the ledger before any of them runs."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from headrace.errors import HeadraceError
from headrace.graph.document import Document
from headrace.graph.validation import Validated
from headrace.operators import Catalogue
from headrace.spark.jobs.beginning import Begin, Beginning, Locate, Places, begun, succession
from headrace.spark.jobs.ledger import Ledger, read_ledger, write_ledger
from headrace.spark.writing.commit import commit_topic
from headrace.wire.client import Client


@dataclass(frozen=True, slots=True)
class Decision:
    """The queries of one start, and the ledger with and without them."""

    pipeline: str
    beginnings: tuple[Beginning, ...]
    ledger: Ledger
    before: Ledger | None


@dataclass(frozen=True, slots=True)
class Decisions:
    """Of all pipelines of an engine. `versions` are the versions that a pipeline has, newest first."""

    bootstrap: str
    jobs_directory: Path
    log_directory: Path | None
    locate: Locate
    versions: Callable[[str], Iterable[Document]]

    def made(
        self,
        validated: Validated,
        catalogue: Catalogue,
        *,
        begin: Begin | None = None,
        reset: bool = False,
        resumed: bool = False,
    ) -> Decision:
        """Nothing is written by it. `resumed`: the version ran before a crash.

        Raises NeedsBegin, NotFound (a topic), InvalidInput, ExternalFailure, CorruptData.
        """
        pipeline = validated.document.name
        with self._client() as client:
            places = Places(client, self.jobs_directory, self.log_directory, lambda: self.versions(pipeline))
            found = succession(validated, catalogue, places, resumed=resumed)
        ledger, beginnings = begun(found, self.locate, source_starts(validated), begin=begin, reset=reset)
        return Decision(pipeline, beginnings, ledger, read_ledger(self.jobs_directory, pipeline))

    def write(self, decision: Decision) -> None:
        """On disk when this returns. Raises DiskFailure."""
        write_ledger(self.jobs_directory, decision.pipeline, decision.ledger)

    def take_back(self, decision: Decision) -> None:
        """Called when the start failed: what ran before can go on as if nobody had tried."""
        if decision.before is not None:
            write_ledger(self.jobs_directory, decision.pipeline, decision.before)

    def settle(self, decision: Decision) -> None:
        """Called when all queries run: removes what others left that nothing can go back to any more."""
        self._forget(decision.pipeline, decision.before, decision.ledger)

    def release(self, pipeline: str) -> None:
        """Called when a pipeline is deleted."""
        before = read_ledger(self.jobs_directory, pipeline)
        if before is not None:
            # Names are not given again: files that were written have them.
            ledger = Ledger(numbers=before.numbers)
            write_ledger(self.jobs_directory, pipeline, ledger)
            self._forget(pipeline, before, ledger)

    def _forget(self, pipeline: str, before: Ledger | None, now: Ledger) -> None:
        names = frozenset() if before is None else before.names - now.names
        if not names:
            return
        # What stays behind while the broker is away is small.
        with suppress(HeadraceError), self._client() as client:
            topics = {commit_topic(f"{pipeline}.{name}") for name in names}
            client.delete_topics(topics & client.metadata(topics).topics.keys())
        for name in names:
            shutil.rmtree(self.jobs_directory / pipeline / name, ignore_errors=True)

    def _client(self) -> Client:
        return Client(self.bootstrap, client_id="headrace-engine")


def source_starts(validated: Validated) -> dict[str, str]:
    """Source node → where its settings say that reading begins."""
    topics = (node.id for node in validated.document.nodes if node.operator == "topic")
    return {node: str(validated.configs[node].start) for node in topics}
