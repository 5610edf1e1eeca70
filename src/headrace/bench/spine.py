"""The suite `spine`: from the log through Spark to a topic, and the whole stack's memory and start."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headrace.bench.latency import PERCENTILES, measure_latency
from headrace.bench.names import check_names
from headrace.bench.peers import CONFS, Peers, Say
from headrace.bench.rates import WORKS, Rates
from headrace.bench.report import Report, Result
from headrace.bench.stack import measure_broker, measure_stack
from headrace.embedded import local

BROKER_ITEM: Final = "broker-resident"
STACK_ITEMS: Final = ("up-resident", "ready", "first-result", "recovery")
ITEMS: Final = (*(work.item for work in WORKS), *PERCENTILES, BROKER_ITEM, *STACK_ITEMS)
DEFAULT_PEERS: Final = ("pyspark", "pyspark-kafka")


@dataclass(frozen=True, slots=True)
class SpineSettings:
    """Raises InvalidInput for an item or a peer that does not exist."""

    row_count: int = 2_000_000
    items: tuple[str, ...] = ITEMS
    against: tuple[str, ...] = DEFAULT_PEERS

    def __post_init__(self) -> None:
        check_names("item", self.items, ITEMS)
        check_names("peer", self.against, tuple(CONFS))

    def any_of(self, items: tuple[str, ...]) -> bool:
        return any(item in self.items for item in items)


def run_spine(settings: SpineSettings, say: Say) -> Report:
    """Everything it starts has ended afterwards, and its files are gone. Raises HeadraceError."""
    with ExitStack() as stack:
        temporary = tempfile.TemporaryDirectory(prefix="headrace-bench-", ignore_cleanup_errors=True)
        directory = Path(stack.enter_context(temporary))
        results = [*_on_spark(settings, directory, say), *_as_processes(settings, directory, say)]
    return Report("spine", tuple(result for result in results if result.name in settings.items))


def _on_spark(settings: SpineSettings, directory: Path, say: Say) -> list[Result]:
    works = [work for work in WORKS if work.item in settings.items]
    timed = settings.any_of(tuple(PERCENTILES))
    if not works and not timed:
        return []
    results: list[Result] = []
    with ExitStack() as stack:
        peers = Peers(settings.against, directory / "peers", say)
        stack.callback(peers.close)
        home = stack.enter_context(local(directory / "data"))
        if works:
            rates = Rates(home, peers, directory / "rates", settings.row_count, say)
            rates.prepare()
            results += [rates.measure(work) for work in works]
        if timed:
            results += measure_latency(home, peers, directory / "latency", say)
    return results


def _as_processes(settings: SpineSettings, directory: Path, say: Say) -> list[Result]:
    results: list[Result] = []
    if BROKER_ITEM in settings.items:
        results.append(measure_broker(directory / "broker"))
    if settings.any_of(STACK_ITEMS):
        results += measure_stack(directory / "up", say)
    return results
