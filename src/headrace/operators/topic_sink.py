"""`to-topic`: rows into a topic, exactly once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from headrace.errors import InvalidInput
from headrace.graph.schema import Schema
from headrace.operators.settings import ColumnName, TopicName
from headrace.operators.spec import Operator, OperatorConfig, Port, Spec
from headrace.operators.system_columns import without_system_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.operators.context import CompileContext

_KEYLESS_TYPES = ("ARRAY<", "MAP<", "STRUCT<")


class ToTopicConfig(OperatorConfig):
    topic: TopicName = Field(description="The topic to write; it is created when it does not exist.")
    format: Literal["json", "arrow"] = Field("json", description="How records are encoded.")
    key: ColumnName | None = Field(
        None, description="The column that becomes the record's key; equal keys keep their order."
    )
    partitions: int | None = Field(None, gt=0, description="How many partitions, when the topic is created.")


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
        if config.key is not None and schema.require(config.key).type.startswith(_KEYLESS_TYPES):
            raise InvalidInput(f"the key {config.key!r} is {schema.require(config.key).type}; a key is one plain value")
        return schema

    def compile(self, config: ToTopicConfig, inputs: Mapping[str, DataFrame], context: CompileContext) -> DataFrame:
        return without_system_columns(inputs["in"])
