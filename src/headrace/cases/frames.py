"""The rows of each node of a pipeline, made by Spark from rows in files; serial operators run in this process."""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.parquet as pq

from headrace.cases.local_rows import frame_of_arrow
from headrace.cases.records import json_text, read_records
from headrace.cases.sinks import Row, collected, killed_and_restarted
from headrace.cases.streamed import chain_above, is_serial, latest_by, needs_end, tells_changes
from headrace.cases.tables import RetractedTable, left
from headrace.errors import InvalidInput
from headrace.graph.document import Node
from headrace.graph.schema import UNKNOWN, Column, Schema, backquoted, parse_type
from headrace.graph.validation import Validated
from headrace.operators.catalogue import Catalogue
from headrace.operators.durations import duration_ms
from headrace.operators.serial_chain import ChainInput, ChainPlan, ChainTable
from headrace.operators.table_keys import check_key
from headrace.serial import LaneInput
from headrace.serial.places import origin_of
from headrace.serial.table_rows import TableRows, one_batch
from headrace.spark.compiling.blame import blaming
from headrace.spark.planning.tables import tables_and_their_steps
from headrace.testing import ChainTester, Crash, CrashPoint, cut

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CUTS_MAX: Final = 3
# Later than every row: with it, each window of the input has ended.
END_OF_INPUT: Final = "9000-01-01T00:00:00.000000Z"

_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class Made:
    """Rows of a node, and what is known of their columns when Spark has looked at them."""

    rows: list[Row]
    columns: Schema


@dataclass(frozen=True, slots=True)
class Frames:
    """Rows of a bounded input at any node. `inputs` has the rows of each source that is given some. What their readers
    dropped is `told`."""

    spark: SparkSession
    catalogue: Catalogue
    validated: Validated
    inputs: Mapping[str, Sequence[Row]]
    directory: Path
    told: list[str] = field(default_factory=list)

    def batch(self, node_id: str) -> Made:
        """All rows at once."""
        frame = _Build(self, _one_piece(self.inputs)).frame(node_id)
        return Made(collected(frame), self._columns(node_id, frame))

    def stream(self, node_id: str, chance: random.Random, *, dies: bool = False) -> Made:
        """The rows piece by piece; of changes the last ones. If it `dies`, it is killed on its way and started again.

        Behind a serial operator Spark makes its input as a batch, and only it is cut.
        """
        if is_serial(self.validated, self.catalogue, node_id):
            build = _Build(self, _one_piece(self.inputs), chance=chance, dies=dies)
            return self._latest(node_id, build.frame(node_id), collected(build.frame(node_id)))
        pieces = _ending_together({node: _pieces(rows, chance) for node, rows in self.inputs.items()})
        ends = needs_end(self.validated, self.catalogue, node_id)
        frame = _Build(self, pieces, is_stream=True, ends=ends).frame(node_id)
        mode = "update" if tells_changes(self.validated, node_id) else "append"
        if not dies:
            return self._latest(node_id, frame, self._from_memory(frame, mode))
        fatal = chance.randrange(_count(pieces))
        checkpoint = self.directory / f"checkpoint-{next(_numbers)}"
        return self._latest(node_id, frame, killed_and_restarted(frame, mode, checkpoint, fatal))

    def table(self, table: RetractedTable, chance: random.Random, *, dies: bool = False) -> Made:
        """What a stream leaves in a table, of rows that may retract others."""
        branch = table.branch
        node_id = branch.last_node or table.base
        if is_serial(self.validated, self.catalogue, table.base):
            build = _Build(self, _one_piece(self.inputs), chance=chance, dies=dies)
            frame = table.written(build.frame(table.base), self.validated, self.catalogue)
            return Made(left(collected(frame)), self._columns(node_id, frame))
        pieces = _ending_together({node: _pieces(rows, chance) for node, rows in self.inputs.items()})
        base = _Build(self, pieces, is_stream=True).frame(table.base)
        frame = table.written(base, self.validated, self.catalogue)
        if not dies:
            return Made(left(self._from_memory(frame, "update")), self._columns(node_id, frame))
        checkpoint = self.directory / f"checkpoint-{next(_numbers)}"
        rows = killed_and_restarted(frame, "update", checkpoint, chance.randrange(_count(pieces)))
        return Made(left(rows), self._columns(node_id, frame))

    def _from_memory(self, frame: DataFrame, mode: str) -> list[Row]:
        name = f"headrace_test_{next(_numbers)}"
        writer = frame.writeStream.format("memory").queryName(name).outputMode(mode).trigger(availableNow=True)
        writer.start().awaitTermination()
        try:
            return collected(self.spark.table(name))
        finally:
            self.spark.catalog.dropTempView(name)

    def _latest(self, node_id: str, frame: DataFrame, rows: list[Row]) -> Made:
        """Of rows with changes the last ones."""
        columns = self._columns(node_id, frame)
        if not tells_changes(self.validated, node_id):
            return Made(rows, columns)
        names = latest_by(self.validated, self.catalogue, node_id)
        return Made(list({json_text([row[name] for name in names]): row for row in rows}.values()), columns)

    def _columns(self, node_id: str, frame: DataFrame) -> Schema:
        """Those of a node, with the types that only Spark knows."""
        told = {field.name.lower(): field.dataType.simpleString() for field in frame.schema}
        schema = self.validated.schemas[node_id]
        return replace(schema, columns=tuple(_known(column, told.get(column.name.lower())) for column in schema))


