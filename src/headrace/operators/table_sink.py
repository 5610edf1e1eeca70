"""`to-table`: rows into a table, by their key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from headrace.formats import FormatName, check_writing
from headrace.graph.schema import UNKNOWN, Schema
from headrace.operators.arrow_types import column_types
from headrace.operators.settings import ColumnName, WrittenTopicName
from headrace.operators.spec import Operator, OperatorConfig, Port, Spec
from headrace.operators.system_columns import without_system_columns
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


class ToTableConfig(OperatorConfig):
    topic: WrittenTopicName = Field(
        description="The topic of the table; it is created, compacted, when it does not exist."
    )
    key: ColumnName = Field(description=KEY)
    mode: Literal["upsert", "delete"] = Field(
        "upsert", description="upsert: each row takes the place of the one with its key; delete: removes that one."
    )
    format: FormatName = Field("json", description=FORMAT)
    delimiter: Delimiter = Field(",", description=DELIMITER)
    value_schema: SchemaText | None = Field(None, description=VALUE_SCHEMA)
    value_message: str | None = Field(None, description=VALUE_MESSAGE)
    schema_registry: RegistryPlace | None = Field(None, description=SCHEMA_REGISTRY)
    partitions: int | None = Field(None, gt=0, description="How many partitions, when the topic is created.")

    @model_validator(mode="after")
    def _fits_together(self) -> ToTableConfig:
        refuse_foreign_settings(self)
        refuse_many_rows(self.format)
        return self


class TableSink(Operator[ToTableConfig]):
    spec = Spec(
        name="to-table",
        title="To table",
        summary="Writes the rows to a table: each takes the place of the one with its key.",
        kind="sink",
        inputs=(Port("in", "rows to write, or to remove by their key"),),
        outputs=(),
        guarantees=(
            "Every row exactly once, through crashes and restarts; the rows of a micro-batch become visible together. "
            "Of rows with one key the last in their partition's order stays. A row without a key fails the job."
        ),
        example='topic telemetry schema="drone STRING, battery DOUBLE" ! to-table batteries key=drone',
        positional="topic",
    )
    config_type = ToTableConfig

    def output_schema(self, config: ToTableConfig, inputs: Mapping[str, Schema]) -> Schema:
        schema = Schema(inputs["in"].columns)
        check_key(schema, config.key)
        if config.mode == "upsert" and all(column.type != UNKNOWN for column in schema):
            check_writing(value_format(config), column_types(schema))
        return schema

    def compile(self, config: ToTableConfig, inputs: Mapping[str, DataFrame], context: CompileContext) -> DataFrame:
        return without_system_columns(inputs["in"])
