"""Those that run Nexmark's queries: ours, PySpark by hand, Flink. Each measures its own processes, and before each run
the disk takes what earlier ones left to it."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from headrace.bench import nexmark_flink, processes
from headrace.bench.environments import python_with
from headrace.bench.nexmark_events import CLOSING_MS
from headrace.bench.nexmark_queries import Query
from headrace.bench.nexmark_results import Rows, canonical, require_equal, rows_of_files
from headrace.bench.nexmark_site import AuctionSite, Extent, Format
from headrace.bench.peers import Peer, Peers, tuned_spark_peer
from headrace.embedded import Local
from headrace.errors import JobFailed
from headrace.pipeline import Pipeline

FLINK_VERSION: Final = "2.3.0"
IDLE_TIMEOUT_S: Final = 600.0
SETTLED_S: Final = 0.4
POLL_S: Final = 0.02


@dataclass(frozen=True, slots=True)
class Figure:
    """Of one run over so many events."""

    events: int
    wall_s: float
    cpu_s: float

    @property
    def rate(self) -> float:
        return self.events / max(self.cpu_s, 1e-3)

    def without(self, start: Figure) -> Figure | None:
        """What is left when the start is taken off; None where that is nothing."""
        if self.cpu_s <= start.cpu_s or self.wall_s <= start.wall_s:
            return None
        return Figure(self.events, self.wall_s - start.wall_s, self.cpu_s - start.cpu_s)


class Engine(Protocol):
    @property
    def name(self) -> str:
        """What the report calls it."""

    def run(self, query: Query, extent: Extent, run: str, right: Rows | None) -> Figure | None:
        """None when it cannot run, which is said. Where `right` is given, raises JobFailed for other rows."""
        ...


@dataclass(frozen=True, slots=True)
class Ours:
    """From topics by SQL to a topic."""

    name: str
    home: Local
    site: AuctionSite
    peers: Peers
    format: Format

    def run(self, query: Query, extent: Extent, run: str, right: Rows | None) -> Figure:
        run = f"{run}-{self.format}"
        # Of one partition, so that the last of the rows of a key can be told.
        self.home.create_topic(run, partitions=1)
        created = f"CREATE STREAM result WITH (topic = '{run}') AS {query.sql};"
        pipeline = Pipeline.from_sql(f"{self.site.declarations(query, self.format, extent)}{created}", name=run)
        os.sync()
        began_s, used_s = time.monotonic(), self._cpu_s()
        self.home.start(pipeline)
        ended_s, cpu_s = self._settled(run)
        self.home.stop(run)
        if right is not None:
            require_equal(right, canonical(self.home.rows(run), query.keys), f"{run} of {self.name}")
        return Figure(self.site.event_count, ended_s - began_s, cpu_s - used_s)

    def _settled(self, run: str) -> tuple[float, float]:
        """When the last rows were out, and the CPU used by then. The micro-batch that closes windows has no rows to
        announce it, and others follow that do nothing: it is over when no more rows have come for a while."""
        last: tuple[int, ...] = (-1,)
        done = (0.0, 0.0)
        deadline_s = time.monotonic() + IDLE_TIMEOUT_S
        while (now_s := time.monotonic()) < deadline_s:
            self.home.wait_idle(run, deadline_s - now_s)
            queries = self.home.status(run).queries
            rows = tuple(count.rows_out_total for query in queries for count in query.nodes)
            if rows != last:
                last, done = rows, (time.monotonic(), self._cpu_s())
            elif time.monotonic() - done[0] > SETTLED_S:
                return done
            time.sleep(POLL_S)
        raise JobFailed(f"{run} was not done after {IDLE_TIMEOUT_S:.0f} s")

    def _cpu_s(self) -> float:
        """Of this process, which drives Spark, with the broker and Spark's workers; peers are its children too."""
        return processes.cpu_s(processes.tree(os.getpid())) - self.peers.all_cpu_s()


@dataclass(frozen=True, slots=True)
class PySpark:
    """By hand, from files to files."""

    site: AuctionSite
    peers: Peers
    directory: Path
    name: str = "pyspark"

    def run(self, query: Query, extent: Extent, run: str, right: Rows | None) -> Figure | None:
        place = self.directory / f"{run}-{self.name}"
        output = place / "rows"
        command = {"run": "nexmark", "query": query.name, "changes": query.is_changing, "output": str(output)}
        command = {**self.site.files(extent), **command, "checkpoint": str(place / "checkpoint")}
        figure = _figure(self.peers, self.name, command, self.site.event_count)
        if figure is not None and right is not None:
            require_equal(right, canonical(rows_of_files(output), query.keys), f"{run} of {self.name}")
        return figure


@dataclass(frozen=True, slots=True)
class Flink:
    """From files to nowhere; where rows are compared to files, as a batch if those cannot hold its changes."""

    site: AuctionSite
    peers: Peers
    directory: Path
    name: str = "flink"

    def run(self, query: Query, extent: Extent, run: str, right: Rows | None) -> Figure | None:
        output = None if right is None else self.directory / f"{run}-{self.name}"
        command = {
            **self.site.lines(extent),
            "sql": query.flink,
            "until": until_ms(query),
            "streaming": right is None or not query.is_changing,
            "output": None if output is None else str(output),
        }
        figure = _figure(self.peers, self.name, command, self.site.event_count)
        if figure is not None and output is not None and right is not None:
            require_equal(right, canonical(rows_of_files(output), query.keys), f"{run} of {self.name}")
        return figure


def until_ms(query: Query) -> int | None:
    """Rows from then on only close windows, and are in none of those."""
    return CLOSING_MS if query.is_windowed else None


def start_peer(name: str, directory: Path) -> Peer:
    """Raises ExternalFailure where it cannot be had."""
    if name != "flink":
        return tuned_spark_peer(name, directory)
    python = python_with("apache-flink", FLINK_VERSION)
    return Peer(name, [str(python), str(Path(nexmark_flink.__file__))], directory)


def _figure(peers: Peers, name: str, command: dict[str, Any], events: int) -> Figure | None:
    """None when the peer cannot run."""
    os.sync()
    used_s = peers.cpu_s(name)
    seconds = peers.ask(name, command)
    return None if seconds is None else Figure(events, seconds, peers.cpu_s(name) - used_s)
