"""`sliding-window`: aggregates per key over aligned spans of event time that overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from headrace.graph.schema import backquoted
from headrace.operators.aggregate_items import Aggregates
from headrace.operators.durations import duration_ms
from headrace.operators.event_windows import (
    GUARANTEES,
    OUTPUT,
    WINDOWS_PER_ROW_MAX,
    Emit,
    EventWindow,
    EventWindowConfig,
    Keys,
    Time,
    refuse_no_length,
    span,
    span_us,
)
from headrace.operators.settings import Duration, refuse_setting
from headrace.operators.spec import Port, Spec
from headrace.operators.window_spans import Spans

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class SlidingWindowConfig(EventWindowConfig):
    size: Duration = Field(description="How long a window is: `1 minute`, `30s`. Windows are aligned to the epoch.")
    every: Duration = Field(description="How often a window begins: at most as long as the size.")
    time: Time
    keys: Keys = Field([])
    aggregates: Aggregates
    emit: Emit = "final"

    @model_validator(mode="after")
    def _fits_together(self) -> SlidingWindowConfig:
        refuse_no_length(size=self.size, every=self.every)
        size_ms, every_ms = duration_ms(self.size), duration_ms(self.every)
        if not every_ms <= size_ms <= every_ms * WINDOWS_PER_ROW_MAX:
            raise refuse_setting(f"size must be 1 to {WINDOWS_PER_ROW_MAX} times as long as every", "size=1m every=10s")
        return self


class SlidingWindow(EventWindow[SlidingWindowConfig]):
    spec = Spec(
        name="sliding-window",
        title="Sliding window",
        summary="Aggregates per key over aligned spans of event time that overlap.",
        kind="relational",
        inputs=(Port("in", "rows with an event-time column"),),
        outputs=(Port("out", OUTPUT),),
        guarantees=f"{GUARANTEES} A row counts in every window that it lies in.",
        example=(
            'topic bids schema="auction BIGINT, ts TIMESTAMP" event_time=ts watermark="5 seconds"'
            ' ! sliding-window "10 minutes" every="1 minute" time=ts keys=["auction"] aggregates=["count(*) AS bids"]'
            " ! preview"
        ),
        positional="size",
        stateful=True,
    )
    config_type = SlidingWindowConfig

    def spans(self, config: SlidingWindowConfig) -> Spans:
        return Spans(span_us(config.size), span_us(config.every))

    def windowed(self, config: SlidingWindowConfig, frame: DataFrame) -> tuple[DataFrame, Column]:
        from pyspark.sql import functions as spark  # noqa: PLC0415 - the catalogue loads without Spark

        return frame, spark.window(backquoted(config.time), span(config.size), span(config.every))
