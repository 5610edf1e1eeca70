"""`aggregate`: aggregates per key over all rows so far, as a row whenever they change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from headrace.graph.schema import Schema, backquoted
from headrace.operators.aggregate_checks import why_not
from headrace.operators.aggregate_items import Aggregates, aggregate_columns, columns_aggregated, spark_aggregates
from headrace.operators.aggregate_plan import aggregate_plan, lanes_by
from headrace.operators.aggregate_rows import AggregateRows
from headrace.operators.projection import refuse_doubles
from headrace.operators.settings import ColumnName, Retract
from headrace.operators.spec import Operator, OperatorConfig, Port, Spec
from headrace.operators.system_columns import WEIGHT_COLUMN, refuse_system_names
from headrace.serial import Operator as Instance
from headrace.serial import Partitioning

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.operators.context import CompileContext

Keys = Annotated[list[ColumnName], Field(description="Columns to group by; none makes one group of all rows.")]


class AggregateConfig(OperatorConfig):
    aggregates: Aggregates
    keys: Keys = Field([])
    emit: Literal["changes"] = Field("changes", description="changes: a row whenever an aggregate changes.")
    retract: Retract = False


class Aggregate(Operator[AggregateConfig]):
    spec = Spec(
        name="aggregate",
        title="Aggregate",
        summary="Aggregates per key over all rows so far, a new row whenever they change.",
        kind="relational",
        inputs=(Port("in", "rows"),),
        outputs=(Port("out", "the keys and the aggregates"),),
        guarantees=(
            "After every micro-batch one row for each key that had rows in it, with the aggregates over all its rows "
            "so far; the last one is what a batch run gives. State holds every key that ever came: for keys without "
            "end, use a window."
        ),
        example=(
            'topic orders schema="item STRING, amount DOUBLE"'
            ' ! aggregate "sum(amount) AS amount" "count(*) AS orders" keys=["item"] ! to-topic totals key=item'
        ),
        positional="aggregates",
        stateful=True,
    )
    config_type = AggregateConfig
    takes_any_order: ClassVar[bool] = True

    def output_schema(self, config: AggregateConfig, inputs: Mapping[str, Schema]) -> Schema:
        schema = inputs["in"]
        keys = tuple(schema.require(key) for key in config.keys)
        columns = (*keys, *aggregate_columns(config.aggregates, schema, keys))
        refuse_doubles(columns)
        refuse_system_names(column.name for column in columns)
        return Schema(columns, (WEIGHT_COLUMN,) if config.retract else ())

    def used_columns(
        self, config: AggregateConfig, needed: frozenset[str], inputs: Mapping[str, Schema]
    ) -> Mapping[str, frozenset[str]]:
        return {"in": columns_aggregated(config.aggregates).union(config.keys)}

    def runs_in_chain(self, config: AggregateConfig, inputs: Mapping[str, Schema]) -> bool:
        return why_not(config, inputs["in"]) is None

    def chain_instance(self, config: AggregateConfig, inputs: Mapping[str, Schema]) -> Instance | None:
        if not self.runs_in_chain(config, inputs):
            return None
        plan = aggregate_plan(config, inputs["in"])
        return AggregateRows(plan, self.output_schema(config, inputs), retracts=config.retract)

    def closing_time(self, config: AggregateConfig, schema: Schema) -> str | None:
        """In Spark's plan a key that is the event time closes with it."""
        time = schema.event_time
        is_key = time is not None and time.lower() in {key.lower() for key in config.keys}
        return f"unix_micros({backquoted(time)})" if time is not None and is_key else None

    def kept_columns(self, config: AggregateConfig, inputs: Mapping[str, Schema]) -> Mapping[str, Mapping[str, str]]:
        return {"in": {key: key for key in lanes_by(config, inputs["in"]).keys}}

    def lanes(self, config: AggregateConfig, inputs: Mapping[str, Schema]) -> Partitioning:
        return lanes_by(config, inputs["in"])

    def compile(self, config: AggregateConfig, inputs: Mapping[str, DataFrame], context: CompileContext) -> DataFrame:
        from pyspark.sql import functions as spark  # noqa: PLC0415 - the catalogue loads without Spark

        aggregates = (spark.expr(item) for item in spark_aggregates(config.aggregates))
        return inputs["in"].groupBy(*map(backquoted, config.keys)).agg(*aggregates)
