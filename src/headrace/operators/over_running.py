"""`over-running`: functions of each row and all of its key before it, in the order of event time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from headrace.graph.schema import Column, Schema
from headrace.operators.event_time import check_time
from headrace.operators.expressions import parse_expression
from headrace.operators.late_rows import LatePassed, LateTopic, LateTopicConfig, read_beside
from headrace.operators.over_functions import FRAME_FUNCTIONS, RUNNING_FUNCTIONS, parse_functions
from headrace.operators.projection import refuse_doubles
from headrace.operators.running_rows import RunningRows
from headrace.operators.serial_operator import TIME, KeyedConfig, Keys, Partitioned, SerialOperator, check_keys
from headrace.operators.settings import ColumnName, SqlExpression
from headrace.operators.spec import Port, Spec
from headrace.serial import Operator as Instance

_FUNCTIONS = (
    f"`function AS name` items: count(*), or {', '.join(FRAME_FUNCTIONS)} of a column, lag(column, rows, default), "
    "row_number(), rank() or dense_rank()."
)


class OverRunningConfig(KeyedConfig, LateTopicConfig):
    time: ColumnName = Field(description=TIME)
    keys: Keys = Field([])
    functions: list[SqlExpression] = Field(min_length=1, description=_FUNCTIONS)
    frame: Literal["range", "rows"] = Field(
        "range",
        description=(
            "range: aggregates take in all rows of the same time, as SQL does where nothing else is said; rows: only "
            "those that came before the row."
        ),
    )
    late: LatePassed = "drop"
    dead_letter: LateTopic = None
    partitioned: Partitioned = "by_key"


class OverRunning(SerialOperator[OverRunningConfig]):
    spec = Spec(
        name="over-running",
        title="Over running",
        summary="Adds to every row running totals, numbers, or values of rows before it, in the order of event time.",
        kind="serial",
        inputs=(Port("in", "rows with an event-time column"),),
        outputs=(Port("out", "the rows with the results beside their own columns"),),
        guarantees=(
            "Each row once, in the order of event time, when the watermark has passed it; the same as a batch run. "
            "Rows of the same time are in the order in which they came. Rows later than the watermark are counted, and "
            "become what `late` says; rows without a time are left out and counted. State holds the rows that wait, "
            "and for every key that ever came one row of results, and as many values as `lag` looks back."
        ),
        example=(
            'topic trades schema="symbol STRING, price DOUBLE, ts TIMESTAMP" event_time=ts watermark="5 seconds"'
            ' ! over-running time=ts keys=symbol functions=["max(price) AS highest", "lag(price) AS before"] ! preview'
        ),
        stateful=True,
    )
    config_type = OverRunningConfig

    def output_schema(self, config: OverRunningConfig, inputs: Mapping[str, Schema]) -> Schema:
        schema = inputs["in"]
        check_time(config.time, schema)
        check_keys(config.keys, schema)
        found = parse_functions(config.functions, schema, RUNNING_FUNCTIONS)
        columns = (*schema.columns, *(Column(function.name, function.type) for function in found))
        refuse_doubles(columns)
        return Schema(columns, event_time=schema.event_time)

    def used_columns(
        self, config: OverRunningConfig, needed: frozenset[str], inputs: Mapping[str, Schema]
    ) -> Mapping[str, frozenset[str]]:
        read = (parse_expression(item).columns for item in config.functions)
        return {"in": needed.union((config.time, *config.keys), read_beside(config, inputs["in"]), *read)}

    def instance(self, config: OverRunningConfig, schema: Schema) -> Instance:
        functions = parse_functions(config.functions, schema, RUNNING_FUNCTIONS)
        keys, time = check_keys(config.keys, schema), schema.require(config.time).name
        has_ties = config.frame == "range"
        return RunningRows(time, keys, functions, has_ties=has_ties, keeps_late=config.keeps_late)
