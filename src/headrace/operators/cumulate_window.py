"""`cumulate-window`: aggregates per key over spans of event time that grow step by step, then begin anew."""

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


class CumulateWindowConfig(EventWindowConfig):
    size: Duration = Field(description="How long the longest window is: `1 day`. Windows are aligned to the epoch.")
    step: Duration = Field(description="By how much a window grows; the size is a multiple of it.")
    time: Time
    keys: Keys = Field([])
    aggregates: Aggregates
    emit: Emit = "final"

    @model_validator(mode="after")
    def _fits_together(self) -> CumulateWindowConfig:
        refuse_no_length(size=self.size, step=self.step)
        size_ms, step_ms = duration_ms(self.size), duration_ms(self.step)
        if size_ms % step_ms or size_ms > step_ms * WINDOWS_PER_ROW_MAX:
            hint = "size=1d step=1h"
            raise refuse_setting(f"size must be a multiple of step, at most {WINDOWS_PER_ROW_MAX} times as long", hint)
        return self

    @property
    def size_us(self) -> int:
        return span_us(self.size)


class CumulateWindow(EventWindow[CumulateWindowConfig]):
    spec = Spec(
        name="cumulate-window",
        title="Cumulate window",
        summary="Aggregates per key since the start of a span of event time, again after every step of it.",
        kind="relational",
        inputs=(Port("in", "rows with an event-time column"),),
        outputs=(Port("out", OUTPUT),),
        guarantees=f"{GUARANTEES} A row counts in every window of its span that ends after it.",
        example=(
            'topic sales schema="shop STRING, amount DOUBLE, ts TIMESTAMP" event_time=ts watermark="5 seconds"'
            ' ! cumulate-window "1 day" step="1 hour" time=ts keys=["shop"] aggregates=["sum(amount) AS amount"]'
            " ! preview"
        ),
        positional="size",
        stateful=True,
    )
    config_type = CumulateWindowConfig

    def spans(self, config: CumulateWindowConfig) -> Spans:
        return Spans(span_us(config.size), span_us(config.step), grow=True)

    def windowed(self, config: CumulateWindowConfig, frame: DataFrame) -> tuple[DataFrame, Column]:
        """Sliding windows have the same ends: those count that end within the row's own span."""
        from pyspark.sql import functions as spark  # noqa: PLC0415 - the catalogue loads without Spark

        time = backquoted(config.time)
        rows = frame.withColumn("_window", spark.window(time, span(config.size), span(config.step)))
        within = f"unix_micros(_window.end) <= {_floor(f'unix_micros({time})', config.size_us)} + {config.size_us}"
        return rows.where(within), spark.col("_window")

    def bounds(self, config: CumulateWindowConfig) -> tuple[str, str]:
        return f"timestamp_micros({_floor('(unix_micros(_window.end) - 1)', config.size_us)})", "_window.end"


def _floor(microseconds: str, size_us: int) -> str:
    """The multiple of the size at or below, also before the epoch."""
    return f"({microseconds} - pmod({microseconds}, {size_us}))"
