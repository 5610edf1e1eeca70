"""The suite `chain`: serial operators with state, from a topic through Spark to a topic, and parts of a chain alone."""

from __future__ import annotations

import math
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from headrace.bench.chain_parts import PART_ITEMS, measure_parts
from headrace.bench.chain_rows import KEYS, PARTITIONS, SCHEMA, blocks, write_files
from headrace.bench.peers import Peers, Say
from headrace.bench.report import Report, Result
from headrace.bench.rows import ARROW_TOPIC_CONFIG, append_arrow
from headrace.embedded import Local, local
from headrace.errors import InvalidInput, JobFailed, did_you_mean
from headrace.pipeline import Pipeline
from headrace.wire.client import Client

TOPIC: Final = "rows"
MICRO_BATCHES: Final = 4
# In the second round Java has compiled what is hot, and workers are warm: it counts.
ROUNDS: Final = 2
IDLE_TIMEOUT_S: Final = 600.0
# What a peer gets, at once: it pays for every key of a micro-batch, whatever the key has. Before it, a few to warm up.
PEER_ROWS: Final = 400_000
PEER_WARM_ROWS: Final = 1_000
PEER_WORKS: Final = ("window-length", "two-step-10k-keys")
_STEPS: Final = {
    "window-length": 'length-window 1000 keys=k aggregates=["sum(x) AS s", "avg(x) AS a"]',
    "window-time": 'time-window "10 seconds" time=ts keys=k aggregates=["sum(x) AS s", "avg(x) AS a"]',
    "two-step-10k-keys": 'followed-by first="n > 900" then="n < 100" within="10 seconds" time=ts keys=k',
}
SPARK_ITEMS: Final = tuple(f"{item}{suffix}" for item in _STEPS for suffix in ("", "-shuffled"))
ITEMS: Final = (*SPARK_ITEMS, *PART_ITEMS)


@dataclass(frozen=True, slots=True)
class ChainSettings:
    """Raises InvalidInput for an item that does not exist."""

    row_count: int = 8_000_000
    items: tuple[str, ...] = ITEMS
    against: tuple[str, ...] = ("tws",)

    def __post_init__(self) -> None:
        for item in self.items:
            if item not in ITEMS:
                raise InvalidInput(f"unknown item {item!r}", valid=ITEMS, hint=did_you_mean(item, ITEMS))


def run_chain(settings: ChainSettings, say: Say) -> Report:
    """Everything it starts has ended afterwards, and its files are gone. Raises HeadraceError."""
    results: list[Result] = []
    wanted = [item for item in SPARK_ITEMS if item in settings.items]
    with tempfile.TemporaryDirectory(prefix="headrace-bench-", ignore_cleanup_errors=True) as directory:
        if wanted:
            with local(Path(directory) / "data") as home:
                records = _fill(home, settings.row_count, say)
                results += [_measure(home, item, settings.row_count, records, say) for item in wanted]
            results = _beside_peers(results, settings, Path(directory), say)
        found = [*results, *measure_parts(settings.items, Path(directory), say)]
    return Report("chain", tuple(result for result in found if result.name in settings.items))


def _beside_peers(results: list[Result], settings: ChainSettings, directory: Path, say: Say) -> list[Result]:
    """The same logic in `transformWithStateInPandas`, on fewer rows of the same kind: it is much slower."""
    peers = Peers(settings.against, directory / "peers", say)
    try:
        # A peer always moves rows by key: what it does is the same beside both forms of an item.
        works = dict.fromkeys(_work(result) for result in results)
        rates = {work: _rates(work, peers, directory, say) for work in works}
        return [replace(result, peers=rates[_work(result)]) for result in results]
    finally:
        peers.close()


def _work(result: Result) -> str:
    return result.name.removesuffix("-shuffled")


def _rates(work: str, peers: Peers, directory: Path, say: Say) -> dict[str, float]:
    """Rows per second of each peer that can do this work."""
    rates = {}
    for name in peers.names(("tws",) if work in PEER_WORKS else ()):
        for row_count in (PEER_WARM_ROWS, PEER_ROWS):
            place = directory / f"{work}-{name}-{row_count}"
            files = write_files(place / "in", row_count)
            command = {"run": "chain", "work": work, "schema": SCHEMA, "files_per_batch": files}
            places = {"path": str(place / "in"), "output": str(place / "out"), "checkpoint": str(place / "checkpoint")}
            seconds = peers.ask(name, {**command, **places})
            if seconds is not None:
                rates[name] = row_count / seconds
                say(f"{work} {name}: {rates[name]:,.0f} rows/s of {row_count:,}")
    return rates


def _fill(home: Local, row_count: int, say: Say) -> int:
    """Rows in Arrow format, partitioned by key, on disk afterwards. Returns how many records hold them."""
    say(f"writing {row_count:,} rows of {KEYS:,} keys")
    home.create_topic(TOPIC, partitions=PARTITIONS, config=ARROW_TOPIC_CONFIG)
    with Client(home.bootstrap, client_id="headrace-bench") as client:
        return sum(append_arrow(client, TOPIC, partition, rows) for partition, rows in blocks(row_count))


def _measure(home: Local, item: str, row_count: int, records: int, say: Say) -> Result:
    rate = 0.0
    for round_number in range(ROUNDS):
        run = f"{item}-{round_number}"
        home.create_topic(f"{run}-out", partitions=PARTITIONS, config=ARROW_TOPIC_CONFIG)
        rate = row_count / _seconds(home, item, run, row_count, records)
        say(f"{run}: {rate:,.0f} rows/s")
    return Result(item, "rows/s", rate)


def _seconds(home: Local, item: str, run: str, row_count: int, records: int) -> float:
    """From the start of the pipeline until it has committed everything. Raises JobFailed when it does not."""
    step = _STEPS[item.removesuffix("-shuffled")]
    partitioned = "by_key" if item.endswith("-shuffled") else "as_topic"
    text = (
        f'topic {TOPIC} schema="{SCHEMA}" format=arrow event_time=ts watermark="1 second"'
        f" max_rows_per_batch={math.ceil(records / MICRO_BATCHES)} as topic"
        f" ! {step} partitioned={partitioned} ! to-topic {run}-out format=arrow"
    )
    began_s = time.monotonic()
    home.start(Pipeline.from_text(text, name=run))
    done = home.wait_idle(run, IDLE_TIMEOUT_S)
    seconds = time.monotonic() - began_s
    read = {count.node: count.rows_out_total for query in home.stop(run).queries for count in query.nodes}
    if not done or read["topic"] != row_count:
        raise JobFailed(f"{run}: {read} rows of {row_count} after {seconds:.0f} s")
    return seconds
