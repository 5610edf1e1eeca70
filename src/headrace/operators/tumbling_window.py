"""`tumbling-window`: aggregates per key over fixed, aligned spans of event time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator
from sqlglot import exp

from headrace.errors import InvalidInput, InvalidSyntax
from headrace.graph.schema import Column, Schema, backquoted
from headrace.operators.durations import duration_ms
from headrace.operators.expression_types import check_types, type_of
from headrace.operators.expressions import Expression, aggregates, check_columns, parse_expression, place_of, sql
from headrace.operators.functions import spark_text
from headrace.operators.projection import refuse_doubles
from headrace.operators.settings import ColumnName, Duration, SqlExpression, refuse_setting
from headrace.operators.spec import Operator, OperatorConfig, Port, Spec
from headrace.operators.system_columns import refuse_system_names

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.operators.context import CompileContext

WINDOW_COLUMNS = (Column("_window_start", "TIMESTAMP"), Column("_window_end", "TIMESTAMP"))


class TumblingWindowConfig(OperatorConfig):
    size: Duration = Field(description="How long a window is: `1 minute`, `30s`. Windows are aligned to the epoch.")
    time: ColumnName = Field(description="The event-time column, as named by the source's event_time.")
    keys: list[ColumnName] = Field([], description="Columns to group by; none makes one group per window.")
    aggregates: list[SqlExpression] = Field(
        min_length=1, description="`aggregate AS name` items, such as `avg(battery) AS battery`."
    )
    emit: Literal["final", "changes"] = Field(
        "final", description="final: a window once, when it closes; changes: a row whenever it changes."
    )

    @model_validator(mode="after")
    def _is_long_enough(self) -> TumblingWindowConfig:
        if duration_ms(self.size) == 0:
            raise refuse_setting("a window of no length", "give size a duration such as 1 minute")
        return self


class TumblingWindow(Operator[TumblingWindowConfig]):
    spec = Spec(
        name="tumbling-window",
        title="Tumbling window",
        summary="Aggregates per key over fixed, aligned spans of event time.",
        kind="relational",
        inputs=(Port("in", "rows with an event-time column"),),
        outputs=(Port("out", "_window_start, _window_end, the keys and the aggregates"),),
        guarantees=(
            "emit=final: each window and key exactly once, when the watermark passes its end, and the same rows as a "
            "batch run. emit=changes: a new row whenever a window changed; the last one is the final one. "
            "Rows later than the watermark are left out and counted."
        ),
        example=(
            'topic telemetry schema="drone STRING, battery DOUBLE, ts TIMESTAMP" event_time=ts watermark="5 seconds"'
            ' ! tumbling-window "1 minute" time=ts keys=["drone"] aggregates=["avg(battery) AS battery"]'
            " ! to-topic averages key=drone"
        ),
        positional="size",
        stateful=True,
    )
    config_type = TumblingWindowConfig

    def output_schema(self, config: TumblingWindowConfig, inputs: Mapping[str, Schema]) -> Schema:
        schema = inputs["in"]
        _check_time(config.time, schema)
        keys = tuple(schema.require(key) for key in config.keys)
        made = tuple(_aggregate(parse_expression(item), schema, keys) for item in config.aggregates)
        columns = (*WINDOW_COLUMNS, *keys, *made)
        refuse_doubles(columns)
        refuse_system_names(column.name for column in columns)
        return Schema(columns)

    def used_columns(
        self, config: TumblingWindowConfig, needed: frozenset[str], inputs: Mapping[str, Schema]
    ) -> Mapping[str, frozenset[str]]:
        read = (parse_expression(item).columns for item in config.aggregates)
        return {"in": frozenset((config.time, *config.keys)).union(*read)}

    def compile(
        self, config: TumblingWindowConfig, inputs: Mapping[str, DataFrame], context: CompileContext
    ) -> DataFrame:
        from pyspark.sql import functions as spark  # noqa: PLC0415 - the catalogue loads without Spark

        keys = [backquoted(key) for key in config.keys]
        window = spark.window(backquoted(config.time), f"{duration_ms(config.size)} milliseconds").alias("_window")
        grouped = inputs["in"].groupBy(window, *keys).agg(*(spark.expr(spark_text(item)) for item in config.aggregates))
        made = [backquoted(name) for name in grouped.columns[1 + len(keys) :]]
        bounds = ("_window.start AS _window_start", "_window.end AS _window_end")
        return grouped.selectExpr(*bounds, *keys, *made)


def _check_time(time: str, schema: Schema) -> None:
    """Without a watermark on its time a window would never close and its state grow without end."""
    column = schema.require(time)
    if schema.event_time is None:
        hint = f"set event_time={column.name} and a watermark at the source"
        raise InvalidInput(f"{time!r} is no event time here: the rows have none", hint=hint)
    if column.name.lower() != schema.event_time.lower():
        raise InvalidInput(f"{time!r} is not the event time of these rows", valid=(schema.event_time,))


def _aggregate(item: Expression, schema: Schema, keys: tuple[Column, ...]) -> Column:
    if item.alias is None:
        raise InvalidInput(f"the aggregate {item.text!r} has no name", hint=f"write `{item.text} AS name`")
    calls = list(aggregates(item.tree))
    if not calls:
        raise InvalidSyntax(f"{item.text!r} holds no aggregate", place=place_of(item, item.tree))
    check_columns(item, schema)
    _refuse_distinct(item)
    _refuse_bare_columns(item, calls, {key.name.lower() for key in keys})
    check_types(item, schema)
    return Column(item.alias, type_of(item, schema))


def _refuse_distinct(item: Expression) -> None:
    distinct = item.tree.find(exp.Distinct)
    if distinct is not None:
        hint = "approx_count_distinct(…) works on streams"
        raise InvalidSyntax("DISTINCT cannot stand in a window's aggregate", place=place_of(item, distinct), hint=hint)


def _refuse_bare_columns(item: Expression, calls: list[exp.Expr], keys: set[str]) -> None:
    inside = {id(column) for call in calls for column in _scope(call).find_all(exp.Column)}
    for column in item.tree.find_all(exp.Column):
        if id(column) not in inside and column.parts[0].name.lower() not in keys:
            raise InvalidSyntax(
                f"{sql(column)} stands outside of an aggregate and is no key", place=place_of(item, column)
            )


def _scope(call: exp.Expr) -> exp.Expr:
    """`sum(a) FILTER (WHERE b)` aggregates b's rows too."""
    return call.parent if isinstance(call.parent, exp.Filter) else call
