"""`to-python`: rows into a sink written in Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import Field

from headrace.graph.schema import Schema
from headrace.operators.imports import load_object
from headrace.operators.settings_class import Given, settings_for
from headrace.operators.spec import Operator, OperatorConfig, Port, Spec
from headrace.operators.system_columns import without_system_columns
from headrace.serial.outside import RowSink, as_sink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.operators.context import CompileContext


class ToPythonConfig(OperatorConfig):
    sink: str = Field(
        description="Where the sink is: `package.module:name`, a function of rows and delivery, or a RowSink class."
    )
    settings: Given = None


class PythonSink(Operator[ToPythonConfig]):
    spec = Spec(
        name="to-python",
        title="To Python",
        summary="Hands the rows to a function or class of yours.",
        kind="sink",
        inputs=(Port("in", "rows to hand over"),),
        outputs=(),
        guarantees=(
            "At least once: rows of a micro-batch that fails come again, under the same delivery key. A sink that"
            " writes each key once has every row once."
        ),
        example="generator 5 ! to-python headrace.operators.samples:printed",
        positional="sink",
    )
    config_type = ToPythonConfig

    def output_schema(self, config: ToPythonConfig, inputs: Mapping[str, Schema]) -> Schema:
        load_sink(config.sink, config.settings)
        return Schema(inputs["in"].columns)

    def compile(self, config: ToPythonConfig, inputs: Mapping[str, DataFrame], context: CompileContext) -> DataFrame:
        return without_system_columns(inputs["in"])


def load_sink(place: str, settings: Mapping[str, Any] | None) -> RowSink:
    """Raises InvalidInput that says what is missing."""
    found = load_object(place)
    return as_sink(found, place, *settings_for(found, settings, place))