def _known(column: Column, told: str | None) -> Column:
    if column.type != UNKNOWN or told is None:
        return column
    try:
        return replace(column, type=parse_type(told))
    except InvalidInput:  # a type that pipelines have no name for
        return column


@dataclass(slots=True)
class _Build:
    """One run over the nodes above a place. Operators see it as their CompileContext."""

    frames: Frames
    pieces: Mapping[str, Sequence[Sequence[Row]]]
    is_stream: bool = False
    ends: bool = False
    chance: random.Random | None = None
    dies: bool = False
    node: Node = field(default_factory=lambda: Node("", ""))
    made: dict[str, DataFrame] = field(default_factory=dict)

    @property
    def spark(self) -> SparkSession:
        return self.frames.spark

    @property
    def bounded(self) -> bool:
        return not self.is_stream

    def input_schema(self, port: str) -> Schema:
        """The columns that come into a port of the node being compiled."""
        document = self.frames.validated.document
        edge = next(edge for edge in document.inputs_of(self.node.id) if edge.target_port == port)
        return self.frames.validated.schemas[edge.source]

    def frame(self, node_id: str) -> DataFrame:
        if node_id not in self.made:
            self.made[node_id] = self._compiled(node_id)
        return self.made[node_id]

    def _compiled(self, node_id: str) -> DataFrame:
        validated = self.frames.validated
        node = validated.document.node(node_id)
        operator = self.frames.catalogue.get(node.operator)
        # A batch does in Spark's plan what a stream does in a chain: so both are compared.
        members = () if self.chance is None else chain_above(validated, self.frames.catalogue, node_id)
        if operator.spec.kind == "serial" or members:
            return self._chained(members or (node_id,))
        inputs = {edge.target_port: self.frame(edge.source) for edge in validated.document.inputs_of(node_id)}
        self.node = node
        with blaming(node):
            frame = operator.compile(validated.configs[node_id], inputs, self)
        return frame if inputs or not self.is_stream else _with_barrier(frame)

    def read_topic(self, node: Node, schema: Schema) -> DataFrame:
        """The rows that the case gives a stream, one file for each piece of them."""
        whole = Schema((*schema.columns, *schema.hidden))
        none: list[Sequence[Row]] = [[]] * _count(self.pieces)
        pieces = _with_system_columns(self._ended(node, list(self.pieces.get(node.id, none))))
        if not self.is_stream:
            return self._frame(node, list(itertools.chain.from_iterable(pieces)), whole)
        folder = self.frames.directory / f"{node.id}-{next(_numbers)}"
        folder.mkdir()
        for number, rows in enumerate(pieces):
            path = folder / f"{number:03}.parquet"
            pq.write_table(pa.Table.from_batches([self._records(node, rows, whole)]), path)
            os.utime(path, (number, number))  # Spark reads files in the order of their times
        return self.spark.readStream.schema(str(whole)).option("maxFilesPerTrigger", 1).parquet(str(folder))

    def _frame(self, node: Node, rows: Sequence[Row], schema: Schema) -> DataFrame:
        records = self._records(node, rows, schema)
        return frame_of_arrow(self.spark, pa.Table.from_batches([records]) if records.num_rows else None, str(schema))

    def _records(self, node: Node, rows: Sequence[Row], schema: Schema) -> pa.RecordBatch:
        frames = self.frames
        return read_records(rows, schema, node, frames.validated.configs[node.id], frames.told)

    def _ended(self, node: Node, pieces: list[Sequence[Row]]) -> list[Sequence[Row]]:
        """With a row after all others where windows wait for it. It is in the last piece: the watermark moves behind
        the rows of a micro-batch, so it makes none of them late."""
        event_time = self.frames.validated.schemas[node.id].event_time
        if not self.ends or event_time is None:
            return pieces
        return [*pieces[:-1], [*pieces[-1], {event_time: END_OF_INPUT}]]

    def read_trigger(self, node: Node) -> DataFrame:
        """The case gives its firings: time is that of the rows."""
        return self.read_topic(node, self.frames.validated.schemas[node.id])

    def read_table(self, node: Node, schema: Schema) -> DataFrame:
        """The rows that the case gives a table, there from the start; of several with one key the last counts."""
        keys = check_key(schema, str(node.config["key"]))
        newest = {str([row.get(key) for key in keys]): row for row in self.frames.inputs.get(node.id, ())}
        return self._frame(node, list(newest.values()), schema)

    def _chained(self, members: Sequence[str]) -> DataFrame:
        """Nodes by the code that runs them in Spark's tasks, over one lane; the last one's rows come out."""
        validated = self.frames.validated
        beside = tables_and_their_steps(map(validated.document.node, validated.order), validated.document)
        leading = [edge for one in members for edge in validated.document.inputs_of(one)]
        edges = tuple(edge for edge in leading if edge.source not in beside)
        sources = dict.fromkeys(edge.source for edge in edges if edge.source not in members)
        inputs = tuple(ChainInput(source, validated.schemas[source]) for source in sources)
        asked = [edge for edge in leading if edge.source in beside]
        tables = tuple(ChainTable(e.target, e.target_port, e.source, validated.schemas[e.source]) for e in asked)
        lookups = {(one.node, one.port): cache(partial(self._table, one)) for one in tables}
        plan = ChainPlan(tuple(validated.document.node(one) for one in members), inputs, edges, tables)
        tester = ChainTester(
            lambda: plan.chain(self.frames.catalogue, lookups=lookups),
            event_times=[one.schema.event_time for one in inputs],
            delay_us=_delay_us(validated),
        )
        for pieces in zip_longest(*(self._cut(number, one) for number, one in enumerate(inputs))):
            self._run(tester, [piece for piece in pieces if piece is not None])
        tester.end()
        return frame_of_arrow(self.spark, tester.table(), str(validated.schemas[members[-1]].carried))

    def _table(self, looked_up: ChainTable) -> TableRows:
        rows = self.frame(looked_up.source).select(*map(backquoted, looked_up.schema.names)).toArrow()
        return TableRows(one_batch(rows))

    def _run(self, tester: ChainTester, pieces: Sequence[LaneInput]) -> None:
        """One micro-batch, after one that came to nothing if it is to die."""
        if self.dies and self.chance is not None:
            with suppress(Crash):
                tester.run(*pieces, crash=CrashPoint(while_writing=self.chance.random() < 0.5))
            tester.sweep()
        tester.run(*pieces)

    def _cut(self, number: int, one: ChainInput) -> list[LaneInput]:
        """The rows of one input, a piece for each micro-batch; the first of several inputs are never empty, or one
        would be late for the other."""
        rows = self.frame(one.source).select(*map(backquoted, one.schema.carried.names)).toArrow()
        pieces = cut(rows, self._places(rows.num_rows)) if rows.num_rows else []
        return [LaneInput(piece, origin=origin_of(number, 0), source=number) for piece in pieces]

    def _places(self, row_count: int) -> list[int]:
        if self.chance is None:
            return []
        return [self.chance.randrange(row_count) for _ in range(self.chance.randint(1, CUTS_MAX))]


