"""The suite `brc`: minimum, mean and maximum of a temperature for each of 408 stations, as in the "1BRC" challenge."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

import numpy as np
import pyarrow as pa

from headrace.bench.names import check_names
from headrace.bench.peers import Peers, Say
from headrace.bench.report import Report, Result
from headrace.bench.rows import ARROW_TOPIC_CONFIG, append_arrow, append_values
from headrace.bench.table_peers import PEERS, start_peer
from headrace.embedded import Local, local
from headrace.errors import JobFailed
from headrace.formats import ValueFormat, encoder
from headrace.pipeline import Pipeline
from headrace.wire.client import Client

STATIONS: Final = 408
PARTITIONS: Final = 2
BLOCK_ROWS: Final = 250_000
SEED: Final = 7
# Java compiles what is hot only in the second round; the last one counts, for every side.
ROUNDS: Final = 3
MEAN_TOLERANCE: Final = 1e-9

SIZES: Final = {"rows-1m": 1_000_000, "rows-10m": 10_000_000}
PLACES: Final = ("log", "arrow", "csv")
ITEMS: Final = tuple(size if place == "log" else f"{size}-{place}" for size in SIZES for place in PLACES)

_SCHEMA: Final = "station STRING, temperature DOUBLE"
_STEP: Final = (
    'aggregate "min(temperature) AS min" "avg(temperature) AS mean" "max(temperature) AS max" keys=["station"]'
)

Found: TypeAlias = dict[str, tuple[float, float, float]]


@dataclass(frozen=True, slots=True)
class BrcSettings:
    """Raises InvalidInput for an item or a peer that does not exist."""

    items: tuple[str, ...] = ITEMS
    against: tuple[str, ...] = PEERS
    row_count: int | None = None
    """Instead of the rows that an item's name says, to try it out."""

    def __post_init__(self) -> None:
        check_names("item", self.items, ITEMS)
        check_names("peer", self.against, PEERS)


def run_brc(settings: BrcSettings, say: Say) -> Report:
    """Everything it starts has ended afterwards, and its files are gone. Raises HeadraceError."""
    results: list[Result] = []
    with ExitStack() as stack:
        temporary = tempfile.TemporaryDirectory(prefix="headrace-bench-", ignore_cleanup_errors=True)
        directory = Path(stack.enter_context(temporary))
        peers = Peers(settings.against, directory / "peers", say, start=start_peer)
        stack.callback(peers.close)
        home = stack.enter_context(local(directory / "data"))
        for size, row_count in SIZES.items():
            wanted = [item for item in settings.items if item == size or item.startswith(f"{size}-")]
            if wanted:
                challenge = Challenge(home, peers, directory, settings.row_count or row_count, say)
                results += challenge.measure(size, wanted)
    return Report("brc", tuple(results))


class Challenge:
    """The same rows in topics and in files, for ours and the peers by turns."""

    def __init__(self, home: Local, peers: Peers, directory: Path, row_count: int, say: Say) -> None:
        self._home = home
        self._peers = peers
        self._directory = directory
        self._row_count = row_count
        self._say = say

    def measure(self, size: str, items: list[str]) -> list[Result]:
        """Raises JobFailed where ours or a peer comes to another result than the rest."""
        self._prepare(size)
        theirs: dict[str, float] = {}
        agreed: Found | None = None
        for peer in self._peers.names(PEERS):
            for _ in range(ROUNDS):
                answer = self._peers.ask(peer, {"run": "brc", "path": str(self._files(size))})
                if answer is not None:
                    theirs[peer] = self._row_count / answer["seconds"]
                    agreed = agree(agreed, found_of(answer["rows"]), peer)
            self._say(f"{size}: {peer} {theirs.get(peer, math.nan):,.0f} rows/s")
        return [self._ours(size, item, theirs, agreed) for item in items]

    def _ours(self, size: str, item: str, theirs: dict[str, float], agreed: Found | None) -> Result:
        seconds = math.inf
        for round_number in range(ROUNDS):
            output = f"{item}-out-{round_number}"
            text = f"{self._source(size, item)} ! {_STEP} ! to-topic {output}"
            began_s = time.monotonic()
            self._home.run_batch(Pipeline.from_text(text, name=f"{item}-{round_number}"))
            seconds = time.monotonic() - began_s
            rows = [(row["station"], row["min"], row["mean"], row["max"]) for row in self._home.rows(output)]
            agreed = agree(agreed, found_of(rows), item)
        self._say(f"{item}: ours {self._row_count / seconds:,.0f} rows/s")
        return Result(item, "rows/s", self._row_count / seconds, theirs)

    def _source(self, size: str, item: str) -> str:
        if item == f"{size}-csv":
            return f'file {self._files(size)} format=csv header=false delimiter=";" schema="{_SCHEMA}"'
        if item == f"{size}-arrow":
            return f'topic {size}-arrow format=arrow schema="{_SCHEMA}"'
        return f'topic {size} format=csv delimiter=";" schema="{_SCHEMA}"'

    def _prepare(self, size: str) -> None:
        """All rows are written afterwards, and on disk."""
        self._say(f"{size}: writing {self._row_count:,} rows to topics and files")
        self._files(size).mkdir(parents=True)
        self._home.create_topic(size, partitions=PARTITIONS)
        self._home.create_topic(f"{size}-arrow", partitions=PARTITIONS, config=ARROW_TOPIC_CONFIG)
        with Client(self._home.bootstrap, client_id="headrace-bench") as client:
            for number, rows in enumerate(blocks(self._row_count)):
                encode = encoder(ValueFormat("csv", delimiter=";"), rows.schema)
                values = encode(rows)
                append_values(client, size, number % PARTITIONS, values)
                append_arrow(client, f"{size}-arrow", number % PARTITIONS, rows)
                lines = b"\n".join(cast("list[bytes]", values.to_pylist()))
                (self._files(size) / f"{number:04d}.csv").write_bytes(lines + b"\n")

    def _files(self, size: str) -> Path:
        return self._directory / size


def blocks(row_count: int, seed: int = SEED) -> Iterator[pa.RecordBatch]:
    """Measurements around a mean of each station's own, with one digit behind the point, as the challenge has them."""
    random = np.random.default_rng(seed)
    names = pa.array([f"station-{number:03d}" for number in range(STATIONS)])
    means = random.uniform(-20, 40, STATIONS)
    for first in range(0, row_count, BLOCK_ROWS):
        stations = random.integers(0, STATIONS, min(BLOCK_ROWS, row_count - first))
        temperatures = np.clip(random.normal(means[stations], 10), -99.9, 99.9).round(1)
        columns: dict[str, Any] = {"station": names.take(pa.array(stations, pa.int64())), "temperature": temperatures}
        yield pa.record_batch(columns)


def found_of(rows: list[Any]) -> Found:
    return {station: (low, mean, high) for station, low, mean, high in rows}


def agree(agreed: Found | None, found: Found, who: str) -> Found:
    """What all agree on. Raises JobFailed for a result that differs; means may differ by their last digits."""
    if agreed is None:
        return found
    if set(agreed) != set(found):
        raise JobFailed(f"{who} found {len(found)} stations, and the others {len(agreed)}")
    for station, (low, mean, high) in found.items():
        others = agreed[station]
        if (low, high) != (others[0], others[2]) or not math.isclose(mean, others[1], rel_tol=MEAN_TOLERANCE):
            raise JobFailed(f"{who} found {(low, mean, high)} for {station}, and the others {others}")
    return agreed
