"""`join`: rows of two inputs that belong together and lie close to each other in event time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, model_validator

from headrace.errors import InvalidInput
from headrace.graph.schema import Column, Schema, backquoted
from headrace.operators.durations import duration_ms
from headrace.operators.event_windows import WINDOWS_PER_ROW_MAX, refuse_no_length, span
from headrace.operators.join_checks import why_not
from headrace.operators.join_keys import why_in_spark
from headrace.operators.join_output import LEADING
from headrace.operators.join_rows import JoinRows
from headrace.operators.join_sides import (
    SIDES,
    Side,
    exact_keys,
    joined_columns,
    joined_row,
    read_condition,
    side_by_side,
    time_of,
    within_row,
)
from headrace.operators.late_rows import LatePassed, LateTopic, LateTopicConfig, read_beside
from headrace.operators.projection import refuse_doubles
from headrace.operators.settings import Duration, SqlExpression, refuse_setting
from headrace.operators.spec import Operator, Port, Spec
from headrace.operators.system_columns import EVENT_TIME_COLUMN
from headrace.serial import Operator as Instance
from headrace.serial import Partitioning

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame

    from headrace.operators.context import CompileContext

_WINDOW = "_window"
_NO_LETTERS = "late rows of this join cannot be dead letters, for it runs in Spark's plan"
_DROP = "leave late as it is: drop, counted; EXPLAIN says which joins run in a chain"


class JoinConfig(LateTopicConfig):
    on: SqlExpression = Field(description="What must hold for a pair of rows: `left.order_id = right.id`.")
    kind: Literal["inner", "left", "right", "full"] = Field(
        "inner",
        description="inner: pairs only; left, right, full: rows of that side without a partner too, with nulls.",
    )
    before: Duration | None = Field(None, description="A right row may be this much earlier than the left one.")
    after: Duration | None = Field(None, description="A right row may be this much later than the left one.")
    window: Duration | None = Field(
        None, description="Instead: both rows lie in the same span of this length, aligned to the epoch."
    )
    every: Duration | None = Field(
        None, description="How often such a span begins: a pair comes once for each that both of its rows lie in."
    )
    late: LatePassed = "drop"
    dead_letter: LateTopic = None

    @model_validator(mode="after")
    def _is_bounded(self) -> JoinConfig:
        bounds = self.before is not None or self.after is not None
        if bounds == (self.window is not None):
            hint = "set before and after, such as before=1h after=1h, or window"
            cause = "before, after and window are set" if bounds else "a join without a bound in time keeps all rows"
            raise refuse_setting(cause, hint)
        if self.window is not None:
            refuse_no_length(window=self.window)
        if self.every is not None:
            self._require_overlap(self.every)
        return self

    def _require_overlap(self, every: str) -> None:
        if self.window is None:
            raise refuse_setting("every is set without window", "window=10m every=2m")
        refuse_no_length(every=every)
        if not duration_ms(every) <= duration_ms(self.window) <= duration_ms(every) * WINDOWS_PER_ROW_MAX:
            cause = f"window must be 1 to {WINDOWS_PER_ROW_MAX} times as long as every"
            raise refuse_setting(cause, "window=10m every=2m")


class Join(Operator[JoinConfig]):
    spec = Spec(
        name="join",
        title="Join",
        summary="Pairs rows of two inputs that belong together and lie close to each other in event time.",
        kind="relational",
        inputs=(Port("left", "rows with an event time"), Port("right", "rows with an event time")),
        outputs=(Port("out", "the columns of the left, then those of the right; equal keys of one name come once"),),
        guarantees=(
            "Every pair exactly once, with `every` once for each window, as soon as both rows are there; a row without "
            "a partner when the watermark says that none can come any more; the same rows as a batch run. State holds "
            "the rows that can still find a partner, and at most as many others. Rows later than the watermark are "
            "counted, and become what `late` says; dead letters only of joins that run in a chain."
        ),
        example=(
            'topic orders schema="id BIGINT, item STRING, ordered TIMESTAMP" event_time=ordered ! @paid.left\n'
            'topic payments schema="order_id BIGINT, amount DOUBLE, at TIMESTAMP" event_time=at ! @paid.right\n'
            'join "left.id = right.order_id" before="0 seconds" after="1 hour" as paid ! preview'
        ),
        positional="on",
        stateful=True,
    )
    config_type = JoinConfig
    takes_any_order: ClassVar[bool] = True

    def output_schema(self, config: JoinConfig, inputs: Mapping[str, Schema]) -> Schema:
        condition = read_condition(config.on, inputs)
        for side in SIDES:
            if inputs[side].event_time is None:
                hint = "give its source an event time (in SQL: WATERMARK FOR …), and keep that column up to here"
                raise InvalidInput(f"the rows of the {side} have no event time: state would never end", hint=hint)
        columns = tuple(column for _, column in joined_columns(condition, inputs))
        refuse_doubles(columns)
        if config.keeps_late and (reason := why_in_spark(config, inputs)) is not None:
            raise InvalidInput(f"{_NO_LETTERS}: {reason}", hint=_DROP)
        leading = LEADING[config.kind]
        if leading is None:
            return Schema(columns)
        time = _event_time(config, inputs[leading])
        return Schema(columns, () if time in columns else (time,), time.name)

    def used_columns(
        self, config: JoinConfig, needed: frozenset[str], inputs: Mapping[str, Schema]
    ) -> Mapping[str, frozenset[str]]:
        condition = read_condition(config.on, inputs)
        return {
            side: needed.union(
                condition.reads[side], [inputs[side].event_time or ""], read_beside(config, inputs[side])
            )
            for side in SIDES
        }

    def runs_in_chain(self, config: JoinConfig, inputs: Mapping[str, Schema]) -> bool:
        return why_not(config, inputs) is None

    def chain_instance(self, config: JoinConfig, inputs: Mapping[str, Schema]) -> Instance | None:
        return JoinRows(config, inputs) if self.runs_in_chain(config, inputs) else None

    def kept_columns(self, config: JoinConfig, inputs: Mapping[str, Schema]) -> Mapping[str, Mapping[str, str]]:
        """Where one side may be missing, its columns may be null; what is of both sides never is, but for null keys."""
        leading: tuple[Side, ...] = {"inner": SIDES, "left": ("left",), "right": ("right",)}.get(config.kind, ())
        condition = read_condition(config.on, inputs)
        kept: dict[str, dict[str, str]] = {side: {} for side in SIDES}
        partners: dict[tuple[Side, str], tuple[Side, str]] = {}
        for left, right in condition.keys:
            partners |= {("left", left): ("right", right), ("right", right): ("left", left)}
        for side, column in joined_columns(condition, inputs):
            if side not in leading and column.name.lower() not in condition.shared:
                continue
            kept[side][column.name] = column.name
            if (partner := partners.get((side, column.name))) is not None:
                kept[partner[0]][column.name] = partner[1]
        return kept

    def lanes(self, config: JoinConfig, inputs: Mapping[str, Schema]) -> Partitioning:
        left, right = zip(*exact_keys(read_condition(config.on, inputs), inputs), strict=True)
        return Partitioning("by_key", left, by_port=(("left", left), ("right", right)))

    def compile(self, config: JoinConfig, inputs: Mapping[str, DataFrame], context: CompileContext) -> DataFrame:
        from pyspark.sql import functions as spark  # noqa: PLC0415 - the catalogue loads without Spark

        if config.keeps_late and not context.bounded:
            raise InvalidInput(f"{_NO_LETTERS}, as something else in its query has to", hint=_DROP)
        schemas: dict[str, Schema] = {side: context.input_schema(side) for side in SIDES}
        condition = read_condition(config.on, schemas)
        times: dict[Side, str] = {side: schemas[side].event_time or "" for side in SIDES}
        left, right = (_side(inputs[side], side, times[side], config) for side in SIDES)
        on = f"({condition.text}) AND {_time_bound(config, times)}"
        on = f"{on} AND {condition.without_nulls}" if config.kind == "full" else on
        joined = left.join(right, spark.expr(on), config.kind)
        return joined.select(*joined_row(condition, schemas, joined.columns, _times(config, schemas)))


def _event_time(config: JoinConfig, leading: Schema) -> Column:
    """Of the output: the leading side's, or the end of the window that both rows lie in."""
    return leading.require(leading.event_time or "") if config.window is None else EVENT_TIME_COLUMN


