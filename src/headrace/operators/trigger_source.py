"""`trigger`: a row whenever a schedule fires."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import Field, model_validator

from headrace.graph.schema import Column, Schema
from headrace.operators.durations import duration_ms
from headrace.operators.event_time import NO_WATERMARK, watermarked
from headrace.operators.schedules import Cron, Every, Once, Schedule, check_cron
from headrace.operators.settings import Duration, checked, refuse_setting
from headrace.operators.spec import Operator, OperatorConfig, Port, Spec

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.operators.context import CompileContext

TRIGGERED_AT: Final = "triggered_at"
# A row costs a micro-batch: more often than that, a generator is meant.
EVERY_MIN_MS: Final = 100

CronLine = Annotated[str, checked(check_cron)]


class TriggerConfig(OperatorConfig):
    every: Duration | None = Field(None, description="How often it fires, at multiples of this since 1970.")
    cron: CronLine | None = Field(
        None, description="When it fires, in UTC: minute, hour, day, month, weekday; six fields begin with seconds."
    )
    missed: Literal["all", "last"] = Field(
        "all", description="Of firings while nothing ran: all come, in order, or only the last one."
    )

    @model_validator(mode="after")
    def _fits_together(self) -> TriggerConfig:
        if self.every is not None and self.cron is not None:
            raise refuse_setting(
                "every and cron are both set", "leave one out; with neither it fires once, at the start"
            )
        if self.every is not None and duration_ms(self.every) < EVERY_MIN_MS:
            raise refuse_setting(f"every is shorter than {EVERY_MIN_MS} milliseconds", "a generator makes rows faster")
        return self


class TriggerSource(Operator[TriggerConfig]):
    spec = Spec(
        name="trigger",
        title="Trigger",
        summary="Makes a row every so often, by a cron line, or once at the start.",
        kind="source",
        inputs=(),
        outputs=(Port("out", "a row for each firing, with the time that it stands for"),),
        guarantees=(
            "Every firing since the pipeline was first started once, through restarts; those that nothing ran for come "
            "when it goes on. Without every and cron it fires once, when the pipeline is first started or reset. "
            "A batch has no clock: only the one row of a start comes there."
        ),
        example='trigger "5 seconds" ! preview',
        positional="every",
    )
    config_type = TriggerConfig

    def output_schema(self, config: TriggerConfig, inputs: Mapping[str, Schema]) -> Schema:
        return Schema((Column(TRIGGERED_AT, "TIMESTAMP"),), (), TRIGGERED_AT)

    def compile(self, config: TriggerConfig, inputs: Mapping[str, DataFrame], context: CompileContext) -> DataFrame:
        return watermarked(context.read_trigger(context.node), TRIGGERED_AT, NO_WATERMARK)


def schedule_of(config: TriggerConfig, opened_ms: int) -> Schedule:
    """When a trigger fires that was first started at this moment."""
    if config.every is not None:
        return Every(duration_ms(config.every))
    return Once(opened_ms) if config.cron is None else Cron(config.cron)
