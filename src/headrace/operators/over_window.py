"""`over-window`: aggregates over the rows of a key before each row, in the order of event time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from headrace.graph.schema import Column, Schema
from headrace.operators.aggregates import Aggregate
from headrace.operators.durations import duration_ms
from headrace.operators.event_time import check_time
from headrace.operators.expressions import parse_expression
from headrace.operators.late_rows import LatePassed, LateTopic, LateTopicConfig, read_beside
from headrace.operators.over_frames import Frame, frame_ends, places_of, sorted_by_key, windowed
from headrace.operators.over_functions import FRAME_FUNCTIONS, Picked, parse_frame_functions
from headrace.operators.over_order import InOrder
from headrace.operators.projection import refuse_doubles
from headrace.operators.serial_operator import TIME, KeyedConfig, Keys, Partitioned, SerialOperator, check_keys
from headrace.operators.settings import ColumnName, Duration, SqlExpression, refuse_setting
from headrace.operators.spec import Port, Spec
from headrace.serial import Context, microseconds
from headrace.serial import Operator as Instance
from headrace.serial.row_chunks import RowChunks, joined

ROWS_MAX = 100_000
_FUNCTIONS = f"`function AS name` items: count(*), or {', '.join(FRAME_FUNCTIONS)} of a column."


class OverWindowConfig(KeyedConfig, LateTopicConfig):
    rows: int | None = Field(None, ge=0, le=ROWS_MAX, description="So many rows of the key before each row.")
    within: Duration | None = Field(
        None, description="Instead: rows at most this much earlier in event time, and those of the same time."
    )
    time: ColumnName = Field(description=TIME)
    keys: Keys = Field([])
    aggregates: list[SqlExpression] = Field(min_length=1, description=_FUNCTIONS)
    late: LatePassed = "drop"
    dead_letter: LateTopic = None
    partitioned: Partitioned = "by_key"

    @property
    def frame(self) -> Frame:
        return Frame(self.rows, None if self.within is None else duration_ms(self.within) * 1000)

    @model_validator(mode="after")
    def _has_one_frame(self) -> OverWindowConfig:
        if (self.rows is None) == (self.within is None):
            raise refuse_setting("either rows or within says how far a window reaches back", "rows=5 or within=1h")
        return self


class OverWindow(SerialOperator[OverWindowConfig]):
    spec = Spec(
        name="over-window",
        title="Over window",
        summary="Adds to every row aggregates over the rows of its key before it, in the order of event time.",
        kind="serial",
        inputs=(Port("in", "rows with an event-time column"),),
        outputs=(Port("out", "the rows with the aggregates beside their own columns"),),
        guarantees=(
            "Each row once, in the order of event time, when the watermark has passed it; the same as a batch run. "
            "Rows later than the watermark are counted, and become what `late` says; rows without a time are left out "
            "and counted. State holds the rows that wait, and those that later rows can still look back at."
        ),
        example=(
            'topic trades schema="symbol STRING, price DOUBLE, ts TIMESTAMP" event_time=ts watermark="5 seconds"'
            ' ! over-window rows=9 time=ts keys=symbol aggregates=["avg(price) AS usual"] ! preview'
        ),
        stateful=True,
    )
    config_type = OverWindowConfig

    def output_schema(self, config: OverWindowConfig, inputs: Mapping[str, Schema]) -> Schema:
        schema = inputs["in"]
        check_time(config.time, schema)
        check_keys(config.keys, schema)
        made = tuple(Column(a.name, a.type) for a in parse_frame_functions(config.aggregates, schema))
        columns = (*schema.columns, *made)
        refuse_doubles(columns)
        return Schema(columns, event_time=schema.event_time)

    def used_columns(
        self, config: OverWindowConfig, needed: frozenset[str], inputs: Mapping[str, Schema]
    ) -> Mapping[str, frozenset[str]]:
        read = (parse_expression(item).columns for item in config.aggregates)
        return {"in": needed.union((config.time, *config.keys), read_beside(config, inputs["in"]), *read)}

    def instance(self, config: OverWindowConfig, schema: Schema) -> Instance:
        functions = parse_frame_functions(config.aggregates, schema)
        keys = [column.name for column in check_keys(config.keys, schema)]
        time = schema.require(config.time).name
        return _OverWindow(time, keys, functions, config.frame, keeps_late=config.keeps_late)


class _OverWindow(InOrder):
    def __init__(
        self, time: str, keys: Sequence[str], functions: Sequence[Aggregate | Picked], frame: Frame, *, keeps_late: bool
    ) -> None:
        super().__init__(time, keeps_late=keeps_late)
        self._keys = keys
        self._functions = functions
        self._frame = frame
        read = (function.column for function in functions if function.column is not None)
        self._looked_at = list(dict.fromkeys([time, *keys, *read]))

    def open(self, context: Context) -> None:
        super().open(context)
        self._recent = RowChunks(context.state, "recent")

    def with_functions(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """With what the rows look back at."""
        looked_at, recent = rows.select(self._looked_at), self._recent.all()
        before = 0 if recent is None else recent.num_rows
        both = looked_at if recent is None else joined(recent, looked_at)
        at_us = microseconds(both.column(self.time))
        order, starts = sorted_by_key([both.column(key) for key in self._keys], both.num_rows)
        first, end = frame_ends(self._frame, at_us[order], starts)
        made = windowed(self._functions, both.take(order), first, end)
        mine = places_of(order)[before:]
        self._keep(both, at_us, order, starts)
        columns: list[Any] = [*rows.columns, *(column.take(mine) for column in made)]
        names = [*rows.schema.names, *(function.name for function in self._functions)]
        return pa.record_batch(columns, names=names)

    def _keep(self, both: pa.RecordBatch, at_us: Any, order: Any, starts: Any) -> None:
        """Those rows stay that a later one can look back at."""
        kept = self._frame.kept(at_us[order], starts, self.context.watermark_us or 0)
        self._recent.replace(both.take(np.sort(order[kept])))