def _side(frame: DataFrame, side: Side, time: str, config: JoinConfig) -> DataFrame:
    from pyspark.sql import functions as spark  # noqa: PLC0415

    if config.window is None:
        return side_by_side(frame, side)
    every = None if config.every is None else span(config.every)
    window = spark.window(backquoted(time), span(config.window), every).alias(_WINDOW)
    return side_by_side(frame.select("*", window), side, plain=time)


def _time_bound(config: JoinConfig, times: Mapping[Side, str]) -> str:
    if config.window is not None:
        return f"{within_row('left', _WINDOW)} = {within_row('right', _WINDOW)}"
    left, right = (backquoted(within_row(side, times[side])) for side in SIDES)
    before_ms, after_ms = (duration_ms(bound or "0 seconds") for bound in (config.before, config.after))
    return f"{right} BETWEEN {left} - INTERVAL {before_ms} MILLISECONDS AND {left} + INTERVAL {after_ms} MILLISECONDS"


def _times(config: JoinConfig, schemas: Mapping[str, Schema]) -> dict[str, SparkColumn]:
    """The one column of the output that is an event time for what follows, if there is one."""
    from pyspark.sql import functions as spark  # noqa: PLC0415

    leading = LEADING[config.kind]
    if leading is None:
        return {}
    name = _event_time(config, schemas[leading]).name
    if config.window is not None:
        return {name: spark.window_time(within_row(leading, _WINDOW)).alias(name)}
    return {name: time_of(leading, name)}
