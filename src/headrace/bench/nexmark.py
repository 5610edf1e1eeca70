"""The suite `nexmark`: the queries of the auction site, ours from topics by SQL beside engines that read files."""

from __future__ import annotations

import json
import math
import os
import statistics
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from headrace.bench import nexmark_flink, processes
from headrace.bench import rows as data
from headrace.bench.environments import python_with
from headrace.bench.names import check_names
from headrace.bench.nexmark_events import (
    CLOSING_MS,
    EVENTS_PER_GROUP,
    SCHEMAS,
    SIDE_INPUT,
    SIDE_SCHEMA,
    STREAMS,
    Events,
    Stream,
    side_input,
)
from headrace.bench.nexmark_queries import NAMES, Query, find_query
from headrace.bench.nexmark_results import Row, canonical, require_equal, rows_of_files
from headrace.bench.peers import Peer, Peers, Say, tuned_spark_peer
from headrace.bench.report import Report, Result
from headrace.embedded import Local, local
from headrace.errors import InvalidInput, JobFailed
from headrace.pipeline import Pipeline
from headrace.wire.client import Client

PEERS: Final = ("pyspark", "flink")
FLINK_VERSION: Final = "2.3.0"
UNIT: Final = "events/CPU-s"
EVENTS: Final = 300_000
EVENTS_FULL: Final = 2_000_000
# Java compiles what is hot only in the second round: the first one never counts.
ROUNDS: Final = 2
ROUNDS_FULL: Final = 4
IDLE_TIMEOUT_S: Final = 600.0
SETTLED_S: Final = 1.0
POLL_S: Final = 0.02

_DECLARATION: Final = (
    "CREATE STREAM {stream} ({columns}, WATERMARK FOR dateTime AS dateTime - INTERVAL '4' SECOND) "
    "WITH (topic = '{stream}-{format}', format = '{format}', max_rows_per_batch = {records_per_batch});\n"
)
SIDE_DECLARATION: Final = "CREATE TABLE side_input (key BIGINT PRIMARY KEY, value STRING);\n"


@dataclass(frozen=True, slots=True)
class NexmarkSettings:
    """Raises InvalidInput for a query or a peer that does not exist, or for events that are no whole groups."""

    queries: tuple[str, ...] = NAMES
    against: tuple[str, ...] = ("pyspark",)
    events: int = EVENTS
    rounds: int = ROUNDS

    @classmethod
    def of(
        cls, queries: tuple[str, ...], against: tuple[str, ...], events: int | None, *, full: bool
    ) -> NexmarkSettings:
        count, rounds = (EVENTS_FULL, ROUNDS_FULL) if full else (EVENTS, ROUNDS)
        return cls(queries or NAMES, against, events or count, rounds)

    def __post_init__(self) -> None:
        check_names("query", self.queries, NAMES)
        check_names("peer", self.against, PEERS)
        if self.events % EVENTS_PER_GROUP:
            raise InvalidInput(f"{self.events} events are no multiple of {EVENTS_PER_GROUP}")


@dataclass(frozen=True, slots=True)
class Measured:
    """A query, and its rate from topics in Arrow format."""

    result: Result
    arrow_rate: float


@dataclass(frozen=True, slots=True)
class Figure:
    """Of one run over so many events."""

    events: int
    wall_s: float
    cpu_s: float

    @property
    def rate(self) -> float:
        return self.events / max(self.cpu_s, 1e-3)


def run_nexmark(settings: NexmarkSettings, say: Say) -> Report:
    """Everything it starts has ended afterwards, and its files are gone. Raises HeadraceError."""
    with ExitStack() as stack:
        temporary = tempfile.TemporaryDirectory(prefix="headrace-bench-", ignore_cleanup_errors=True)
        directory = Path(stack.enter_context(temporary))
        # What is right comes from PySpark as well, whoever is compared with.
        wanted = tuple(dict.fromkeys(("pyspark", *settings.against)))
        peers = Peers(wanted, directory / "peers", say, start=_start_peer)
        stack.callback(peers.close)
        home = stack.enter_context(local(directory / "data", spark_conf={"spark.sql.session.timeZone": "UTC"}))
        site = AuctionSite(home, peers, directory, settings, say)
        site.prepare()
        found = [site.measure(find_query(name)) for name in settings.queries]
    return Report("nexmark", (*(measured.result for measured in found), *_geometric_means(found)))


