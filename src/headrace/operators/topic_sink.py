"""`to-topic`: rows into a topic, exactly once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from headrace.errors import InvalidInput
from headrace.formats import FormatName, check_writing
from headrace.graph.schema import UNKNOWN, Schema
from headrace.operators.arrow_types import column_types
from headrace.operators.settings import ColumnName, WrittenTopicName, refuse_setting
from headrace.operators.spec import Operator, OperatorConfig, Port, Spec
from headrace.operators.system_columns import without_system_columns
from headrace.operators.table_keys import check_key
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


HEADERS_TYPE = "MAP<STRING,STRING>"


class ToTopicConfig(OperatorConfig):
    topic: WrittenTopicName = Field(description="The topic to write; it is created when it does not exist.")
    format: FormatName = Field("json", description=FORMAT)
    delimiter: Delimiter = Field(",", description=DELIMITER)
    value_schema: SchemaText | None = Field(None, description=VALUE_SCHEMA)
    value_message: str | None = Field(None, description=VALUE_MESSAGE)
    schema_registry: RegistryPlace | None = Field(None, description=SCHEMA_REGISTRY)
    key: ColumnName | None = Field(
        None, description="The column that becomes the record's key; equal keys keep their order."
    )
    headers: ColumnName | None = Field(
        None, description="The MAP<STRING,STRING> column that becomes the record's headers, and no part of its value."
    )
    partitions: int | None = Field(None, gt=0, description="How many partitions, when the topic is created.")

    @model_validator(mode="after")
    def _fits_together(self) -> ToTopicConfig:
        refuse_foreign_settings(self)
        if self.format == "arrow" and self.key is not None:
            raise refuse_setting("key is set and format is arrow", "an Arrow record holds many rows, so it has no key")
        if self.format == "arrow" and self.headers is not None:
            raise refuse_setting("headers is set and format is arrow", "an Arrow record holds many rows")
        return self


class TopicSink(Operator[ToTopicConfig]):
    spec = Spec(
        name="to-topic",
        title="To topic",
        summary="Writes the rows to a topic of the log.",
        kind="sink",
        inputs=(Port("in", "rows to write"),),
        outputs=(),
        guarantees="Every row exactly once, through crashes and restarts; visible when its micro-batch is committed.",
        example='topic telemetry schema="drone STRING, battery DOUBLE" ! to-topic copies key=drone',
        positional="topic",
    )
    config_type = ToTopicConfig

    def output_schema(self, config: ToTopicConfig, inputs: Mapping[str, Schema]) -> Schema:
        schema = Schema(inputs["in"].columns)
        if config.key is not None:
            check_key(schema, config.key)
        written = schema if config.headers is None else _without_headers(schema, config.headers)
        if all(column.type != UNKNOWN for column in written):
            check_writing(value_format(config), column_types(written))
        return schema

    def compile(self, config: ToTopicConfig, inputs: Mapping[str, DataFrame], context: CompileContext) -> DataFrame:
        return without_system_columns(inputs["in"])


def _without_headers(schema: Schema, name: str) -> Schema:
    """The columns of the value. Raises InvalidInput where there are none, or where the headers are no map of texts."""
    headers = schema.require(name)
    if headers.type.replace(" ", "") not in (HEADERS_TYPE, UNKNOWN):
        hint = "write map('name', text, …), or CAST its values to STRING"
        raise InvalidInput(f"the headers {headers.name!r} are {headers.type}, not {HEADERS_TYPE}", hint=hint)
    columns = tuple(column for column in schema if column != headers)
    if not columns:
        raise InvalidInput("a record has a value beside its headers", hint="name a column more")
    return Schema(columns)
