"""`from-python`: rows of a source written in Python."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import Field, model_validator

from headrace.graph.schema import Schema
from headrace.operators.arrow_types import schema_from_arrow
from headrace.operators.event_time import (
    EVENT_TIME,
    NO_WATERMARK,
    WATERMARK,
    refuse_watermark_alone,
    watermarked,
    with_event_time,
)
from headrace.operators.imports import load_object
from headrace.operators.plugin_folder import plugin_folder
from headrace.operators.settings import ColumnName, Duration
from headrace.operators.settings_class import Given, settings_for
from headrace.operators.spec import Operator, OperatorConfig, Port, Spec
from headrace.serial.outside import RowSource, as_source, columns_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.operators.context import CompileContext


class PythonSourceConfig(OperatorConfig):
    source: str = Field(description="Where the source is: `package.module:Name`, a class derived from RowSource.")
    settings: Given = None
    event_time: ColumnName | None = Field(None, description=EVENT_TIME)
    watermark: Duration = Field(NO_WATERMARK, description=WATERMARK)
    max_rows_per_batch: int = Field(100_000, gt=0, description="At most this many rows in one micro-batch.")

    @model_validator(mode="after")
    def _fits_together(self) -> PythonSourceConfig:
        refuse_watermark_alone(self.event_time, self.watermark)
        return self


class PythonSource(Operator[PythonSourceConfig]):
    spec = Spec(
        name="from-python",
        title="From Python",
        summary="Reads a source written in Python.",
        kind="source",
        inputs=(),
        outputs=(Port("out", "the rows of the source"),),
        guarantees=(
            "Every row exactly once, in order, through restarts, if the source gives the same rows for the same numbers"
            " every time."
        ),
        example="from-python headrace.operators.samples:Countdown ! preview",
        positional="source",
    )
    config_type = PythonSourceConfig

    def output_schema(self, config: PythonSourceConfig, inputs: Mapping[str, Schema]) -> Schema:
        return with_event_time(
            schema_from_arrow(columns_of(load_source(config.source, config.settings))), config.event_time
        )

    def compile(
        self, config: PythonSourceConfig, inputs: Mapping[str, DataFrame], context: CompileContext
    ) -> DataFrame:
        columns = str(self.output_schema(config, {}))
        reader = context.spark.read if context.bounded else context.spark.readStream
        options = {
            "source": config.source,
            "settings": json.dumps(config.settings),
            "max_rows": str(config.max_rows_per_batch),
            "plugins": plugin_folder() or "",
        }
        frame = reader.format("headrace-python").schema(columns).options(**options).load()
        return watermarked(frame, config.event_time, config.watermark)


def load_source(place: str, settings: Mapping[str, Any] | None) -> RowSource:
    """Raises InvalidInput that says what is missing."""
    found = load_object(place)
    return as_source(found, place, *settings_for(found, settings, place))
