"""`asof-join`: each row of the left with the newest row of the right that is not later than it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field

from headrace.errors import InvalidInput
from headrace.graph.schema import Schema
from headrace.operators.arrow_types import arrow_schema
from headrace.operators.asof_match import Timed, newest_of_each, newest_right
from headrace.operators.durations import duration_ms
from headrace.operators.join_sides import SIDES, Side
from headrace.operators.late_rows import LatePassed, LateTopic, LateTopicConfig, read_beside, rows_in_time
from headrace.operators.projection import refuse_doubles
from headrace.operators.serial_operator import KeyedConfig, SerialOperator, check_keys
from headrace.operators.settings import ColumnName, Duration
from headrace.operators.spec import Port, Spec
from headrace.serial import Batch, Context, Partitioning, Timer, microseconds
from headrace.serial import Operator as Instance
from headrace.serial.row_chunks import RowChunks

# Rows of the right that later ones replaced go when they are more than those still needed, and more than these.
REPLACED_ROWS_MAX = 1_024


class AsofJoinConfig(KeyedConfig, LateTopicConfig):
    keys: list[ColumnName] = Field([], description="Columns that both inputs have, and that are equal in a pair.")
    kind: Literal["inner", "left"] = Field(
        "inner", description="inner: pairs only; left: rows of the left without a partner too, with nulls."
    )
    within: Duration | None = Field(
        None, description="A right row that is older than the left one by more than this is no partner."
    )
    late: LatePassed = "drop"
    dead_letter: LateTopic = None

    @property
    def within_us(self) -> int | None:
        return None if self.within is None else duration_ms(self.within) * 1000


class AsofJoin(SerialOperator[AsofJoinConfig]):
    spec = Spec(
        name="asof-join",
        title="As-of join",
        summary="Adds to each row the newest row of another input that is not later than it in event time.",
        kind="serial",
        inputs=(Port("left", "rows with an event time"), Port("right", "rows with an event time")),
        outputs=(Port("out", "the columns of the left, then those of the right without the keys"),),
        guarantees=(
            "Each row of the left once, in the order of event time, when the watermark has passed it; the same as a "
            "batch run. Of several right rows of one time the one that came last counts. Rows of both inputs "
            "later than the watermark are counted, and become what `late` says; rows without a time are left out and "
            "counted. State holds the rows that wait, and of each key the newest row of the right, with `within` for "
            "no longer than that."
        ),
        example=(
            'topic trades schema="symbol STRING, volume BIGINT, ts TIMESTAMP" event_time=ts ! @quoted.left\n'
            'topic quotes schema="symbol STRING, price DOUBLE, at TIMESTAMP" event_time=at ! @quoted.right\n'
            "asof-join symbol kind=left as quoted ! preview"
        ),
        positional="keys",
        stateful=True,
    )
    config_type = AsofJoinConfig

    def output_schema(self, config: AsofJoinConfig, inputs: Mapping[str, Schema]) -> Schema:
        left, right = (inputs[side] for side in SIDES)
        for side in SIDES:
            _require_time(inputs[side], side)
        for one, other in zip(check_keys(config.keys, left), check_keys(config.keys, right), strict=True):
            if one.type != other.type:
                hint = f"cast one in a select: `CAST({other.name} AS {one.type}) AS {other.name}`"
                raise InvalidInput(
                    f"the key {one.name!r} is {one.type} on the left, {other.type} on the right", hint=hint
                )
        columns = (*left.columns, *_without_keys(config, right).columns)
        refuse_doubles(columns)
        return Schema(columns, event_time=left.event_time)

    def used_columns(
        self, config: AsofJoinConfig, needed: frozenset[str], inputs: Mapping[str, Schema]
    ) -> Mapping[str, frozenset[str]]:
        needed = needed.union(config.keys)
        return {
            side: needed.union([inputs[side].event_time or ""], read_beside(config, inputs[side])) for side in SIDES
        }

    def partitioning(self, config: AsofJoinConfig) -> Partitioning:
        return Partitioning("by_key", tuple(config.keys))

    def instance(self, config: AsofJoinConfig, schema: Schema) -> Instance:
        raise InvalidInput("an as-of join has two inputs")

    def chain_instance(self, config: AsofJoinConfig, inputs: Mapping[str, Schema]) -> Instance:
        return _AsofJoin(config, inputs, arrow_schema(self.output_schema(config, inputs)))


def _require_time(schema: Schema, side: Side) -> None:
    if schema.event_time is None or schema.event_time not in schema.names:
        hint = "give its source an event time (in SQL: WATERMARK FOR …), and keep that column up to here"
        raise InvalidInput(f"the rows of the {side} have no event time", hint=hint)


def _without_keys(config: AsofJoinConfig, right: Schema) -> Schema:
    keys = {key.lower() for key in config.keys}
    return Schema(tuple(column for column in right if column.name.lower() not in keys))


class _AsofJoin(Instance):
    def __init__(self, config: AsofJoinConfig, inputs: Mapping[str, Schema], output: pa.Schema) -> None:
        self._kind = config.kind
        self._within_us = config.within_us
        self._keeps_late = config.keeps_late
        self._times = {side: inputs[side].event_time or "" for side in SIDES}
        self._keys = {side: [column.name for column in check_keys(config.keys, inputs[side])] for side in SIDES}
        self._empty = {side: _no_rows(inputs[side]) for side in SIDES}
        self._added = _without_keys(config, inputs["right"]).names
        self._output = output

    def open(self, context: Context) -> None:
        super().open(context)
        self._rows = {side: RowChunks(context.state, side) for side in SIDES}
        self._done_us: int | None = None

    def process(self, batch: Batch) -> Iterable[Batch]:
        """Rows of both sides wait until no earlier one can come."""
        side: Side = "left" if batch.port == "left" else "right"
        rows = rows_in_time(self.context, batch.rows, self._times[side], keeps_late=self._keeps_late)
        if rows.num_rows:
            self._rows[side].append(rows)
            self._wait(self._at_us(rows, side))
        return []

    def on_timer(self, timer: Timer) -> Iterable[Batch]:
        watermark_us = self.context.watermark_us
        if watermark_us is None or watermark_us == self._done_us:
            return []
        # Timers are one for each batch of rows, and the first one does the work of all.
        self._done_us = watermark_us
        right = self._all("right")
        made = self._joined(right, watermark_us)
        self._forget(right, watermark_us)
        return [Batch(made, private=True)] if made.num_rows else []

    def _joined(self, right: pa.RecordBatch, watermark_us: int) -> pa.RecordBatch:
        """The rows of the left that the watermark has passed, in order of time, with their partners."""
        waiting = self._all("left")
        at_us = self._at_us(waiting, "left")
        passed = at_us < watermark_us
        order = np.argsort(at_us, kind="stable")
        if passed.any():
            self._rows["left"].replace(waiting.filter(pa.array(~passed)))
        self._wait(at_us[~passed])
        rows = waiting.take(pa.array(order[passed[order]]))
        found = newest_right(self._side(rows, "left"), self._side(right, "right"), self._within_us)
        return self._pairs(rows, right, found)

    def _pairs(self, rows: pa.RecordBatch, right: pa.RecordBatch, found: Any) -> pa.RecordBatch:
        if self._kind == "inner":
            rows, found = rows.filter(pa.array(found >= 0)), found[found >= 0]
        partners = right.select(self._added).take(pa.array(found, pa.int64(), mask=found < 0))
        columns: list[Any] = [*rows.columns, *partners.columns]
        return pa.record_batch(columns, schema=self._output)

    def _forget(self, right: pa.RecordBatch, watermark_us: int) -> None:
        """Rows of the right that no row of the left can find any more go, once they are many."""
        at_us = self._at_us(right, "right")
        self._wait(at_us[at_us >= watermark_us])
        kept = newest_of_each(self._side(right, "right"), watermark_us, self._within_us)
        gone = right.num_rows - int(np.count_nonzero(kept))
        if gone > max(REPLACED_ROWS_MAX, right.num_rows - gone) or (gone and self._within_us is not None):
            self._rows["right"].replace(right.filter(pa.array(kept)))

    def _side(self, rows: pa.RecordBatch, side: Side) -> Timed:
        return Timed([rows.column(key) for key in self._keys[side]], self._at_us(rows, side))

    def _all(self, side: Side) -> pa.RecordBatch:
        rows = self._rows[side].all()
        return self._empty[side] if rows is None else rows

    def _at_us(self, rows: pa.RecordBatch, side: Side) -> Any:
        return microseconds(rows.column(self._times[side]))

    def _wait(self, at_us: Any) -> None:
        if len(at_us):
            self.context.timers.at_event_time(int(at_us.min()) + 1)


def _no_rows(schema: Schema) -> pa.RecordBatch:
    fields = arrow_schema(schema)
    return pa.record_batch([pa.nulls(0, field.type) for field in fields], schema=fields)
