"""`faulty-total`: a running total by key that can be told to misbehave at one row, once or always."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

import pyarrow as pa
from pydantic import Field

from headrace.graph import Column, Schema
from headrace.operators import Port, Spec
from headrace.operators.serial_operator import KeyedConfig, Keys, Partitioned, SerialOperator
from headrace.serial import Batch, Context, Operator

RELEASE_DEADLINE_S = 120.0


class FaultyConfig(KeyedConfig):
    misbehave: Literal["never", "raise", "exit", "hang", "wait"] = Field("never", description="What it does.")
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
        self._totals = context.state.value("totals", {})

    def process(self, batch: Batch) -> Iterable[Batch]:
        totals = dict(self._totals.value)
        rows = batch.rows.select(["k", "n"]).to_pylist()
        made = []
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
        if number != config.at or not self._is_first():
            return
        if config.misbehave == "raise":
            raise ValueError(f"no {number}s here")
        if config.misbehave == "exit":
            os._exit(1)
        while config.misbehave == "hang":
            pass
        if config.misbehave == "wait":
            self._wait_for(Path(config.marks) / "release")

    def _is_first(self) -> bool:
        if not self._config.marks:
            return True
        try:
            (Path(self._config.marks) / "begun").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def _wait_for(self, path: Path) -> None:
        deadline_s = time.monotonic() + RELEASE_DEADLINE_S
        while not path.exists() and time.monotonic() < deadline_s:
            time.sleep(0.02)
