"""`table`: a topic as a table, the newest record of each key, for joins that look rows up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from headrace.formats import FormatName, check_reading
from headrace.graph.schema import Schema
from headrace.operators.arrow_types import column_types
from headrace.operators.settings import ColumnName, Columns, TopicName
from headrace.operators.spec import Operator, OperatorConfig, Port, Spec
from headrace.operators.system_columns import refuse_system_names
from headrace.operators.table_keys import KEY, check_key, refuse_many_rows
from headrace.operators.value_formats import (
    DELIMITER,
    FORMAT,
    SCHEMA_REGISTRY,
    VALUE_MESSAGE,
    VALUE_SCHEMA,
    Delimiter,
    RegistryPlace,
    SchemaText,
    refuse_foreign_settings,
    value_format,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.operators.context import CompileContext


class TableConfig(OperatorConfig):
    topic: TopicName = Field(description="The topic of the table; it is created, compacted, when it does not exist.")
    schema_ddl: Columns = Field(alias="schema", description="Columns and types: `drone STRING, owner STRING`.")
    key: ColumnName = Field(description=KEY)
    format: FormatName = Field("json", description=FORMAT)
    delimiter: Delimiter = Field(",", description=DELIMITER)
    value_schema: SchemaText | None = Field(None, description=VALUE_SCHEMA)
    value_message: str | None = Field(None, description=VALUE_MESSAGE)
    schema_registry: RegistryPlace | None = Field(None, description=SCHEMA_REGISTRY)

    @model_validator(mode="after")
    def _fits_together(self) -> TableConfig:
        refuse_foreign_settings(self)
        refuse_many_rows(self.format)
        return self

    @property
    def schema_columns(self) -> Schema:
        return Schema.parse(self.schema_ddl)


class TableSource(Operator[TableConfig]):
    spec = Spec(
        name="table",
        title="Table",
        summary="A table: the newest record of each key of a topic. For the right side of a lookup join.",
        kind="source",
        inputs=(),
        outputs=(Port("out", "one row for each key; a record without a value has removed its row"),),
        guarantees=(
            "Every micro-batch sees one version of the whole table: all that was committed when the batch began. "
            "Which one is written down with the batch. Records without a key are no rows; one that cannot be decoded "
            "fails the job."
        ),
        example=(
            'topic telemetry schema="drone STRING, battery DOUBLE" ! @owned.left\n'
            'table drones schema="id STRING, owner STRING" key=id ! @owned.right\n'
            'lookup-join "left.drone = right.id" as owned ! preview'
        ),
        positional="topic",
    )
    config_type = TableConfig

    def output_schema(self, config: TableConfig, inputs: Mapping[str, Schema]) -> Schema:
        schema = config.schema_columns
        refuse_system_names(schema.names)
        check_key(schema, config.key)
        check_reading(value_format(config), column_types(schema))
        return schema

    def compile(self, config: TableConfig, inputs: Mapping[str, DataFrame], context: CompileContext) -> DataFrame:
        return context.read_table(context.node, config.schema_columns)