def _with_barrier(frame: DataFrame) -> DataFrame:
    """Rows that Spark counts before any filter behind them: it takes none before the watermark then, which is to see
    the row that ends the input."""
    from pyspark.sql import functions  # noqa: PLC0415 - pyspark costs half a second: only where used

    return frame.observe(f"headrace_test_{next(_numbers)}", functions.count(functions.lit(1)))


def _one_piece(inputs: Mapping[str, Sequence[Row]]) -> dict[str, list[Sequence[Row]]]:
    return {node: [rows] for node, rows in inputs.items()}


def _pieces(rows: Sequence[Row], chance: random.Random) -> list[Sequence[Row]]:
    places = sorted({chance.randint(0, len(rows)) for _ in range(chance.randint(1, CUTS_MAX))})
    return [rows[start:stop] for start, stop in itertools.pairwise([0, *places, len(rows)])]


def _ending_together(pieces: Mapping[str, Sequence[Sequence[Row]]]) -> dict[str, list[Sequence[Row]]]:
    """The last piece of every input in the last micro-batch. A stream that starts anew has forgotten how far the event
    time of each input was, and only knows that of the slowest: one that had ended would hold the others back."""
    count = _count(pieces)
    return {node: [*own[:-1], *[[]] * (count - len(own)), own[-1]] for node, own in pieces.items()}


def _count(pieces: Mapping[str, Sequence[Sequence[Row]]]) -> int:
    return max(map(len, pieces.values()), default=1)


def _with_system_columns(pieces: Sequence[Sequence[Row]]) -> list[list[Row]]:
    offsets = itertools.count()
    return [[{"_partition": 0, "_offset": next(offsets), **row} for row in rows] for rows in pieces]


def _delay_us(validated: Validated) -> int:
    """The longest delay of a watermark above: nothing is late that Spark would take."""
    delays = [duration_ms(str(node.config.get("watermark", "0 seconds"))) for node in validated.document.nodes]
    return max(delays, default=0) * 1000
