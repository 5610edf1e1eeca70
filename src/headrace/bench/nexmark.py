"""The suite `nexmark`: the queries of the auction site, ours from topics by SQL beside engines that read files."""

from __future__ import annotations

import statistics
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headrace.bench.names import check_names
from headrace.bench.nexmark_engines import Engine, Figure, Flink, Ours, PySpark, start_peer, until_ms
from headrace.bench.nexmark_events import EVENTS_PER_GROUP
from headrace.bench.nexmark_queries import NAMES, Query, find_query
from headrace.bench.nexmark_results import Rows, canonical, rows_of_files
from headrace.bench.nexmark_site import AuctionSite, write_table
from headrace.bench.peers import Peers, Say
from headrace.bench.report import Report, Result
from headrace.embedded import local
from headrace.errors import InvalidInput, JobFailed

PEERS: Final = ("pyspark", "flink")
UNIT: Final = "events/CPU-s"
EVENTS: Final = 300_000
EVENTS_FULL: Final = 2_000_000
# Rounds that count; before them is one that does not, for Java compiles what is hot only in the second.
ROUNDS: Final = 1
ROUNDS_FULL: Final = 3
# One more for an engine that took less than this: of short runs one says little.
SHORT_S: Final = 2.5
SPARK_CONF: Final = {"spark.sql.session.timeZone": "UTC"}

OURS: Final = "ours"
OURS_ARROW: Final = "ours from Arrow"


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


def run_nexmark(settings: NexmarkSettings, say: Say) -> Report:
    """Everything it starts has ended afterwards, and its files are gone. Raises HeadraceError."""
    with ExitStack() as stack:
        temporary = tempfile.TemporaryDirectory(prefix="headrace-bench-", ignore_cleanup_errors=True)
        directory = Path(stack.enter_context(temporary))
        # What is right comes from PySpark as well, whoever is compared with.
        wanted = tuple(dict.fromkeys(("pyspark", *settings.against)))
        peers = Peers(wanted, directory / "peers", say, start=start_peer)
        stack.callback(peers.close)
        home = stack.enter_context(local(directory / "data", spark_conf=SPARK_CONF))
        write_table(home)
        site = AuctionSite(home, directory / "events", settings.events, say)
        site.prepare()
        engines: list[Engine] = [Ours(OURS, home, site, peers, "json"), Ours(OURS_ARROW, home, site, peers, "arrow")]
        those: dict[str, Engine] = {"pyspark": PySpark(site, peers, directory), "flink": Flink(site, peers, directory)}
        engines += [those[name] for name in settings.against]
        race = Race(engines, site, peers, directory, settings.rounds, say)
        found = [race.measure(find_query(name)) for name in settings.queries]
    return Report("nexmark", (*map(_result, found), *_geometric_means(found)))


@dataclass(frozen=True, slots=True)
class Measured:
    """Of one query: a figure for each engine that could run it."""

    query: str
    figures: dict[str, Figure]

    @property
    def ours(self) -> Figure:
        return self.figures[OURS]

    @property
    def peers(self) -> dict[str, float]:
        return {name: figure.rate for name, figure in self.figures.items() if name in PEERS}


@dataclass(frozen=True, slots=True)
class Race:
    """All engines by turns, in every round over the same events."""

    engines: list[Engine]
    site: AuctionSite
    peers: Peers
    directory: Path
    rounds: int
    say: Say

    def measure(self, query: Query) -> Measured:
        """The rows of everybody's first run are compared with what is right. Raises JobFailed where they differ."""
        right = self._right(query)
        engines = [engine for engine in self.engines if engine.name not in query.without]
        # From Arrow the same plan runs as from JSON: its start is the same, and it is warm when that has run.
        plans = [engine for engine in engines if engine.name != OURS_ARROW]
        runs: dict[str, list[Figure]] = {engine.name: [] for engine in engines}
        starts: dict[str, list[Figure]] = {engine.name: [] for engine in plans}
        for engine in plans:
            engine.run(query, "all", f"{query.name}-warm", right)
        for number in range(self.rounds + 1):
            for engine in engines if number < self.rounds else self._short(plans, runs):
                is_new = engine.name == OURS_ARROW and number == 0
                figure = engine.run(query, "all", f"{query.name}-{number}", right if is_new else None)
                runs[engine.name] += [] if figure is None else [figure]
                if engine in plans:
                    start = engine.run(query, "few", f"{query.name}-{number}-few", None)
                    starts[engine.name] += [] if start is None else [start]
        starts[OURS_ARROW] = starts[OURS]
        figures = {name: self._net(name, median(rounds), starts[name]) for name, rounds in runs.items() if rounds}
        told = [f"{name} {figure.rate:,.0f}" for name, figure in figures.items()]
        self.say(f"{query.name}: {', '.join(told)} {UNIT}")
        return Measured(query.name, figures)

    @staticmethod
    def _short(plans: list[Engine], runs: dict[str, list[Figure]]) -> list[Engine]:
        """Those whose runs took so little time that one more is to be made."""
        return [engine for engine in plans if sum(figure.wall_s for figure in runs[engine.name]) < SHORT_S]

    def _net(self, name: str, figure: Figure, starts: list[Figure]) -> Figure:
        """Without what hardly any events take; where that is not less, with it."""
        net = figure.without(median(starts)) if starts else None
        if net is None:
            self.say(f"too few events to tell the work of {name} from its start: both count")
        return net or figure

    def _right(self, query: Query) -> Rows:
        output = self.directory / "right" / query.name
        asked = {"run": "nexmark-reference", "sql": query.reference, "until": until_ms(query), "output": str(output)}
        if self.peers.ask("pyspark", {**self.site.files("all"), **asked}) is None:
            raise JobFailed(f"nobody can say what is right for {query.name}")
        return canonical(rows_of_files(output), query.keys)


def median(rounds: list[Figure]) -> Figure:
    """Of CPU and of time, each for itself."""
    cpu_s, wall_s = (
        statistics.median(times) for times in zip(*((one.cpu_s, one.wall_s) for one in rounds), strict=True)
    )
    return Figure(rounds[0].events, wall_s, cpu_s)


def _result(measured: Measured) -> Result:
    wall = measured.ours.events / measured.ours.wall_s
    return Result(measured.query, UNIT, measured.ours.rate, measured.peers, note=f"{wall:,.0f} events/s")


def _geometric_means(found: list[Measured]) -> list[Result]:
    """Over the queries that every peer ran, so that the same is compared."""
    names = {name for measured in found for name in measured.peers}
    shared = [measured for measured in found if measured.peers.keys() == names]
    if not shared:
        return []
    theirs = {name: statistics.geometric_mean(measured.peers[name] for measured in shared) for name in names}
    ours = {
        item: statistics.geometric_mean(measured.figures[name].rate for measured in shared)
        for item, name in (("geomean", OURS), ("geomean-arrow", OURS_ARROW))
    }
    return [Result(item, UNIT, rate, theirs) for item, rate in ours.items()]
