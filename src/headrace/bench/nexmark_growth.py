"""How the cost of Nexmark's queries grows: ten times the events, of ours alone, and the memory that they take."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Final

from headrace.bench import processes
from headrace.bench.nexmark import OURS, SPARK_CONF, NexmarkSettings
from headrace.bench.nexmark_engines import Figure, Ours, start_peer
from headrace.bench.nexmark_queries import Query, find_query
from headrace.bench.nexmark_site import AuctionSite, Extent, write_table
from headrace.bench.peers import Peers, Say
from headrace.bench.report import Report, Result
from headrace.embedded import local

GROWTH: Final = 10
ROUNDS: Final = 4
ROUNDS_TENFOLD: Final = 2


def run_growth(settings: NexmarkSettings, say: Say) -> Report:
    """Everything it starts has ended afterwards, and its files are gone. Raises HeadraceError."""
    with (
        tempfile.TemporaryDirectory(prefix="headrace-bench-", ignore_cleanup_errors=True) as temporary,
        local(Path(temporary) / "data", spark_conf=SPARK_CONF) as home,
    ):
        directory = Path(temporary)
        nobody = Peers((), directory / "peers", say, start=start_peer)
        write_table(home)
        sizes: list[Ours] = []
        for name, count in (("events", settings.events), ("tenfold", GROWTH * settings.events)):
            site = AuctionSite(home, directory / name, count, say, alone=True)
            site.prepare()
            sizes.append(Ours(OURS, home, site, nobody, "json"))
        results = [_growth(find_query(name), sizes[0], sizes[1], say) for name in settings.queries]
    return Report("nexmark-growth", tuple(results))


def _growth(query: Query, one: Ours, ten: Ours, say: Say) -> Result:
    """By the clock, from the start of a query that has run before to its last commit, without what a start takes."""
    one.run(query, "all", f"{query.name}-warm", None)
    starts = _best(query, one, "few", ROUNDS)
    before = _best(query, one, "all", ROUNDS)
    before_mb = _memory_mb()
    after = _best(query, ten, "all", ROUNDS_TENFOLD)
    after_mb = _memory_mb()
    small, large = before.without(starts) or before, after.without(starts) or after
    time, cpu = large.wall_s / small.wall_s, large.cpu_s / small.cpu_s
    memory = f"{before_mb:,.0f} → {after_mb:,.0f} MB"
    say(f"{query.name}: {GROWTH} × the events take {time:.1f} × the time and {cpu:.1f} × the CPU, {memory}")
    return Result(f"{query.name}-growth", "× time", time, note=f"{cpu:.1f} × CPU, {memory}")


def _best(query: Query, ours: Ours, extent: Extent, rounds: int) -> Figure:
    """The fastest of several runs: what else the machine does only adds to them."""
    size = ours.site.event_count
    runs = [ours.run(query, extent, f"{query.name}-{size}-{extent}-{number}", None) for number in range(rounds)]
    return min(runs, key=lambda run: run.wall_s)


def _memory_mb() -> float:
    """Of all our processes."""
    return processes.proportional_mb(processes.tree(os.getpid()))
