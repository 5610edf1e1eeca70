"""Rows per second through a filter and through a window: a pipeline of ours beside the same query by hand."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from headrace.bench import rows as data
from headrace.bench.peers import Peers, Say
from headrace.bench.report import Result
from headrace.embedded import Local
from headrace.errors import JobFailed
from headrace.pipeline import Pipeline
from headrace.wire.client import Client

# Java compiles what is hot only in the second round; the last one counts, for every side.
ROUNDS: Final = 3
IDLE_TIMEOUT_S: Final = 600.0

OVER_FILES: Final = ("pyspark", "pyspark-tuned")
OVER_KAFKA: Final = ("pyspark-kafka",)

_STEPS: Final = {
    "filter": 'filter "battery < 10"',
    "window": (
        'tumbling-window "10 seconds" time=ts keys=["drone"]'
        ' aggregates=["avg(battery) AS battery", "count(*) AS reports"]'
    ),
}
_EVENT_TIME: Final = {"filter": "", "window": 'event_time=ts watermark="5 seconds"'}


@dataclass(frozen=True, slots=True)
class Work:
    """One item: what is done, and to which format."""

    item: str
    step: str
    format: str
    peers: tuple[str, ...]


WORKS: Final = (
    Work("filter", "filter", "json", (*OVER_FILES, *OVER_KAFKA)),
    Work("window", "window", "json", (*OVER_FILES, *OVER_KAFKA)),
    Work("filter-arrow", "filter", "arrow", OVER_FILES),
)


class Rates:
    """The same rows lie in a topic of each format and in files; every side does the same number of micro-batches."""

    def __init__(self, home: Local, peers: Peers, directory: Path, row_count: int, say: Say) -> None:
        self._home = home
        self._peers = peers
        self._directory = directory
        self._row_count = row_count
        self._say = say
        self._record_counts = {"json": row_count, "arrow": 0}

    def prepare(self) -> None:
        """All rows are written afterwards, and on disk."""
        self._say(f"writing {self._row_count:,} rows to topics and files")
        self._files.mkdir(parents=True)
        self._home.create_topic("rows-json", partitions=data.PARTITIONS)
        self._home.create_topic("rows-arrow", partitions=data.PARTITIONS, config=data.ARROW_TOPIC_CONFIG)
        with Client(self._home.bootstrap, client_id="headrace-bench") as client:
            for block in data.blocks(self._row_count):
                data.write_file(block, self._files)
                data.append_json(client, "rows-json", block.partition, block.rows)
                self._record_counts["arrow"] += data.append_arrow(client, "rows-arrow", block.partition, block.rows)

    def measure(self, work: Work) -> Result:
        """Ours and the peers by turns. Raises JobFailed when ours does not read everything."""
        ours, theirs = 0.0, {}
        for round_number in range(ROUNDS):
            run = f"{work.item}-{round_number}"
            ours = self._row_count / self._ours(work, run)
            self._say(f"{run}: ours {ours:,.0f} rows/s")
            for peer in self._peers.names(work.peers):
                seconds = self._peers.ask(peer, self._command(work, run, peer))
                theirs[peer] = None if seconds is None else self._row_count / seconds
                self._say(f"{run}: {peer} {theirs[peer] or math.nan:,.0f} rows/s")
        return Result(work.item, "rows/s", ours, {peer: rate for peer, rate in theirs.items() if rate})

    def _ours(self, work: Work, run: str) -> float:
        """Seconds from the start of a pipeline until it has committed all that is there."""
        self._home.create_topic(f"{run}-ours", partitions=data.PARTITIONS)
        pipeline = Pipeline.from_text(self._text(work, run), name=run)
        began_s = time.monotonic()
        self._home.start(pipeline)
        done = self._home.wait_idle(run, IDLE_TIMEOUT_S)
        seconds = time.monotonic() - began_s
        read = {count.node: count.rows_out_total for query in self._home.stop(run).queries for count in query.nodes}
        if not done or read["topic"] != self._row_count:
            raise JobFailed(f"{run}: {read} rows of {self._row_count} after {seconds:.0f} s")
        return seconds

    def _text(self, work: Work, run: str) -> str:
        return (
            f'topic rows-{work.format} schema="{data.SCHEMA}" format={work.format} {_EVENT_TIME[work.step]}'
            f" max_rows_per_batch={math.ceil(self._record_counts[work.format] / data.MICRO_BATCHES)} as topic"
            f" ! {_STEPS[work.step]} ! to-topic {run}-ours key=drone"
        )

    def _command(self, work: Work, run: str, peer: str) -> dict[str, Any]:
        place = self._directory / f"{run}-{peer}"
        command = {"run": "rate", "work": work.step, "schema": data.SCHEMA, "checkpoint": str(place / "checkpoint")}
        if peer in OVER_FILES:
            files = {"path": str(self._files), "files_per_batch": data.PARTITIONS, "output": str(place / "rows")}
            return {**command, "from": "files", **files}
        self._home.create_topic(f"{run}-{peer}", partitions=data.PARTITIONS)
        topic = {"bootstrap": self._home.bootstrap, "topic": "rows-json", "start": "earliest"}
        per_batch = math.ceil(self._row_count / data.MICRO_BATCHES)
        return {**command, "from": "kafka", **topic, "rows_per_batch": per_batch, "output": f"{run}-{peer}"}

    @property
    def _files(self) -> Path:
        return self._directory / "files"
