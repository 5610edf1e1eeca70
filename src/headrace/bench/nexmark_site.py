"""The events of the auction site, the same for every engine: in topics of ours, and in files for the others."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal

from headrace.bench import rows as data
from headrace.bench.nexmark_events import SCHEMAS, SIDE_INPUT, SIDE_SCHEMA, STREAMS, Events, Stream, side_input
from headrace.bench.nexmark_queries import Query
from headrace.bench.peers import Say
from headrace.embedded import Local
from headrace.wire.client import Client

_DECLARATION: Final = (
    "CREATE STREAM {stream} ({columns}, WATERMARK FOR dateTime AS dateTime - INTERVAL '4' SECOND) "
    "WITH (topic = '{topic}', format = '{format}', max_rows_per_batch = {records_per_batch});\n"
)
SIDE_DECLARATION: Final = "CREATE TABLE side_input (key BIGINT PRIMARY KEY, value STRING);\n"
# Of every partition, for hardly any events: what is left of a run is its start.
FEW_ROWS: Final = 4

# All events, or hardly any.
Extent = Literal["all", "few"]
Format = Literal["json", "arrow"]


class AuctionSite:
    """Every side reads its events in the same number of micro-batches, and the few at once."""

    def __init__(self, home: Local, directory: Path, event_count: int, say: Say) -> None:
        self._home = home
        self._directory = directory
        self._events = Events(event_count)
        self._say = say
        # By topic: an Arrow record has many rows.
        self._record_counts: Counter[str] = Counter()

    def prepare(self) -> None:
        """All events are written afterwards, and on disk."""
        self._say(f"writing {self._events.count:,} events to topics and files")
        extents: tuple[Extent, ...] = ("all", "few")
        with Client(self._home.bootstrap, client_id="headrace-bench") as client:
            for stream in STREAMS:
                for extent in extents:
                    self._create(stream, extent)
                for block in self._events.blocks(stream):
                    self._write(client, stream, "all", block)
                    if block.batch == 0:
                        self._write(client, stream, "few", replace(block, rows=block.rows.slice(0, FEW_ROWS)))
        rows = side_input()
        self._home.create_topic(SIDE_INPUT, config={"cleanup.policy": "compact"})
        self._home.produce(SIDE_INPUT, rows, key="key")
        for extent in extents:
            for folder in (self._files(extent), self._lines(extent)):
                (folder / SIDE_INPUT).mkdir()
                (folder / SIDE_INPUT / "0.json").write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    def declarations(self, format_: Format, extent: Extent) -> str:
        """Our SQL for the streams."""
        batches = data.MICRO_BATCHES if extent == "all" else 1
        streams = [
            _DECLARATION.format(
                stream=stream,
                columns=SCHEMAS[stream],
                topic=_topic(stream, format_, extent),
                format=format_,
                records_per_batch=math.ceil(self._record_counts[_topic(stream, format_, extent)] / batches),
            )
            for stream in STREAMS
        ]
        return "".join((*streams, SIDE_DECLARATION))

    def files(self, extent: Extent) -> dict[str, Any]:
        """For Spark: a file for each partition of a micro-batch."""
        return {**self._folder(self._files(extent)), "files_per_batch": data.PARTITIONS}

    def lines(self, extent: Extent) -> dict[str, Any]:
        """For Flink, which reads the files of a folder in any order: one for each partition."""
        return self._folder(self._lines(extent))

    def rows_read(self, query: Query) -> int:
        return sum(self._events.rows_of(stream) for stream in query.reads)

    def _create(self, stream: Stream, extent: Extent) -> None:
        for folder in (self._files(extent), self._lines(extent)):
            (folder / stream).mkdir(parents=True)
        self._home.create_topic(_topic(stream, "json", extent), partitions=data.PARTITIONS)
        arrow = _topic(stream, "arrow", extent)
        self._home.create_topic(arrow, partitions=data.PARTITIONS, config=data.ARROW_TOPIC_CONFIG)

    def _write(self, client: Client, stream: Stream, extent: Extent, block: data.Block) -> None:
        values = data.json_values(block.rows)
        data.write_file(block, self._files(extent) / stream)
        with (self._lines(extent) / stream / f"{block.partition}.json").open("a") as file:
            file.writelines(f"{line}\n" for line in values.to_pylist())
        json_topic, arrow_topic = _topic(stream, "json", extent), _topic(stream, "arrow", extent)
        data.append_values(client, json_topic, block.partition, values)
        self._record_counts[json_topic] += block.rows.num_rows
        self._record_counts[arrow_topic] += data.append_arrow(client, arrow_topic, block.partition, block.rows)

    def _folder(self, path: Path) -> dict[str, Any]:
        return {"path": str(path), "schemas": {**SCHEMAS, SIDE_INPUT: SIDE_SCHEMA}}

    def _files(self, extent: Extent) -> Path:
        return self._directory / "files" / extent

    def _lines(self, extent: Extent) -> Path:
        return self._directory / "lines" / extent


def _topic(stream: Stream, format_: Format, extent: Extent) -> str:
    return f"{stream}-{format_}" if extent == "all" else f"{stream}-{format_}-few"
