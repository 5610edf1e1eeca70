"""`tumbling-window`: aggregates per key over fixed, aligned spans of event time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from headrace.graph.schema import backquoted
from headrace.operators.aggregate_items import Aggregates
from headrace.operators.event_windows import (
    GUARANTEES,
    OUTPUT,
    Emit,
    EventWindow,
    EventWindowConfig,
    Keys,
    Time,
    refuse_no_length,
    span,
    span_us,
)
from headrace.operators.settings import Duration
from headrace.operators.spec import Port, Spec
from headrace.operators.window_spans import Spans

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class TumblingWindowConfig(EventWindowConfig):
    size: Duration = Field(description="How long a window is: `1 minute`, `30s`. Windows are aligned to the epoch.")
    time: Time
    keys: Keys = Field([])
    aggregates: Aggregates
    emit: Emit = "final"

    @model_validator(mode="after")
    def _is_long_enough(self) -> TumblingWindowConfig:
        refuse_no_length(size=self.size)
        return self


class TumblingWindow(EventWindow[TumblingWindowConfig]):
    spec = Spec(
        name="tumbling-window",
        title="Tumbling window",
        summary="Aggregates per key over fixed, aligned spans of event time.",
        kind="relational",
        inputs=(Port("in", "rows with an event-time column"),),
        outputs=(Port("out", OUTPUT),),
        guarantees=GUARANTEES,
        example=(
            'topic telemetry schema="drone STRING, battery DOUBLE, ts TIMESTAMP" event_time=ts watermark="5 seconds"'
            ' ! tumbling-window "1 minute" time=ts keys=["drone"] aggregates=["avg(battery) AS battery"]'
            " ! to-topic averages key=drone"
        ),
        positional="size",
        stateful=True,
    )
    config_type = TumblingWindowConfig

    def spans(self, config: TumblingWindowConfig) -> Spans:
        return Spans(span_us(config.size), span_us(config.size))

    def windowed(self, config: TumblingWindowConfig, frame: DataFrame) -> tuple[DataFrame, Column]:
        from pyspark.sql import functions as spark  # noqa: PLC0415 - the catalogue loads without Spark

        return frame, spark.window(backquoted(config.time), span(config.size))
