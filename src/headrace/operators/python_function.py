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
from headrace.operators.settings_class import Given, read_settings
from headrace.operators.spec import Port, Spec
from headrace.serial import BatchFunction, RowFunction, schema_of
from headrace.serial import Operator as Instance


class PythonConfig(RowErrorConfig):
    function: str = Field(description="Where the function is: `package.module:name`.")
    settings: Given = None
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
        read_settings(function.settings_type, config.settings, config.function)
        if isinstance(function, RowFunction):
            check_fits(function.takes, schema)
            return schema_from_arrow(function.output_schema)
        made = function.output_schema
        return Schema(schema.columns, event_time=schema.event_time) if made is None else schema_from_arrow(made)

    def instance(self, config: PythonConfig, schema: Schema) -> Instance:
        function = _function(config.function)
        return function.operator(*read_settings(function.settings_type, config.settings, config.function))


def _function(place: str) -> RowFunction[object, object] | BatchFunction:
    function = load_object(place)
    if not isinstance(function, RowFunction | BatchFunction):
        raise InvalidInput(f"{place} is no operator", hint="decorate the function with @per_row or @per_batch()")
    return function


def check_fits(row_type: type, schema: Schema) -> None:
    """Raises InvalidInput where a field of the row that is taken is no column, or of another type."""
    taken = schema_of(row_type)
    columns = arrow_schema(Schema(tuple(schema.require(field.name) for field in taken)))
    for wanted, found in zip(taken, columns, strict=True):
        if wanted.type != found.type:
            message = f"{row_type.__name__} takes {wanted.name!r} as {wanted.type}, and the column is {found.type}"
            raise InvalidInput(message)
