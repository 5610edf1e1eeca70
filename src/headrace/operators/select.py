"""`select`: columns chosen, computed and renamed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import Field

from headrace.graph.schema import Schema
from headrace.operators.expressions import parse_expression
from headrace.operators.functions import calls_python
from headrace.operators.projection import columns_read, kept_names, project, projected, row_columns
from headrace.operators.row_error_settings import RowErrorConfig
from headrace.operators.row_instance import row_instance
from headrace.operators.row_step import RowStep
from headrace.operators.settings import OnRowError, RowErrorTopic, SqlExpression
from headrace.operators.spec import Operator, Port, Spec
from headrace.serial import Operator as Instance

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.operators.context import CompileContext


class SelectConfig(RowErrorConfig):
    columns: list[SqlExpression] = Field(
        min_length=1,
        description="SQL select items: a column, `expression AS name`, `*`, or `* EXCEPT (a, b)`.",
    )
    on_error: OnRowError = None
    dead_letter: RowErrorTopic = None


class Select(Operator[SelectConfig]):
    spec = Spec(
        name="select",
        title="Select",
        summary="Chooses, computes and renames columns.",
        kind="relational",
        inputs=(Port("in", "rows to take columns of"),),
        outputs=(Port("out", "one row for each row, with the new columns"),),
        guarantees="Stateless. Keeps the order within a partition; one row in, one row out (`explode` makes more).",
        example=(
            'topic telemetry schema="drone STRING, celsius DOUBLE"'
            ' ! select drone "celsius * 1.8 + 32 AS fahrenheit" ! preview'
        ),
        positional="columns",
        adjustable=("columns",),
    )
    config_type = SelectConfig

    def output_schema(self, config: SelectConfig, inputs: Mapping[str, Schema]) -> Schema:
        return projected(config.columns, inputs["in"])

    def used_columns(
        self, config: SelectConfig, needed: frozenset[str], inputs: Mapping[str, Schema]
    ) -> Mapping[str, frozenset[str]]:
        return {"in": columns_read(config.columns, needed)}

    def row_step(self, config: SelectConfig, schema: Schema) -> RowStep | None:
        # A Python function is run for all rows of a pass, also those that another branch filtered out.
        is_python = any(calls_python(parse_expression(item).tree) for item in config.columns)
        columns = None if is_python else row_columns(config.columns, schema)
        return None if columns is None else RowStep(columns=columns)

    def chain_instance(self, config: SelectConfig, inputs: Mapping[str, Schema]) -> Instance | None:
        schema = inputs["in"]
        return row_instance(self.row_step(config, schema), schema, self.output_schema(config, inputs))

    def kept_columns(self, config: SelectConfig, inputs: Mapping[str, Schema]) -> Mapping[str, Mapping[str, str]]:
        return {"in": kept_names(config.columns, inputs["in"])}

    def compile(self, config: SelectConfig, inputs: Mapping[str, DataFrame], context: CompileContext) -> DataFrame:
        return project(inputs["in"], config.columns)
