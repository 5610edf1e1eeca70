"""What the driver tells its source (as one JSON option through Spark) and its sink: plain data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from headrace.formats.value_format import ValueFormat

# The one option that our data source reads.
OPTION = "spec"

# Rows that could not be read travel in this column, as the text of their dead letter.
BAD_COLUMN = "_bad"
# A row that stands for rows which the source left out: for itself, and for as many more as this column says.
SKIPPED_COLUMN = "_skipped"
# Rows that a serial operator set aside, as dead letters; and what a lane of a chain leaves for the commit.
LETTER_COLUMN = "_letter"
CHAIN_COLUMN = "_chain"
# Where Spark tells its tasks which micro-batch they belong to; nowhere in a batch run.
BATCH_PROPERTY = "streaming.sql.batchId"
# The only column of a frame whose tasks have staged their rows themselves.
MESSAGE_COLUMN = "_message"
# The property of a Spark job under which tasks that stage their rows themselves find their sink, as JSON.
SINK_PROPERTY = "headrace.sink"
# What travels beside the rows: in a row of data all of these are null.
ASIDE_COLUMNS = {BAD_COLUMN: "STRING", SKIPPED_COLUMN: "BIGINT", LETTER_COLUMN: "STRING", CHAIN_COLUMN: "BINARY"}
# Which record a row is, on its way to a chain: its source and partition as one number (`places.origin_of`), its offset.
# A row with a time is none: it tells how far event time came in its partition, also by rows that were left out.
RECORD_ORIGIN = "_record_origin"
RECORD_OFFSET = "_record_offset"
RECORD_TIME = "_record_time"
RECORD_COLUMNS = (RECORD_ORIGIN, RECORD_OFFSET, RECORD_TIME)
SYSTEM_COLUMNS = {
    "_timestamp": "TIMESTAMP",
    "_key": "BINARY",
    "_partition": "INT",
    "_offset": "BIGINT",
    "_processing_time": "TIMESTAMP",
    "_headers": "MAP<STRING,STRING>",
}

# Topic partition → offset, as Spark keeps it in its checkpoint; JSON knows only text keys.
Offsets = dict[str, int]
# Before the id of a source's node, among its offsets.
NODE_TAG = "node:"


def node_of(offsets: Iterable[str]) -> str | None:
    """The source that offsets belong to, where they name it."""
    return next((key.removeprefix(NODE_TAG) for key in offsets if key.startswith(NODE_TAG)), None)


@dataclass(frozen=True, slots=True)
class TopicLocation:
    """Where a topic is: `log_directory` when its files are on this machine, and always the broker's address."""

    topic: str
    bootstrap: str
    log_directory: str | None = None


@dataclass(frozen=True, slots=True)
class InputReading:
    """How a topic's reader makes the rows of one input of a chain, the one of this `number`.

    `columns` are those of the input, and `keep` says which rows it has: forms over the topic's columns (see
    `operators.columnar`). Of each node in `counted`, which lie on the way, it counts the rows for which the condition
    holds. `keys` are for lanes.
    """

    number: int
    columns: dict[str, tuple[Any, ...]]
    keep: tuple[Any, ...] | None = None
    counted: tuple[tuple[str, tuple[Any, ...] | None], ...] = ()
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChainReading:
    """What a topic's reader does for the chain that comes first behind it (`spark/planning/placement.py`).

    With a `strategy` (of a `Partitioning`, as is `function`) it packs rows by lane; else it runs the chain, and stages
    what leaves it if `stages`. It reads `columns` of the topic, for these `inputs` of the chain; `schemas` are the
    columns of all inputs of the chain. `plugins` is the plugin folder of the pipeline.
    """

    columns: str
    inputs: tuple[InputReading, ...]
    schemas: tuple[str, ...]
    strategy: str | None = None
    function: str | None = None
    lane_count: int = 1
    stages: bool = False
    plugins: str | None = None


@dataclass(frozen=True, slots=True)
class QueryTopics:
    """All topics that a query reads, by source node: where each source began, and where it stood when somebody started
    the query. `checkpoint` is where Spark writes how far they are; None for a query of one source, which knows it."""

    topics: dict[str, str] = field(default_factory=dict)
    began: dict[str, Offsets] = field(default_factory=dict)
    released: dict[str, Offsets] = field(default_factory=dict)
    checkpoint: str | None = None


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """One topic to read. `end` is set for a batch run: read [start, end) and no more.

    Rows that `prefilter` rules out are not handed on, only counted (`spark/reading/prefilter.py`). Where it serves a
    chain that is called without rows, too, every partition has a task in every batch, and there are batches without
    rows on a quiet stream: at once where `due_mark` is set (`spark/chains/due_mark.py`), else now and then. A stream
    ends its micro-batches at the signals to `pipeline`, together with the other sources of its query (`read`). Where it
    is `tagged`, its offsets name its node, so that those of several sources can be told apart.

    `event_time` is the column whose watermark operators in or behind Spark's plan wait for: rows that are left out move
    it too. When no row came for `idle_after_ms`, a row that stands for none moves it on at the pace of the clock, from
    where it stands: that is in the checkpoint `watermark_in`, `watermark_ms` behind the rows.

    Where no row has to leave its reader (`spark/planning/direct.py`), `direct` are the columns that this reads.

    The versions of `tables`, by node, are among its offsets: what a micro-batch looks up is as old as what it reads.
    """

    node: str
    location: TopicLocation
    format: ValueFormat
    start: Offsets
    max_rows_per_batch: int
    fail_on_bad: bool
    end: Offsets | None = None
    prefilter: Sequence[Any] | None = None
    serves_chain: bool = False
    due_mark: str | None = None
    chain: ChainReading | None = None
    direct: str | None = None
    pipeline: str = ""
    read: QueryTopics = field(default_factory=QueryTopics)
    tagged: bool = False
    event_time: str | None = None
    idle_after_ms: int | None = None
    watermark_ms: int = 0
    watermark_in: str | None = None
    tables: dict[str, TopicLocation] = field(default_factory=dict)

    @property
    def tag(self) -> Offsets:
        """What its offsets hold beside the partitions."""
        return {f"{NODE_TAG}{self.node}": 0} if self.tagged else {}

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> SourceSpec:
        fields = json.loads(text)
        chain = fields["chain"] and _reading(fields["chain"])
        location, format_ = TopicLocation(**fields["location"]), _format(fields["format"])
        tables = {node: TopicLocation(**table) for node, table in fields["tables"].items()}
        read = QueryTopics(**fields["read"])
        found = {"location": location, "format": format_, "chain": chain}
        return cls(**{**fields, **found, "read": read, "tables": tables})