class AuctionSite:
    """The same events in topics and in files; every side reads them in the same number of micro-batches."""

    def __init__(self, home: Local, peers: Peers, directory: Path, settings: NexmarkSettings, say: Say) -> None:
        self._home = home
        self._peers = peers
        self._directory = directory
        self._settings = settings
        self._events = Events(settings.events)
        self._say = say
        # Of each stream in each format: an Arrow record has many rows.
        self._record_counts: Counter[tuple[Stream, str]] = Counter()

    def prepare(self) -> None:
        """All events are written afterwards, and on disk."""
        self._say(f"writing {self._events.count:,} events to topics and files")
        with Client(self._home.bootstrap, client_id="headrace-bench") as client:
            for stream in STREAMS:
                folder = self._files / stream
                folder.mkdir(parents=True)
                self._home.create_topic(f"{stream}-json", partitions=data.PARTITIONS)
                self._home.create_topic(f"{stream}-arrow", partitions=data.PARTITIONS, config=data.ARROW_TOPIC_CONFIG)
                for block in self._events.blocks(stream):
                    data.write_file(block, folder)
                    self._append_text(stream, block)
                    data.append_values(client, f"{stream}-json", block.partition, data.json_values(block.rows))
                    self._record_counts[stream, "json"] += block.rows.num_rows
                    records = data.append_arrow(client, f"{stream}-arrow", block.partition, block.rows)
                    self._record_counts[stream, "arrow"] += records
        self._prepare_side_input()

    def _append_text(self, stream: Stream, block: data.Block) -> None:
        """For Flink, which reads the files of a folder in any order: one for each partition; and a few rows alone."""
        lines = [f"{line}\n" for line in data.json_values(block.rows).to_pylist()]
        for files, chosen in ((self._files_of_flink, lines), (self._first_files_of_flink, lines[:1])):
            (files / stream).mkdir(parents=True, exist_ok=True)
            with (files / stream / f"{block.partition}.json").open("a") as file:
                file.writelines(chosen)

    def _prepare_side_input(self) -> None:
        rows = side_input()
        self._home.create_topic(SIDE_INPUT, config={"cleanup.policy": "compact"})
        self._home.produce(SIDE_INPUT, rows, key="key")
        for files in (self._files, self._files_of_flink, self._first_files_of_flink):
            (files / SIDE_INPUT).mkdir()
            (files / SIDE_INPUT / "0.json").write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    def measure(self, query: Query) -> Measured:
        """Raises JobFailed for rows that are not right."""
        name, right = query.name, self._right(query)
        ours: list[Figure] = []
        from_arrow: list[Figure] = []
        theirs: dict[str, list[Figure]] = {}
        for number in range(self._settings.rounds):
            run = f"{name}-{number}"
            ours.append(self._ours(run, query, right, "json"))
            from_arrow.append(self._ours(f"{run}-arrow", query, right, "arrow"))
            for peer in self._peers.names(tuple(peer for peer in self._settings.against if peer not in query.without)):
                is_flink, is_first = peer == "flink", number == 0
                figure = (
                    self._flinks(query, right if is_first else None) if is_flink else self._sparks(run, query, right)
                )
                if figure is not None:
                    theirs.setdefault(peer, []).append(figure)
        figures = {peer: _rate(found) for peer, found in theirs.items()}
        rates = {"ours": _rate(ours), "ours from Arrow": _rate(from_arrow), **figures}
        told = [f"{who} {figure:,.0f}" for who, figure in rates.items()]
        self._say(f"{name}: {', '.join(told)} {UNIT}")
        wall = statistics.median(figure.events / figure.wall_s for figure in ours[1:] or ours)
        return Measured(Result(name, UNIT, _rate(ours), figures, note=f"{wall:,.0f} events/s"), _rate(from_arrow))

    def _right(self, query: Query) -> Counter[Row]:
        output = self._directory / "right" / query.name
        until_ms = CLOSING_MS if query.is_windowed else None
        command = {"run": "nexmark-reference", "sql": query.reference, "until": until_ms, "output": str(output)}
        if self._peers.ask("pyspark", {**self._of_files(), **command}) is None:
            raise JobFailed(f"nobody can say what is right for {query.name}")
        return canonical(rows_of_files(output), query.keys)

    def _ours(self, run: str, query: Query, right: Counter[Row], format_: str) -> Figure:
        # Of one partition, so that the last of the rows of a key can be told.
        self._home.create_topic(run, partitions=1)
        pipeline = Pipeline.from_sql(f"{self._declarations(format_)}{_created(run, query)}", name=run)
        began_s, used_s = time.monotonic(), self._own_cpu_s()
        self._home.start(pipeline)
        ended_s, cpu_s = self._settled(run)
        self._home.stop(run)
        require_equal(right, canonical(self._home.rows(run), query.keys), f"{run} of ours")
        return Figure(self._read(query), ended_s - began_s, cpu_s - used_s)

    def _sparks(self, run: str, query: Query, right: Counter[Row]) -> Figure | None:
        peer = "pyspark"
        place = self._directory / f"{run}-{peer}"
        output = place / "rows"
        command = {"run": "nexmark", "query": query.name, "changes": query.is_changing, "output": str(output)}
        figure = self._figure(query, peer, {**self._of_files(), **command, "checkpoint": str(place / "checkpoint")})
        if figure is not None:
            require_equal(right, canonical(rows_of_files(output), query.keys), f"{run} of {peer}")
        return figure

    def _flinks(self, query: Query, right: Counter[Row] | None) -> Figure | None:
        """In the first round rows are compared with what is right, of a batch where a file cannot hold changes. Later
        they go nowhere, and what the same takes for hardly any rows is taken off: Flink starts a cluster every time."""
        until_ms = CLOSING_MS if query.is_windowed else None
        command = {**self._of_files(), "path": str(self._files_of_flink), "sql": query.flink, "until": until_ms}
        if right is not None:
            output = self._directory / f"{query.name}-flink"
            figure = self._figure(
                query, "flink", {**command, "streaming": not query.is_changing, "output": str(output)}
            )
            if figure is not None:
                require_equal(right, canonical(rows_of_files(output), query.keys), f"{query.name} of flink")
            return figure
        command |= {"streaming": True, "output": None}
        start = self._figure(query, "flink", {**command, "path": str(self._first_files_of_flink)})
        figure = self._figure(query, "flink", command)
        if start is None or figure is None:
            return None
        if figure.cpu_s <= start.cpu_s or figure.wall_s <= start.wall_s:
            self._say(f"{query.name}: too few events to tell the work of flink from its start")
            return None
        return Figure(figure.events, figure.wall_s - start.wall_s, figure.cpu_s - start.cpu_s)

    def _figure(self, query: Query, peer: str, command: dict[str, Any]) -> Figure | None:
        """None when the peer cannot run."""
        used_s = self._peers.cpu_s(peer)
        seconds = self._peers.ask(peer, command)
        return None if seconds is None else Figure(self._read(query), seconds, self._peers.cpu_s(peer) - used_s)

    def _settled(self, run: str) -> tuple[float, float]:
        """When the last rows were out, and the CPU used by then. The micro-batch that closes windows has no rows to
        announce it, and others follow that do nothing: it is over when no more rows have come for a while."""
        last: tuple[int, ...] = (-1,)
        done = (0.0, 0.0)
        deadline_s = time.monotonic() + IDLE_TIMEOUT_S
        while (now_s := time.monotonic()) < deadline_s:
            self._home.wait_idle(run, deadline_s - now_s)
            queries = self._home.status(run).queries
            rows = tuple(count.rows_out_total for query in queries for count in query.nodes)
            if rows != last:
                last, done = rows, (time.monotonic(), self._own_cpu_s())
            elif time.monotonic() - done[0] > SETTLED_S:
                return done
            time.sleep(POLL_S)
        raise JobFailed(f"{run} was not done after {IDLE_TIMEOUT_S:.0f} s")

    def _own_cpu_s(self) -> float:
        """Of this process, which drives Spark, with the broker and Spark's workers; peers are its children too."""
        return processes.cpu_s(processes.tree(os.getpid())) - self._peers.all_cpu_s()

    def _declarations(self, format_: str) -> str:
        streams = [
            _DECLARATION.format(
                stream=stream,
                columns=SCHEMAS[stream],
                format=format_,
                records_per_batch=math.ceil(self._record_counts[stream, format_] / data.MICRO_BATCHES),
            )
            for stream in STREAMS
        ]
        return "".join((*streams, SIDE_DECLARATION))

    def _read(self, query: Query) -> int:
        return sum(self._events.rows_of(stream) for stream in query.reads)

    def _of_files(self) -> dict[str, Any]:
        return {
            "path": str(self._files),
            "schemas": {**SCHEMAS, SIDE_INPUT: SIDE_SCHEMA},
            "files_per_batch": data.PARTITIONS,
        }

    @property
    def _files(self) -> Path:
        return self._directory / "files"

    @property
    def _files_of_flink(self) -> Path:
        return self._directory / "files-of-flink"

    @property
    def _first_files_of_flink(self) -> Path:
        return self._directory / "first-files-of-flink"


