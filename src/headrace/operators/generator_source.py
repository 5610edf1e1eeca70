"""`generator`: made-up rows at a steady rate, for trials and demonstrations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from headrace.errors import InvalidConfig
from headrace.graph.schema import Column, Schema
from headrace.operators.event_time import (
    EVENT_TIME,
    NO_WATERMARK,
    WATERMARK,
    refuse_watermark_alone,
    watermarked,
    with_event_time,
)
from headrace.operators.projection import project, projected
from headrace.operators.settings import ColumnName, Duration, SqlExpression
from headrace.operators.spec import Operator, OperatorConfig, Port, Spec

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.operators.context import CompileContext

GENERATED = Schema((Column("value", "BIGINT"), Column("timestamp", "TIMESTAMP")))


class GeneratorConfig(OperatorConfig):
    rows_per_second: int = Field(10, gt=0, description="How many rows are made each second.")
    columns: list[SqlExpression] = Field(
        ["value", "timestamp"],
        min_length=1,
        description="`expression AS name` over value (BIGINT, counts from 0) and timestamp (TIMESTAMP).",
    )
    rows: int | None = Field(None, gt=0, description="How many rows in all; a batch run needs it.")
    event_time: ColumnName | None = Field(None, description=EVENT_TIME)
    watermark: Duration = Field(NO_WATERMARK, description=WATERMARK)

    @model_validator(mode="after")
    def _fits_together(self) -> GeneratorConfig:
        refuse_watermark_alone(self.event_time, self.watermark)
        return self


class GeneratorSource(Operator[GeneratorConfig]):
    spec = Spec(
        name="generator",
        title="Generator",
        summary="Makes rows at a steady rate.",
        kind="source",
        inputs=(),
        outputs=(Port("out", "the rows made"),),
        guarantees="Every value once, also through restarts; timestamps follow the clock in a stream.",
        example='generator 100 columns=["value % 5 AS drone", "rand() * 100 AS battery"] ! preview',
        positional="rows_per_second",
    )
    config_type = GeneratorConfig

    def output_schema(self, config: GeneratorConfig, inputs: Mapping[str, Schema]) -> Schema:
        return with_event_time(projected(config.columns, GENERATED), config.event_time)

    def compile(self, config: GeneratorConfig, inputs: Mapping[str, DataFrame], context: CompileContext) -> DataFrame:
        made = _bounded(config, context) if context.bounded else _endless(config, context)
        return watermarked(project(made, config.columns), config.event_time, config.watermark)


def _bounded(config: GeneratorConfig, context: CompileContext) -> DataFrame:
    """Rows whose timestamps start at the epoch, spaced by the rate: the same in every run."""
    if config.rows is None:
        raise InvalidConfig("a batch run needs an end", node=context.node.id, hint="set rows, such as rows=1000")
    step_us = f"CAST(id * {1_000_000} DIV {config.rows_per_second} AS BIGINT)"
    return context.spark.range(config.rows).selectExpr("id AS value", f"timestamp_micros({step_us}) AS timestamp")


def _endless(config: GeneratorConfig, context: CompileContext) -> DataFrame:
    reader = context.spark.readStream.format("rate").option("rowsPerSecond", config.rows_per_second)
    made = reader.load().select("value", "timestamp")
    return made if config.rows is None else made.filter(f"value < {config.rows}")
