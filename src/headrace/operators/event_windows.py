"""What relational windows over event time share: their settings, their columns, and how Spark groups the rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypeVar

from pydantic import Field

from headrace.graph.schema import Schema, backquoted
from headrace.operators.aggregate_checks import why_not
from headrace.operators.aggregate_items import Aggregates, aggregate_columns, columns_aggregated, spark_aggregates
from headrace.operators.aggregate_plan import aggregate_plan, lanes_by
from headrace.operators.aggregate_rows import WindowRows
from headrace.operators.durations import duration_ms
from headrace.operators.event_time import check_time
from headrace.operators.projection import refuse_doubles
from headrace.operators.settings import ColumnName, Retract, refuse_setting
from headrace.operators.spec import Operator, OperatorConfig
from headrace.operators.system_columns import EVENT_TIME_COLUMN, WEIGHT_COLUMN, refuse_system_names
from headrace.operators.window_columns import END, START, WINDOW_COLUMNS
from headrace.operators.window_spans import Spans
from headrace.serial import Operator as Instance
from headrace.serial import Partitioning

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from headrace.operators.context import CompileContext

# A row lies in at most this many windows.
WINDOWS_PER_ROW_MAX = 1_000

Time = Annotated[ColumnName, Field(description="The event-time column, as named by the source's event_time.")]
Keys = Annotated[list[ColumnName], Field(description="Columns to group by; none makes one group per window.")]
Emit = Annotated[
    Literal["final", "changes"],
    Field(description="final: a window once, when it closes; changes: a row whenever it changes."),
]
OUTPUT = "_window_start, _window_end, the keys and the aggregates; _event_time, just before the end, can be named too"
GUARANTEES = (
    "emit=final: each window and key exactly once, when the watermark passes its end, and the same rows as a batch "
    "run. emit=changes: a new row whenever a window changed; the last one is the final one. "
    "Rows later than the watermark are left out and counted."
)


class EventWindowConfig(OperatorConfig):
    """Settings of a window over event time. Each declares these itself, in the order they are shown."""

    retract: Retract = False

    if TYPE_CHECKING:
        time: Time
        keys: Keys
        aggregates: Aggregates


W = TypeVar("W", bound=EventWindowConfig)


class EventWindow(Operator[W]):
    """Rows that leave a closed window have an event time themselves: other windows can follow."""

    takes_any_order: ClassVar[bool] = True

    def output_schema(self, config: W, inputs: Mapping[str, Schema]) -> Schema:
        schema = inputs["in"]
        check_time(config.time, schema)
        keys = tuple(schema.require(key) for key in config.keys)
        columns = (*WINDOW_COLUMNS, *keys, *aggregate_columns(config.aggregates, schema, keys))
        refuse_doubles(columns)
        refuse_system_names(column.name for column in columns)
        if is_final(config):
            return Schema(columns, (EVENT_TIME_COLUMN,), EVENT_TIME_COLUMN.name)
        return Schema(columns, (WEIGHT_COLUMN,) if config.retract else ())

    def used_columns(
        self, config: W, needed: frozenset[str], inputs: Mapping[str, Schema]
    ) -> Mapping[str, frozenset[str]]:
        return {"in": columns_aggregated(config.aggregates).union((config.time, *config.keys))}

    def spans(self, config: W) -> Spans | None:
        """The windows, where they are aligned; None where they grow with their rows."""
        return None

    def why_not_in_chain(self, config: W, inputs: Mapping[str, Schema]) -> str | None:
        """Why this window cannot run in a chain, in words for a plan; None if it can."""
        return why_not(config, inputs["in"], time=config.time)

    def runs_in_chain(self, config: W, inputs: Mapping[str, Schema]) -> bool:
        return self.why_not_in_chain(config, inputs) is None

    def closing_time(self, config: W, schema: Schema) -> str | None:
        spans = self.spans(config)
        return None if spans is None else spans.last_end_expression(f"unix_micros({backquoted(config.time)})")

    def kept_columns(self, config: W, inputs: Mapping[str, Schema]) -> Mapping[str, Mapping[str, str]]:
        return {"in": {key: key for key in lanes_by(config, inputs["in"]).keys}}

    def chain_instance(self, config: W, inputs: Mapping[str, Schema]) -> Instance | None:
        schema, spans = inputs["in"], self.spans(config)
        if spans is None or self.why_not_in_chain(config, inputs) is not None:
            return None
        time = schema.require(config.time).name
        plan = aggregate_plan(config, schema)
        return WindowRows(plan, time, spans, changes=not is_final(config), retracts=config.retract)

    def lanes(self, config: W, inputs: Mapping[str, Schema]) -> Partitioning:
        return lanes_by(config, inputs["in"])

    @abstractmethod
    def windowed(self, config: W, frame: DataFrame) -> tuple[DataFrame, Column]:
        """The rows, and what to group them by: the window that a row lies in; a row may come several times."""

    def bounds(self, config: W) -> tuple[str, str]:
        """The window's start and end, as expressions over `_window`."""
        return "_window.start", "_window.end"

    def compile(self, config: W, inputs: Mapping[str, DataFrame], context: CompileContext) -> DataFrame:
        from pyspark.sql import functions as spark  # noqa: PLC0415 - the catalogue loads without Spark

        keys = [backquoted(key) for key in config.keys]
        frame, window = self.windowed(config, inputs["in"])
        aggregates = (spark.expr(item) for item in spark_aggregates(config.aggregates))
        grouped = frame.groupBy(window.alias("_window"), *keys).agg(*aggregates)
        made = [backquoted(name) for name in grouped.columns[1 + len(keys) :]]
        bounds = [f"{bound} AS {name}" for bound, name in zip(self.bounds(config), (START, END), strict=True)]
        time = [f"window_time(_window) AS {EVENT_TIME_COLUMN.name}"] if is_final(config) else []
        return grouped.selectExpr(*bounds, *keys, *made, *time)


def is_final(config: EventWindowConfig) -> bool:
    return getattr(config, "emit", "final") == "final"


def refuse_no_length(**durations: str) -> None:
    """Called by a window's config. Raises a pydantic error for a duration of zero."""
    for setting, duration in durations.items():
        if duration_ms(duration) == 0:
            raise refuse_setting(f"{setting} has no length", f"give {setting} a duration such as 1 minute")


def span(duration: str) -> str:
    """A duration as Spark reads it."""
    return f"{duration_ms(duration)} milliseconds"


def span_us(duration: str) -> int:
    return duration_ms(duration) * 1000
