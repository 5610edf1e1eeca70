"""The rows of each node of a pipeline, made by Spark from rows in files; serial operators run in this process."""

from __future__ import annotations

import itertools
import json
import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from headrace.cases.streamed import is_serial, latest_by, needs_end, tells_changes
from headrace.graph.document import Node
from headrace.graph.schema import Schema, backquoted
from headrace.graph.validation import Validated
from headrace.operators.catalogue import Catalogue
from headrace.operators.durations import duration_ms
from headrace.operators.serial_chain import ChainPlan
from headrace.testing import ChainTester, cut

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

Row: TypeAlias = dict[str, object]
CUTS_MAX: Final = 3
# Later than every row: with it, each window of the input has ended.
END_OF_INPUT: Final = "9000-01-01T00:00:00.000000Z"

_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class Frames:
    """Rows of a bounded input at any node. `inputs` has the rows of each source that is given some."""

    spark: SparkSession
    catalogue: Catalogue
    validated: Validated
    inputs: Mapping[str, Sequence[Row]]
    directory: Path

    def batch(self, node_id: str) -> list[Row]:
        """All rows at once."""
        return _collected(_Build(self, _one_piece(self.inputs)).frame(node_id))

    def stream(self, node_id: str, chance: random.Random) -> list[Row]:
        """The rows piece by piece; of changes the last ones. Behind a serial operator Spark makes its input as a batch,
        and only it is cut."""
        if is_serial(self.validated, self.catalogue, node_id):
            return self._latest(
                node_id, _collected(_Build(self, _one_piece(self.inputs), chance=chance).frame(node_id))
            )
        pieces = {node: _pieces(rows, chance) for node, rows in self.inputs.items()}
        ends = needs_end(self.validated, self.catalogue, node_id)
        frame = _Build(self, pieces, is_stream=True, ends=ends).frame(node_id)
        name = f"headrace_test_{next(_numbers)}"
        mode = "update" if tells_changes(self.validated, node_id) else "append"
        writer = frame.writeStream.format("memory").queryName(name).outputMode(mode).trigger(availableNow=True)
        writer.start().awaitTermination()
        try:
            return self._latest(node_id, _collected(self.spark.table(name)))
        finally:
            self.spark.catalog.dropTempView(name)

    def _latest(self, node_id: str, rows: list[Row]) -> list[Row]:
        """Of rows with changes the last ones."""
        if not tells_changes(self.validated, node_id):
            return rows
        names = latest_by(self.validated, node_id)
        return list({json.dumps([row[name] for name in names]): row for row in rows}.values())


@dataclass(slots=True)
class _Build:
    """One run over the nodes above a place. Operators see it as their CompileContext."""

    frames: Frames
    pieces: Mapping[str, Sequence[Sequence[Row]]]
    is_stream: bool = False
    ends: bool = False
    chance: random.Random | None = None
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
        inputs = {edge.target_port: self.frame(edge.source) for edge in validated.document.inputs_of(node_id)}
        operator = self.frames.catalogue.get(node.operator)
        if operator.spec.kind == "serial":
            return self._chained(node, inputs["in"])
        self.node = node
        frame = operator.compile(validated.configs[node_id], inputs, self)
        return frame if inputs or not self.is_stream else _with_barrier(frame)

    def read_topic(self, node: Node, schema: Schema) -> DataFrame:
        """The rows that the case gives a stream, one file for each piece of them."""
        folder = self.frames.directory / f"{node.id}-{next(_numbers)}"
        folder.mkdir()
        pieces = list(self.pieces.get(node.id, [[]]))
        event_time = self.frames.validated.schemas[node.id].event_time
        if self.ends and event_time is not None:
            pieces.append([{event_time: END_OF_INPUT}])
        for number, rows in enumerate(_with_system_columns(pieces)):
            path = folder / f"{number:03}.json"
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
            os.utime(path, (number, number))  # Spark reads files in the order of their times
        columns = str(Schema((*schema.columns, *schema.hidden)))
        if not self.is_stream:
            return self.spark.read.schema(columns).json(str(folder)).coalesce(1)
        return self.spark.readStream.schema(columns).option("maxFilesPerTrigger", 1).json(str(folder))

    def read_table(self, node: Node, schema: Schema) -> DataFrame:
        """The rows that the case gives a table, there from the start; of several with one key the last counts."""
        key = schema.require(str(node.config["key"])).name
        newest = {str(row.get(key)): row for row in self.frames.inputs.get(node.id, ())}
        path = self.frames.directory / f"{node.id}-{next(_numbers)}.json"
        path.write_text("".join(json.dumps(row) + "\n" for row in newest.values()))
        return self.spark.read.schema(str(schema)).json(str(path)).coalesce(1)

    def _chained(self, node: Node, frame: DataFrame) -> DataFrame:
        """A serial operator by the code that runs it in Spark's tasks, over one lane."""
        validated = self.frames.validated
        source = validated.document.inputs_of(node.id)[0].source
        schema = validated.schemas[source]
        plan = ChainPlan.line((node,), schema)
        tester = ChainTester(
            lambda: plan.chain(self.frames.catalogue), event_time=schema.event_time, delay_us=_delay_us(validated)
        )
        rows = frame.select(*map(backquoted, schema.names)).toArrow()
        for piece in cut(rows, self._places(rows.num_rows)) if rows.num_rows else ():
            tester.run(piece)
        tester.end()
        made = tester.table()
        ddl = str(validated.schemas[node.id])
        return self.spark.createDataFrame([], ddl) if made is None else self._from_arrow(made, ddl)

    def _from_arrow(self, made: pa.Table, ddl: str) -> DataFrame:
        rows = [tuple(row.values()) for row in made.to_pylist()]
        return self.spark.createDataFrame(rows, ddl).coalesce(1)

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


def _with_system_columns(pieces: Sequence[Sequence[Row]]) -> list[list[Row]]:
    offsets = itertools.count()
    return [[{"_partition": 0, "_offset": next(offsets), **row} for row in rows] for rows in pieces]


def _delay_us(validated: Validated) -> int:
    """The longest delay of a watermark above: nothing is late that Spark would take."""
    delays = [duration_ms(str(node.config.get("watermark", "0 seconds"))) for node in validated.document.nodes]
    return max(delays, default=0) * 1000


def _collected(frame: DataFrame) -> list[Row]:
    from pyspark.sql import functions  # noqa: PLC0415 - pyspark costs half a second: only where used

    as_json = functions.to_json(functions.struct("*"), {"ignoreNullFields": "false"})
    rows: list[Any] = frame.select(as_json).collect()
    return [json.loads(row[0]) for row in rows]
