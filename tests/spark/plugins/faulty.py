"""`faulty-total`: a running total by key that can be told to misbehave at one row, once or always."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

import pyarrow as pa
from pydantic import Field
from pyspark import TaskContext

from headrace.graph import Column, Schema
from headrace.operators import Port, Spec
from headrace.operators.serial_operator import KeyedConfig, Keys, Partitioned, SerialOperator
from headrace.serial import Batch, Context, Operator
from headrace.spark.chains.orders import ORDERS_PROPERTY
from headrace.spark.specs import SINK_PROPERTY


class FaultyConfig(KeyedConfig):
    misbehave: Literal["never", "raise", "exit", "hang", "twin"] = Field("never", description="What it does.")
    at: int = Field(-1, description="At the row with this n.")
    marks: str = Field("", description="A folder: it misbehaves once, and leaves a file there.")
    factor: int = Field(1, description="What numbers are multiplied with.")
    keys: Keys = Field(["k"])
    partitioned: Partitioned = "by_key"


class FaultyTotal(SerialOperator[FaultyConfig]):
    spec = Spec(
        name="faulty-total",
        title="Faulty total",
        summary="Totals by key, with faults.",
        kind="serial",
        inputs=(Port("in", "rows with k and n"),),
        outputs=(Port("out", "k, n and the total"),),
        guarantees="None.",
        example='topic rows schema="k STRING, n BIGINT" ! faulty-total ! preview',
        stateful=True,
    )
    config_type = FaultyConfig

    def output_schema(self, config: FaultyConfig, inputs: Mapping[str, Schema]) -> Schema:
        kept = tuple(inputs["in"].require(name) for name in ("k", "n"))
        return Schema((*kept, Column("total", "BIGINT")))

    def instance(self, config: FaultyConfig, schema: Schema) -> Operator:
        return _Total(config)


class _Total(Operator):
    def __init__(self, config: FaultyConfig) -> None:
        self._config = config

    def open(self, context: Context) -> None:
        self._lane = context.lane
        self._totals = context.state.value("totals", {})

    def process(self, batch: Batch) -> Iterable[Batch]:
        totals = dict(self._totals.value)
        rows = batch.rows.select(["k", "n"]).to_pylist()
        made = []
        if self._config.misbehave == "twin" and self._is_first():
            self._start_twin(batch)
        for row in rows:
            self._misbehave(row["n"])
            totals[row["k"]] = totals.get(row["k"], 0) + self._config.factor * row["n"]
            made.append({**row, "total": totals[row["k"]]})
        self._totals.value = totals
        types: dict[str, pa.DataType] = {"k": pa.string(), "n": pa.int64(), "total": pa.int64()}
        schema = pa.schema(types)
        return [Batch(pa.RecordBatch.from_pylist(made, schema))]

    def _misbehave(self, number: int) -> None:
        config = self._config
        if number != config.at or config.misbehave == "twin" or not self._is_first():
            return
        if config.misbehave == "raise":
            raise ValueError(f"no {number}s here")
        if config.misbehave == "exit":
            os._exit(1)
        while config.misbehave == "hang":
            pass

    def _is_first(self) -> bool:
        if not self._config.marks:
            return True
        try:
            (Path(self._config.marks) / "begun").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def _start_twin(self, batch: Batch) -> None:
        """Another attempt at the same rows, that ends late."""
        folder = Path(self._config.marks)
        context = TaskContext.get()
        assert context is not None
        (folder / "orders").write_text(context.getLocalProperty(ORDERS_PROPERTY) or "")
        (folder / "sink").write_text(context.getLocalProperty(SINK_PROPERTY) or "")
        with pa.ipc.new_stream(str(folder / "rows"), batch.rows.schema) as writer:
            writer.write_batch(batch.rows)
        script = Path(__file__).parent.parent / "late_attempt.py"
        subprocess.Popen([sys.executable, str(script), str(folder), str(self._lane)], start_new_session=True)
