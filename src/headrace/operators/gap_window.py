"""`gap-window`: any aggregates per key over sessions of event time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from headrace.graph.schema import Schema, backquoted
from headrace.operators.aggregate_items import Aggregates
from headrace.operators.aggregate_plan import aggregate_plan
from headrace.operators.durations import duration_ms
from headrace.operators.event_windows import (
    OUTPUT,
    EventWindow,
    EventWindowConfig,
    Keys,
    Time,
    refuse_no_length,
    span_us,
)
from headrace.operators.session_rows import PlannedSessionRows
from headrace.operators.settings import Duration
from headrace.operators.spec import Port, Spec
from headrace.serial import Operator as Instance

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


# Spark's sessions end a microsecond earlier than ours (see `windowed`), and tell their last moment.
_TOLD_BEFORE_END_US = 2


class GapWindowConfig(EventWindowConfig):
    gap: Duration = Field(description="A session ends when no row came for this long: `5 minutes`.")
    time: Time
    keys: Keys = Field(min_length=1)
    aggregates: Aggregates

    @model_validator(mode="after")
    def _is_long_enough(self) -> GapWindowConfig:
        refuse_no_length(gap=self.gap)
        return self


class GapWindow(EventWindow[GapWindowConfig]):
    """Beside the serial `session-window`: that one has changes and sessions over all rows, this one every aggregate,
    every type of key, and windows and joins behind it."""

    spec = Spec(
        name="gap-window",
        title="Gap window",
        summary="Any aggregates per key over sessions: rows that follow each other closely, each once when it ends.",
        kind="relational",
        inputs=(Port("in", "rows with an event-time column"),),
        outputs=(Port("out", OUTPUT),),
        guarantees=(
            "Each session and key exactly once, when the watermark passes its end (the last row + gap), and the same "
            "rows as a batch run. Rows later than the watermark are left out and counted."
        ),
        example=(
            'topic clicks schema="user STRING, page STRING, ts TIMESTAMP" event_time=ts watermark="5 seconds"'
            ' ! gap-window "5 minutes" time=ts keys=["user"] aggregates=["count(DISTINCT page) AS pages"] ! preview'
        ),
        positional="gap",
        stateful=True,
    )
    config_type = GapWindowConfig

    def why_not_in_chain(self, config: GapWindowConfig, inputs: Mapping[str, Schema]) -> str | None:
        if (reason := super().why_not_in_chain(config, inputs)) is not None:
            return reason
        plan = aggregate_plan(config, inputs["in"])
        if plan.distincts or plan.kept:
            what = "distinct" if plan.distincts else "all"
            return f"{what} values of sessions that become one are left to Spark"
        return None

    def chain_instance(self, config: GapWindowConfig, inputs: Mapping[str, Schema]) -> Instance | None:
        schema = inputs["in"]
        if self.why_not_in_chain(config, inputs) is not None:
            return None
        plan, time = aggregate_plan(config, schema), schema.require(config.time).name
        return PlannedSessionRows(plan, time, span_us(config.gap), told_before_end_us=_TOLD_BEFORE_END_US)

    def closing_time(self, config: GapWindowConfig, schema: Schema) -> str:
        """Spark looks at each row by itself: that a session of its key is still open does not help it."""
        return f"unix_micros({backquoted(config.time)}) + {_gap_us(config)}"

    def windowed(self, config: GapWindowConfig, frame: DataFrame) -> tuple[DataFrame, Column]:
        from pyspark.sql import functions as spark  # noqa: PLC0415 - the catalogue loads without Spark

        return frame, spark.session_window(backquoted(config.time), f"{_gap_us(config)} microseconds")

    def bounds(self, config: GapWindowConfig) -> tuple[str, str]:
        return "_window.start", "timestamp_micros(unix_micros(_window.end) + 1)"


def _gap_us(config: GapWindowConfig) -> int:
    """Spark lets a row that comes just as a session ends be part of it; everywhere else that is the next session."""
    return duration_ms(config.gap) * 1000 - 1