def _start_peer(name: str, directory: Path) -> Peer:
    """Raises ExternalFailure where it cannot be had."""
    if name != "flink":
        return tuned_spark_peer(name, directory)
    python = python_with("apache-flink", FLINK_VERSION)
    return Peer(name, [str(python), str(Path(nexmark_flink.__file__))], directory)


def _created(run: str, query: Query) -> str:
    return f"CREATE STREAM result WITH (topic = '{run}') AS {query.sql};"


def _rate(figures: list[Figure]) -> float:
    """The median of all rounds but the first, which warms up."""
    return statistics.median(figure.rate for figure in figures[1:] or figures)


def _geometric_means(found: list[Measured]) -> list[Result]:
    """Over the queries that every peer ran, so that the same is compared."""
    peers = {peer for measured in found for peer in measured.result.peers}
    shared = [measured for measured in found if measured.result.peers.keys() == peers]
    if not shared:
        return []
    theirs = {peer: statistics.geometric_mean(measured.result.peers[peer] for measured in shared) for peer in peers}
    ours = statistics.geometric_mean(measured.result.ours for measured in shared)
    from_arrow = statistics.geometric_mean(measured.arrow_rate for measured in shared)
    return [Result("geomean", UNIT, ours, theirs), Result("geomean-arrow", UNIT, from_arrow, theirs)]
