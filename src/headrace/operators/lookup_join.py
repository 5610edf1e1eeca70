"""`lookup-join`: rows of a stream with the rows of a table that belong to them, as the table is at that time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal

from pydantic import Field, model_validator

from headrace.errors import InvalidInput
from headrace.graph.schema import Schema
from headrace.operators.expressions import parse_expression
from headrace.operators.join_sides import (
    SIDES,
    Condition,
    conjuncts,
    joined_columns,
    joined_row,
    left_row,
    read_condition,
    side_by_side,
    time_of,
)
from headrace.operators.lookup_checks import lookup_forms
from headrace.operators.lookup_rows import LookupRows
from headrace.operators.projection import refuse_doubles
from headrace.operators.settings import SqlExpression, refuse_setting
from headrace.operators.spec import Operator, OperatorConfig, Port, Spec

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.operators.context import CompileContext
    from headrace.serial import Operator as Instance


_SPARK_KINDS: Final = {"semi": "left_semi", "anti": "left_anti", "not_in": "left_anti"}


class LookupJoinConfig(OperatorConfig):
    on: SqlExpression = Field(description="What must hold for a pair of rows: `left.drone = right.id`.")
    kind: Literal["inner", "left", "semi", "anti", "not_in"] = Field(
        "inner",
        description=(
            "inner: pairs only; left: rows of the stream without a partner too, with nulls; semi, anti: rows of the "
            "stream alone, each once, that have a partner, or have none; not_in: as anti, but a row is left out also "
            "where a null lets nobody say whether it has one, as SQL has it for NOT IN."
        ),
    )
    spread: Literal["whole", "by_key"] = Field(
        "whole", description="whole: every task gets the table; by_key: rows and table are brought together by key."
    )

    @model_validator(mode="after")
    def _fits_together(self) -> LookupJoinConfig:
        if self.kind == "not_in" and self.spread == "by_key":
            raise refuse_setting("a null in the table is for every row: not_in needs the whole table", "spread=whole")
        return self

    @property
    def adds_nothing(self) -> bool:
        """Whether the table only says which rows go on."""
        return self.kind in ("semi", "anti", "not_in")


class LookupJoin(Operator[LookupJoinConfig]):
    spec = Spec(
        name="lookup-join",
        title="Lookup join",
        summary="Adds to each row of a stream the rows of a table that belong to it.",
        kind="relational",
        inputs=(Port("left", "the stream"), Port("right", "the table")),
        outputs=(
            Port(
                "out",
                "the columns of the left, then, if inner or left, of the right; equal keys of one name come once",
            ),
        ),
        guarantees=(
            "Each row once for each partner that the table has in the version of the row's micro-batch, which is as "
            "new as the batch; a later change of the table changes nothing that came out. Keeps no state of its own. "
            "A batch run sees the table as it is when it begins."
        ),
        example=(
            'topic telemetry schema="drone STRING, battery DOUBLE" ! @owned.left\n'
            'table drones schema="id STRING, owner STRING" key=id ! @owned.right\n'
            'lookup-join "left.drone = right.id" kind=left as owned ! preview'
        ),
        positional="on",
    )
    config_type = LookupJoinConfig

    def output_schema(self, config: LookupJoinConfig, inputs: Mapping[str, Schema]) -> Schema:
        condition, left = read_condition(config.on, inputs), inputs["left"]
        if config.kind == "not_in":
            _require_one_comparison(config.on)
        columns = left.columns if config.adds_nothing else tuple(c for _, c in joined_columns(condition, inputs))
        refuse_doubles(columns)
        time = None if left.event_time is None else left.require(left.event_time)
        hidden = () if time is None or time in columns else (time,)
        return Schema(columns, hidden, left.event_time)

    def used_columns(
        self, config: LookupJoinConfig, needed: frozenset[str], inputs: Mapping[str, Schema]
    ) -> Mapping[str, frozenset[str]]:
        condition = read_condition(config.on, inputs)
        time = inputs["left"].event_time
        kept = needed if time is None else needed | {time}
        of_table = frozenset[str]() if config.adds_nothing else kept
        return {"left": kept | condition.reads["left"], "right": of_table | condition.reads["right"]}

    @property
    def adjustable(self) -> tuple[str, ...]:
        """None: another condition may be about columns that are not read, another kind only for Spark's plan."""
        return ()

    def runs_in_chain(self, config: LookupJoinConfig, inputs: Mapping[str, Schema]) -> bool:
        return lookup_forms(config, inputs) is not None

    def chain_instance(self, config: LookupJoinConfig, inputs: Mapping[str, Schema]) -> Instance | None:
        forms = lookup_forms(config, inputs)
        if forms is None or config.kind == "not_in":
            return None
        return LookupRows(config.kind, forms, inputs["left"], self.output_schema(config, inputs).carried)

    def kept_columns(self, config: LookupJoinConfig, inputs: Mapping[str, Schema]) -> Mapping[str, Mapping[str, str]]:
        return {"left": {name: name for name in inputs["left"].carried.names}}

    def compile(self, config: LookupJoinConfig, inputs: Mapping[str, DataFrame], context: CompileContext) -> DataFrame:
        from pyspark.sql import functions as spark  # noqa: PLC0415 - the catalogue loads without Spark

        if inputs["right"].isStreaming:
            raise InvalidInput("the right side is a stream, not a table", hint="read it with `table`, or use join")
        schemas: dict[str, Schema] = {side: context.input_schema(side) for side in SIDES}
        condition = read_condition(config.on, schemas)
        left, right = (side_by_side(inputs[side], side) for side in SIDES)
        right = spark.broadcast(right) if config.spread == "whole" else right
        time = schemas["left"].event_time
        times = {} if time is None else {time: time_of("left", time)}
        if config.adds_nothing:
            joined = left.join(right, spark.expr(_checked(config, condition)), _SPARK_KINDS[config.kind])
            return joined.select(*left_row(schemas["left"], joined.columns, times))
        joined = left.join(right, spark.expr(condition.text), config.kind)
        return joined.select(*joined_row(condition, schemas, joined.columns, times))


def _checked(config: LookupJoinConfig, condition: Condition) -> str:
    """What is checked for a pair. In this form Spark looks nulls up as well, instead of comparing every pair."""
    return f"({condition.text}) OR ({condition.text}) IS NULL" if config.kind == "not_in" else condition.text


def _require_one_comparison(on: str) -> None:
    """Raises InvalidInput unless nothing but one equality is checked: only of that it is clear what a null means."""
    if len(list(conjuncts(parse_expression(on).tree))) != 1:
        hint = "put a filter of the table before the join; kind=anti checks any condition"
        raise InvalidInput("not_in compares one value of the row with one of the table", hint=hint)
