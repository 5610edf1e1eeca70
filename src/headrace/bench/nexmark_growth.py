"""How the cost of Nexmark's queries grows: ten times the events, of ours alone, and the memory that they take."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Final

from headrace.bench import processes
from headrace.bench.nexmark import OURS, SPARK_CONF, NexmarkSettings, median
from headrace.bench.nexmark_engines import Figure, Ours, start_peer
from headrace.bench.nexmark_queries import Query, find_query
from headrace.bench.nexmark_site import AuctionSite, write_table
from headrace.bench.peers import Peers, Say
from headrace.bench.report import Report, Result
from headrace.embedded import local

GROWTH: Final = 10
# Of the smaller size, whose runs take a second or two.
ROUNDS: Final = 3


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
    """By the clock, from the start of a query that has run before to its last commit; and without what a start and its
    first micro-batch take, which makes the smaller run look cheaper than its share of the larger one."""
    one.run(query, "all", f"{query.name}-warm", None)
    small = median([one.run(query, "all", f"{query.name}-{number}", None) for number in range(ROUNDS)])
    start = median([one.run(query, "few", f"{query.name}-{number}-few", None) for number in range(ROUNDS)])
    before_mb = _memory_mb()
    large = ten.run(query, "all", f"{query.name}-ten", None)
    after_mb = _memory_mb()
    time, cpu = _ratios(small, large)
    bare_time, bare_cpu = _ratios(small.without(start) or small, large.without(start) or large)
    without = f"without starts {bare_time:.1f} × the time and {bare_cpu:.1f} × the CPU"
    memory = f"{before_mb:,.0f} → {after_mb:,.0f} MB"
    say(f"{query.name}: {GROWTH} × the events take {time:.1f} × the time and {cpu:.1f} × the CPU; {without}; {memory}")
    return Result(f"{query.name}-growth", "× time", time, note=f"{cpu:.1f} × CPU; {without}; {memory}")


def _ratios(small: Figure, large: Figure) -> tuple[float, float]:
    return large.wall_s / small.wall_s, large.cpu_s / small.cpu_s


def _memory_mb() -> float:
    """Of all our processes."""
    return processes.proportional_mb(processes.tree(os.getpid()))
