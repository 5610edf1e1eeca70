"""`filter`: rows for which a condition holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import Field

from headrace.errors import InvalidInput
from headrace.graph.schema import UNKNOWN, Schema
from headrace.operators.expression_types import check_types, type_of
from headrace.operators.expressions import check_columns, parse_expression, refuse_aggregates, refuse_generators
from headrace.operators.functions import calls_python
from headrace.operators.row_error_settings import RowErrorConfig
from headrace.operators.row_instance import row_instance
from headrace.operators.row_step import RowStep
from headrace.operators.settings import OnRowError, RowErrorTopic, SqlExpression
from headrace.operators.spec import Operator, Port, Spec
from headrace.serial import Operator as Instance

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.operators.context import CompileContext


class FilterConfig(RowErrorConfig):
    condition: SqlExpression = Field(description="A SQL condition; rows for which it is false or null are left out.")
    on_error: OnRowError = None
    dead_letter: RowErrorTopic = None


class Filter(Operator[FilterConfig]):
    spec = Spec(
        name="filter",
        title="Filter",
        summary="Keeps the rows for which a condition holds.",
        kind="relational",
        inputs=(Port("in", "rows to look at"),),
        outputs=(Port("out", "rows for which the condition holds"),),
        guarantees="Stateless. Keeps the order within a partition; adds and doubles nothing.",
        example='topic telemetry schema="drone STRING, battery DOUBLE" ! filter "battery < 20" ! preview',
        positional="condition",
        adjustable=("condition",),
    )
    config_type = FilterConfig

    def output_schema(self, config: FilterConfig, inputs: Mapping[str, Schema]) -> Schema:
        schema = inputs["in"]
        condition = parse_expression(config.condition)
        if condition.alias is not None or condition.is_star:
            raise InvalidInput(f"{config.condition!r} is no condition", hint="write it like `battery < 20`")
        refuse_aggregates(condition, "a filter")
        refuse_generators(condition, "a filter")
        check_columns(condition, schema)
        check_types(condition, schema)
        found = type_of(condition, schema)
        if found not in ("BOOLEAN", UNKNOWN):
            hint = f"compare it: {config.condition} = …"
            raise InvalidInput(f"the condition {config.condition!r} is {found}, not BOOLEAN", hint=hint)
        return schema

    def used_columns(
        self, config: FilterConfig, needed: frozenset[str], inputs: Mapping[str, Schema]
    ) -> Mapping[str, frozenset[str]]:
        return {"in": needed | parse_expression(config.condition).columns}

    def row_step(self, config: FilterConfig, schema: Schema) -> RowStep | None:
        # A Python function is run for all rows of a pass, also those that another branch filtered out.
        is_python = calls_python(parse_expression(config.condition).tree)
        return None if is_python else RowStep(condition=config.condition)

    def chain_instance(self, config: FilterConfig, inputs: Mapping[str, Schema]) -> Instance | None:
        schema = inputs["in"]
        return row_instance(self.row_step(config, schema), schema, self.output_schema(config, inputs))

    def kept_columns(self, config: FilterConfig, inputs: Mapping[str, Schema]) -> Mapping[str, Mapping[str, str]]:
        return {"in": {name: name for name in inputs["in"].carried.names}}

    def compile(self, config: FilterConfig, inputs: Mapping[str, DataFrame], context: CompileContext) -> DataFrame:
        return inputs["in"].filter(config.condition)
