"""`preview`: the newest rows, to look at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import Field

from headrace.graph.schema import Schema
from headrace.operators.spec import Operator, OperatorConfig, Port, Spec
from headrace.operators.system_columns import without_system_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.operators.context import CompileContext

MAX_PREVIEW_ROWS = 10_000


class PreviewConfig(OperatorConfig):
    rows: int = Field(100, gt=0, le=MAX_PREVIEW_ROWS, description="How many of the newest rows are kept to look at.")


class Preview(Operator[PreviewConfig]):
    spec = Spec(
        name="preview",
        title="Preview",
        summary="Keeps the newest rows to look at.",
        kind="sink",
        inputs=(Port("in", "rows to look at"),),
        outputs=(),
        guarantees="For people: older rows are forgotten, and a restart begins with none.",
        example="generator 5 ! preview rows=20",
    )
    config_type = PreviewConfig

    def output_schema(self, config: PreviewConfig, inputs: Mapping[str, Schema]) -> Schema:
        return Schema(inputs["in"].columns)

    def compile(self, config: PreviewConfig, inputs: Mapping[str, DataFrame], context: CompileContext) -> DataFrame:
        return without_system_columns(inputs["in"])
