"""`processing-time`: the clock as event time, for windows over when rows were processed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import Field

from headrace.errors import InvalidInput
from headrace.graph.schema import Column, Schema
from headrace.operators.event_time import NO_WATERMARK, watermarked
from headrace.operators.projection import refuse_doubles
from headrace.operators.spec import Operator, OperatorConfig, Port, Spec
from headrace.operators.system_columns import refuse_system_names

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.operators.context import CompileContext


class ProcessingTimeConfig(OperatorConfig):
    into: str = Field("processed_at", description="The new TIMESTAMP column, which becomes the event time.")


class ProcessingTime(Operator[ProcessingTimeConfig]):
    spec = Spec(
        name="processing-time",
        title="Processing time",
        summary="Adds the time at which a row is processed, as the event time of what follows.",
        kind="relational",
        inputs=(Port("in", "rows without an event time"),),
        outputs=(Port("out", "the same rows, each with the time of its micro-batch"),),
        guarantees=(
            "All rows of a micro-batch have the same time, also when it runs again after a crash. It never goes back: "
            "no row is late. A batch run gives all rows one time: windows over it are not those of a stream."
        ),
        example=(
            'topic clicks schema="page STRING" ! processing-time seen'
            ' ! tumbling-window "10 seconds" time=seen keys=["page"] aggregates=["count(*) AS clicks"] ! preview'
        ),
        positional="into",
    )
    config_type = ProcessingTimeConfig

    def output_schema(self, config: ProcessingTimeConfig, inputs: Mapping[str, Schema]) -> Schema:
        schema = inputs["in"]
        if schema.event_time is not None:
            hint = "leave event_time out at the source, or the window over that time"
            raise InvalidInput(f"the rows have an event time already: {schema.event_time!r}", hint=hint)
        columns = (*schema.columns, Column(config.into, "TIMESTAMP"))
        refuse_doubles(columns)
        refuse_system_names([config.into])
        return Schema(columns, schema.hidden, config.into)

    def used_columns(
        self, config: ProcessingTimeConfig, needed: frozenset[str], inputs: Mapping[str, Schema]
    ) -> Mapping[str, frozenset[str]]:
        return {"in": needed - {config.into}}

    def compile(
        self, config: ProcessingTimeConfig, inputs: Mapping[str, DataFrame], context: CompileContext
    ) -> DataFrame:
        from pyspark.sql import functions as spark  # noqa: PLC0415 - the catalogue loads without Spark

        stamped = inputs["in"].withColumn(config.into, spark.current_timestamp())
        return watermarked(stamped, config.into, NO_WATERMARK)
