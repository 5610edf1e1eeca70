"""`to-file`: rows into files of a folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from headrace.errors import InvalidInput
from headrace.graph.schema import Schema
from headrace.operators.spec import Operator, OperatorConfig, Port, Spec
from headrace.operators.system_columns import without_system_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.operators.context import CompileContext

_NOT_IN_CSV = ("BINARY", "ARRAY<", "MAP<", "STRUCT<")


class ToFileConfig(OperatorConfig):
    path: str = Field(min_length=1, description="The folder to write to; it is created when it does not exist.")
    format: Literal["json", "csv", "parquet"] = Field("json", description="json is one object per line.")


class FileSink(Operator[ToFileConfig]):
    spec = Spec(
        name="to-file",
        title="To file",
        summary="Writes the rows to JSON lines, CSV or Parquet files.",
        kind="sink",
        inputs=(Port("in", "rows to write"),),
        outputs=(),
        guarantees="Every row exactly once; a file appears whole, when its micro-batch is committed.",
        example='topic telemetry schema="drone STRING, battery DOUBLE" ! to-file archive/ format=parquet',
        positional="path",
    )
    config_type = ToFileConfig

    def output_schema(self, config: ToFileConfig, inputs: Mapping[str, Schema]) -> Schema:
        schema = Schema(inputs["in"].columns)
        for column in schema:
            if config.format == "csv" and column.type.startswith(_NOT_IN_CSV):
                hint = "write json or parquet, or select a plain value of it"
                raise InvalidInput(f"csv cannot hold the column {column.name!r} of type {column.type}", hint=hint)
        return schema

    def compile(self, config: ToFileConfig, inputs: Mapping[str, DataFrame], context: CompileContext) -> DataFrame:
        return without_system_columns(inputs["in"])
