"""`output-rate`: of every so many rows, or of every span of time, the first row, the last one, or all together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field, model_validator

from headrace.errors import InvalidInput
from headrace.graph.schema import Schema
from headrace.operators.arrow_types import arrow_type
from headrace.operators.durations import duration_ms
from headrace.operators.late_rows import LatePassed, LateTopic, LateTopicConfig, read_beside
from headrace.operators.output_rate_steps import AllOfRows, OfTime, OneOfRows, SnapshotOfTime
from headrace.operators.serial_operator import KeyedConfig, Keys, Partitioned, Partitioner, SerialOperator, check_keys
from headrace.operators.settings import Duration, refuse_setting
from headrace.operators.spec import Port, Spec
from headrace.serial import Operator as Instance
from headrace.serial import Partitioning

ROWS_MAX = 100_000


class OutputRateConfig(KeyedConfig, LateTopicConfig):
    which: Literal["first", "last", "all", "snapshot"] = Field(
        description=(
            "first, last: one row for each so many, or for each span; all: every row, but not before the last; "
            "snapshot, by `every` only: at the end of each span with rows, the latest row so far of every key."
        )
    )
    rows: int | None = Field(None, gt=0, le=ROWS_MAX, description="So many rows of a key, in the order they come.")
    every: Duration | None = Field(
        None, description="Instead: rows of a key in spans of event time of this length, aligned to the epoch."
    )
    keys: Keys = Field([])
    late: LatePassed = "drop"
    dead_letter: LateTopic = None
    partitioned: Partitioned = "by_key"
    partitioner: Partitioner = None

    @model_validator(mode="after")
    def _has_one_measure(self) -> OutputRateConfig:
        if (self.rows is None) == (self.every is None):
            raise refuse_setting("either rows or every says how often", "rows=5 or every=10s")
        if self.which == "snapshot" and (self.every is None or self.partitioned != "by_key"):
            hint = "every=10s, and partitioned as it is: by_key"
            raise refuse_setting("a snapshot is taken of all keys together, at the end of a span of time", hint)
        if self.every is not None and duration_ms(self.every) == 0:
            raise refuse_setting("every has no length", "give it a duration such as 10 seconds")
        if self.keeps_late and self.every is None:
            raise refuse_setting("rows that are counted are never late", "late is for every=10s")
        return self


class OutputRate(SerialOperator[OutputRateConfig]):
    spec = Spec(
        name="output-rate",
        title="Output rate",
        summary="Lets the first or the last row of every so many through, or of every span of time.",
        kind="serial",
        inputs=(Port("in", "rows that are too many"),),
        outputs=(Port("out", "some of them, as they are"),),
        guarantees=(
            "By `rows`: rows are counted in the order in which they come; those of `all` wait until the last of them is"
            " there, and of an input that ends a rest of fewer stays behind. By `every`: a span comes out, in the order"
            " of event time, when the watermark has passed it, the same as a batch run; rows later than the watermark"
            " are counted, and become what `late` says; rows without a time are left out and counted. Rows that are"
            " not let through are counted. A snapshot keeps the latest row of each key for good, and runs in one lane;"
            " its rows have no event time any more, for they come again."
        ),
        example=(
            'topic telemetry schema="drone STRING, battery DOUBLE, ts TIMESTAMP" event_time=ts watermark="5 seconds"'
            ' ! output-rate which=last every="10 seconds" keys=drone ! preview'
        ),
        stateful=True,
    )
    config_type = OutputRateConfig

    def output_schema(self, config: OutputRateConfig, inputs: Mapping[str, Schema]) -> Schema:
        schema = inputs["in"]
        check_keys(config.keys, schema)
        if config.every is not None:
            _time(schema)
        # A row of a snapshot comes again, long after its time.
        return Schema(schema.columns, event_time=None if config.which == "snapshot" else schema.event_time)

    def used_columns(
        self, config: OutputRateConfig, needed: frozenset[str], inputs: Mapping[str, Schema]
    ) -> Mapping[str, frozenset[str]]:
        times = [] if config.every is None else [_time(inputs["in"])]
        return {"in": needed.union(config.keys, times, read_beside(config, inputs["in"]))}

    def partitioning(self, config: OutputRateConfig) -> Partitioning | None:
        """A snapshot has all keys: they are in one lane."""
        return Partitioning("by_key", ()) if config.which == "snapshot" else super().partitioning(config)

    def instance(self, config: OutputRateConfig, schema: Schema) -> Instance:
        keys = [(column.name, arrow_type(column.type)) for column in check_keys(config.keys, schema)]
        if config.every is not None:
            span_us, names = duration_ms(config.every) * 1000, [name for name, _ in keys]
            if config.which == "snapshot":
                return SnapshotOfTime(names, _time(schema), span_us, keeps_late=config.keeps_late)
            return OfTime(config.which, names, _time(schema), span_us, keeps_late=config.keeps_late)
        if config.which == "all":
            return AllOfRows([name for name, _ in keys], config.rows or 1)
        return OneOfRows(keys, config.rows or 1, 0 if config.which == "first" else -1)


def _time(schema: Schema) -> str:
    """The column of event time. Raises InvalidInput where rows have none."""
    if schema.event_time is None:
        hint = "give the source an event time (in SQL: WATERMARK FOR …), or count rows"
        raise InvalidInput("spans of time need an event time, and the rows have none", hint=hint)
    return schema.require(schema.event_time).name
