"""`score`: a column that a Python model predicts."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from pydantic import Field

from headrace.errors import InvalidInput
from headrace.graph.schema import Column, Schema, is_numeric
from headrace.operators.imports import load_object
from headrace.operators.projection import refuse_doubles
from headrace.operators.serial_operator import (
    DeadLetterTopic,
    ErrorAction,
    Partitioner,
    Retries,
    RowErrorConfig,
    SerialOperator,
    Spread,
)
from headrace.operators.settings import ColumnName
from headrace.operators.spec import Port, Spec
from headrace.serial import Batch, Context, Signal
from headrace.serial import Operator as Instance


class ScoreConfig(RowErrorConfig):
    model: str = Field(
        description="`package.module:name` of a model, or of a function without arguments that loads it."
    )
    features: list[ColumnName] = Field(
        min_length=1, description="Columns of numbers, in the order the model wants them."
    )
    into: str = Field("score", description="The name of the new column.")
    on_error: ErrorAction = "fail"
    retries: Retries = 0
    dead_letter: DeadLetterTopic = None
    partitioned: Spread = "as_topic"
    partitioner: Partitioner = None


class Score(SerialOperator[ScoreConfig]):
    spec = Spec(
        name="score",
        title="Model score",
        summary="Adds what a Python model predicts for every row.",
        kind="serial",
        inputs=(Port("in", "rows with the model's features"),),
        outputs=(Port("out", "the rows with the prediction as a DOUBLE"),),
        guarantees=(
            "One row out for every row in, in order. The model is loaded once in a worker process, and anew after a "
            "signal `refresh_state`; it is called with a matrix of DOUBLE, one line a row and NaN for null, through "
            "`predict` or as a function."
        ),
        example="generator 5 ! score headrace.operators.samples:mean_model features=value ! preview",
        positional="model",
        adjustable=("on_error", "retries"),
    )
    config_type = ScoreConfig

    def output_schema(self, config: ScoreConfig, inputs: Mapping[str, Schema]) -> Schema:
        schema = inputs["in"]
        for column in map(schema.require, config.features):
            if not is_numeric(column.type):
                raise InvalidInput(f"the feature {column.name!r} is {column.type}, not a number")
        load_object(config.model)
        columns = (*schema.columns, Column(config.into, "DOUBLE"))
        refuse_doubles(columns)
        return Schema(columns, event_time=schema.event_time)

    def used_columns(
        self, config: ScoreConfig, needed: frozenset[str], inputs: Mapping[str, Schema]
    ) -> Mapping[str, frozenset[str]]:
        return {"in": needed.union(config.features)}

    def instance(self, config: ScoreConfig, schema: Schema) -> Instance:
        return _Score(config.model, [schema.require(name).name for name in config.features], config.into)


class _Score(Instance):
    stateless = True

    def __init__(self, model: str, features: list[str], into: str) -> None:
        self._model = model
        self._features = features
        self._into = into

    def open(self, context: Context) -> None:
        super().open(context)
        self._refreshed = context.state.value("refreshed", 0)

    def process(self, batch: Batch) -> Iterable[Batch]:
        # Other workers keep models too: counted in the state, a refresh reaches all of them.
        key = (self._model, self._refreshed.value)
        predict = self.context.cached(key, lambda: _predictor(load_object(self._model)))
        columns = [batch.column(name).cast(pa.float64(), safe=False) for name in self._features]
        matrix = np.column_stack([column.to_numpy(zero_copy_only=False) for column in columns])
        scores = np.asarray(predict(matrix), np.float64).reshape(-1)
        if len(scores) != batch.num_rows:
            raise ValueError(f"{self._model} gave {len(scores)} predictions for {batch.num_rows} rows")
        rows = batch.rows
        return [Batch(pa.record_batch([*rows.columns, pa.array(scores)], names=[*rows.schema.names, self._into]))]

    def on_signal(self, signal: Signal) -> Iterable[Batch] | None:
        """`refresh_state`: from here on with the model as a loader gives it now."""
        if signal.kind != "refresh_state":
            return None
        self._refreshed.value += 1
        return ()


def _predictor(found: Any) -> Any:
    """`predict` of a model; a plain function of the matrix; or what a loader without arguments returns."""
    if hasattr(found, "predict"):
        return found.predict
    if callable(found) and not _takes_arguments(found):
        return _predictor(found())
    return found


def _takes_arguments(function: Any) -> bool:
    return bool(inspect.signature(function).parameters)
