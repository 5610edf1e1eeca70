"""`python`: a plain function of rows or batches, decorated with `@per_row` or `@per_batch`."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from headrace.errors import InvalidInput
from headrace.graph.schema import Schema
from headrace.operators.arrow_types import arrow_schema, schema_from_arrow
from headrace.operators.imports import load_object
from headrace.operators.serial_operator import (
    DeadLetterTopic,
    ErrorAction,
    Partitioner,
    Retries,
    RowErrorConfig,
    SerialOperator,
    Spread,
)
from headrace.operators.spec import Port, Spec
from headrace.serial import BatchFunction, RowFunction
from headrace.serial import Operator as Instance


class PythonConfig(RowErrorConfig):
    function: str = Field(description="Where the function is: `package.module:name`.")
    on_error: ErrorAction = "fail"
    retries: Retries = 0
    dead_letter: DeadLetterTopic = None
    partitioned: Spread = "as_topic"
    partitioner: Partitioner = None


class PythonFunction(SerialOperator[PythonConfig]):
    spec = Spec(
        name="python",
        title="Python function",
        summary="Calls a Python function for every row or batch.",
        kind="serial",
        inputs=(Port("in", "rows for the function"),),
        outputs=(Port("out", "what the function returns"),),
        guarantees=(
            "Rows in order; exactly once in the output, while the function itself may be called again after a failure."
            " A row that makes it fail is found, and dropped, kept apart or reported, as on_error says."
        ),
        example="generator 5 ! python headrace.operators.samples:doubled ! preview",
        positional="function",
        adjustable=("on_error", "retries"),
    )
    config_type = PythonConfig
    # Nobody knows what a function makes of a column.
    keeps_columns = False

    def output_schema(self, config: PythonConfig, inputs: Mapping[str, Schema]) -> Schema:
        schema, function = inputs["in"], _function(config.function)
        if isinstance(function, RowFunction):
            _check_fits(function, schema)
            return schema_from_arrow(function.output_schema)
        made = function.output_schema
        return Schema(schema.columns, event_time=schema.event_time) if made is None else schema_from_arrow(made)

    def instance(self, config: PythonConfig, schema: Schema) -> Instance:
        return _function(config.function).operator()


def _function(place: str) -> RowFunction[object, object] | BatchFunction:
    function = load_object(place)
    if not isinstance(function, RowFunction | BatchFunction):
        raise InvalidInput(f"{place} is no operator", hint="decorate the function with @per_row or @per_batch()")
    return function


def _check_fits(function: RowFunction[object, object], schema: Schema) -> None:
    """Raises InvalidInput where a field of the row that the function takes is no column, or of another type."""
    columns = arrow_schema(Schema(tuple(schema.require(field.name) for field in function.input_schema)))
    for wanted, found in zip(function.input_schema, columns, strict=True):
        if wanted.type != found.type:
            raise InvalidInput(f"the function takes {wanted.name!r} as {wanted.type}, and the column is {found.type}")