@dataclass(frozen=True, slots=True)
class TableSpec:
    """One table to look up: in the version `end` in a batch run, else in the one that Spark's checkpoint tells."""

    node: str
    location: TopicLocation
    format: ValueFormat
    end: Offsets | None = None
    checkpoint: str | None = None

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> TableSpec:
        fields = json.loads(text)
        return cls(**{**fields, "location": TopicLocation(**fields["location"]), "format": _format(fields["format"])})


@dataclass(frozen=True, slots=True)
class Output:
    """One sink's share of the rows that reach the writer.

    `value` names the column that holds its rows as finished text (null: this row is not for this sink).
    Formats that are written by column have `keep` and `columns` (their name in the output → in the row) instead;
    `value_format` says how the writer makes values of them, where it does that row by row. `key` names the column with
    the key of a record; where several make it up, the writer puts `key_parts` together. `headers` names the column with
    the headers of records. Rows of a table have a key; where they delete, their records have no value. A topic takes no
    record batch above `batch_bytes_max`. `deletes` names the column that is true for rows which
    only delete their key. A sink in Python is found in the folder `plugins` as well.
    """

    node: str
    kind: Literal["topic", "file", "preview", "python"]
    target: str
    format: str
    value: str | None = None
    key: str | None = None
    key_parts: tuple[str, ...] = ()
    keep: str | None = None
    columns: dict[str, str] = field(default_factory=dict)
    value_format: ValueFormat | None = None
    partition_count: int = 1
    batch_bytes_max: int | None = None
    row_limit: int = 0
    headers: str | None = None
    table: Literal["upsert", "delete"] | None = None
    plugins: str | None = None
    settings: dict[str, Any] | None = None
    """Of a sink in Python."""
    deletes: str | None = None


def physical_columns(output: Output) -> list[str]:
    """What the writer reads of a row for this output."""
    names = [
        output.value,
        output.key,
        *output.key_parts,
        output.keep,
        output.headers,
        output.deletes,
        *output.columns.values(),
    ]
    return [name for name in names if name is not None]


@dataclass(frozen=True, slots=True)
class Shaping:
    """What a task makes of its rows before outputs take them, where none passes through Spark's own plan
    (`spark/planning/branches.py`).

    It computes columns: `made` has, by their names, the node that wants them and their forms (see
    `operators.columnar`). Those in `added` are staged with the rows. `keeps` say which rows the outputs take; None:
    all. Of each node in `counted` it counts the rows that the named one keeps.
    """

    made: Mapping[str, tuple[str, tuple[Any, ...]]] = field(default_factory=dict)
    added: tuple[str, ...] = ()
    keeps: tuple[str | None, ...] = (None,)
    counted: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SinkSpec:
    """All that the writer of one query needs. `checkpoint` is None in a batch run, whose only batch is 0. `shaping` is
    for tasks that stage their rows themselves: of Spark's plan come rows as outputs take them."""

    query: str
    bootstrap: str
    staging: str
    checkpoint: str | None
    outputs: tuple[Output, ...]
    shaping: Shaping = field(default_factory=Shaping)

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> SinkSpec:
        fields = json.loads(text)
        outputs = tuple(_output(output) for output in fields["outputs"])
        return cls(**{**fields, "outputs": outputs, "shaping": _shaping(fields["shaping"])})


def _output(fields: dict[str, Any]) -> Output:
    format_ = None if fields["value_format"] is None else _format(fields["value_format"])
    return Output(**{**fields, "key_parts": tuple(fields["key_parts"]), "value_format": format_})


def _shaping(fields: dict[str, Any]) -> Shaping:
    made = {name: (node, _form(form)) for name, (node, form) in fields["made"].items()}
    return Shaping(made, tuple(fields["added"]), tuple(fields["keeps"]), fields["counted"])


def _format(fields: dict[str, Any]) -> ValueFormat:
    return ValueFormat(**{**fields, "columns": tuple(fields["columns"])})


def _reading(fields: dict[str, Any]) -> ChainReading:
    inputs = tuple(_input_reading(one) for one in fields["inputs"])
    return ChainReading(**{**fields, "inputs": inputs, "schemas": tuple(fields["schemas"])})


def _input_reading(fields: dict[str, Any]) -> InputReading:
    columns = {name: _form(form) for name, form in fields["columns"].items()}
    keep = fields["keep"] and _form(fields["keep"])
    counted = tuple((node, keep and _form(keep)) for node, keep in fields["counted"])
    return InputReading(fields["number"], columns, keep, counted, tuple(fields["keys"]))


def _form(parts: Iterable[Any]) -> tuple[Any, ...]:
    """With tuples for the lists that JSON makes of them."""
    return tuple(_form(part) if isinstance(part, list) else part for part in parts)
