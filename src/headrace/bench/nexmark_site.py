"""The events of the auction site, the same for every engine: in topics of ours, and in files for the others."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any, Final, Literal

from headrace.bench import rows as data
from headrace.bench.nexmark_events import (
    EVENT_SCHEMA,
    EVENT_TYPE,
    SCHEMAS,
    SIDE_INPUT,
    SIDE_SCHEMA,
    STREAMS,
    EventBlock,
    Events,
    Stream,
    side_input,
)
from headrace.bench.nexmark_queries import Query
from headrace.bench.peers import Say
from headrace.embedded import Local
from headrace.wire.client import Client

EVENTS: Final = "events"
_DECLARATION: Final = (
    f"CREATE STREAM {EVENTS} ({EVENT_SCHEMA}, WATERMARK FOR dateTime AS dateTime - INTERVAL '4' SECOND) "
    "WITH (topic = '{topic}', format = '{format}', max_rows_per_batch = {records_per_batch});\n"
)
_SIDE_DECLARATION: Final = "CREATE TABLE side_input (key BIGINT PRIMARY KEY, value STRING);\n"
# Of every partition, for hardly any events: what is left of a run is its start.
FEW_EVENTS: Final = 8

# All events, or hardly any.
Extent = Literal["all", "few"]
Format = Literal["json", "arrow"]
EXTENTS: Final[tuple[Extent, ...]] = ("all", "few")


def write_table(home: Local) -> None:
    """The table beside the events is there afterwards."""
    home.create_topic(SIDE_INPUT, config={"cleanup.policy": "compact"})
    home.produce(SIDE_INPUT, side_input(), key="key")


class AuctionSite:
    """Every side reads its events in the same number of micro-batches, and the few at once."""

    def __init__(self, home: Local, directory: Path, event_count: int, say: Say, *, alone: bool = False) -> None:
        """`directory` is its own, and names its topics. If it is `alone`, only our topics in JSON are written."""
        self._home = home
        self._directory = directory
        self._events = Events(event_count)
        self._say = say
        self._alone = alone
        # By topic: an Arrow record has many rows.
        self._record_counts: Counter[str] = Counter()

    def prepare(self) -> None:
        """All events are written afterwards, and on disk."""
        self._say(f"writing {self._events.count:,} events to topics and files")
        for extent in EXTENTS:
            self._create(extent)
        with Client(self._home.bootstrap, client_id="headrace-bench") as client:
            for block in self._events.blocks():
                self._write(client, "all", block)
                if block.batch == 0:
                    self._write(client, "few", block.first(FEW_EVENTS))
        text = "".join(f"{json.dumps(row)}\n" for row in side_input())
        for extent in EXTENTS:
            for folder in (self._files(extent), self._lines(extent)):
                (folder / SIDE_INPUT).mkdir()
                (folder / SIDE_INPUT / "0.json").write_text(text)

    @property
    def event_count(self) -> int:
        """All that a run reads: every query reads the one stream."""
        return self._events.total

    def declarations(self, query: Query, format_: Format, extent: Extent) -> str:
        """Our SQL for what the query reads."""
        topic = self._topic(format_, extent)
        batches = self._events.micro_batches if extent == "all" else 1
        return declarations(query, topic, format_, math.ceil(self._record_counts[topic] / batches))

    def files(self, extent: Extent) -> dict[str, Any]:
        """For Spark: a file for each partition of a micro-batch."""
        return {**self._folder(self._files(extent)), "files_per_batch": data.PARTITIONS}

    def lines(self, extent: Extent) -> dict[str, Any]:
        """For Flink, which reads the files of a folder in any order: one for each partition."""
        return self._folder(self._lines(extent))

    def _create(self, extent: Extent) -> None:
        for folder in (self._files(extent), self._lines(extent)):
            (folder / EVENTS).mkdir(parents=True)
        self._home.create_topic(self._topic("json", extent), partitions=data.PARTITIONS)
        self._home.create_topic(
            self._topic("arrow", extent), partitions=data.PARTITIONS, config=data.ARROW_TOPIC_CONFIG
        )

    def _write(self, client: Client, extent: Extent, block: EventBlock) -> None:
        json_topic, arrow_topic = self._topic("json", extent), self._topic("arrow", extent)
        data.append_values(client, json_topic, block.partition, block.values)
        self._record_counts[json_topic] += block.rows.num_rows
        if self._alone:
            return
        self._record_counts[arrow_topic] += data.append_arrow(client, arrow_topic, block.partition, block.rows)
        text = "".join(f"{line}\n" for line in block.values.to_pylist())
        data.write_lines(text, self._files(extent) / EVENTS, block.batch * data.PARTITIONS + block.partition)
        with (self._lines(extent) / EVENTS / f"{block.partition}.json").open("a") as file:
            file.write(text)

    def _folder(self, path: Path) -> dict[str, Any]:
        views = {stream: [view_columns(stream), view_condition(stream)] for stream in STREAMS}
        return {"path": str(path), "events": EVENT_SCHEMA, "side_input": SIDE_SCHEMA, "views": views}

    def _topic(self, format_: Format, extent: Extent) -> str:
        return f"{self._directory.name}-{format_}-{extent}"

    def _files(self, extent: Extent) -> Path:
        return self._directory / "files" / extent

    def _lines(self, extent: Extent) -> Path:
        return self._directory / "lines" / extent


def declarations(query: Query, topic: str, format_: Format, records_per_batch: int) -> str:
    """The one stream of events in our SQL, a view for each kind that the query reads, and the table beside it."""
    stream = _DECLARATION.format(topic=topic, format=format_, records_per_batch=records_per_batch)
    views = [
        f"CREATE VIEW {kind} AS SELECT {view_columns(kind)} FROM {EVENTS} WHERE {view_condition(kind)};\n"  # noqa: S608
        for kind in query.reads
    ]
    return "".join((stream, *views, _SIDE_DECLARATION))


def view_columns(kind: Stream) -> str:
    return ", ".join(column.split()[0] for column in SCHEMAS[kind].split(", "))


def view_condition(kind: Stream) -> str:
    return f"{EVENT_TYPE} = {STREAMS.index(kind)}"
