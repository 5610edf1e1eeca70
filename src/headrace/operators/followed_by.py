"""`followed-by`: two steps per key, one after the other within a time, or the second one missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field, model_validator

from headrace.graph.schema import Column, Schema
from headrace.operators.arrow_expressions import check_condition, holds
from headrace.operators.arrow_types import arrow_schema, arrow_type
from headrace.operators.durations import duration_ms
from headrace.operators.event_time import check_time
from headrace.operators.expressions import parse_expression
from headrace.operators.projection import refuse_doubles
from headrace.operators.serial_operator import (
    TIME,
    KeyedConfig,
    Keys,
    Partitioned,
    Partitioner,
    SerialOperator,
    check_keys,
)
from headrace.operators.settings import ColumnName, Duration, SqlExpression, refuse_setting
from headrace.operators.spec import Port, Spec
from headrace.operators.window_state import sorted_indices
from headrace.serial import Batch, Context, KeyedTable, Timer, group, microseconds, timestamps
from headrace.serial import Operator as Instance
from headrace.serial.keys import Groups, Integers

FIRST, THEN = "_first", "_then"


class FollowedByConfig(KeyedConfig):
    first: SqlExpression = Field(description="The condition of the first row: `status = 'open'`.")
    then: SqlExpression = Field(description="The condition of the row that follows it.")
    within: Duration = Field(description="How long after the first row the second one may come: `10 seconds`.")
    time: ColumnName = Field(description=TIME)
    keys: Keys = Field([])
    absent: bool = Field(False, description="Report first rows that nothing followed in time, instead of pairs.")
    carry: list[ColumnName] = Field([], description="Columns of the first row to pass on, as `first_` and their name.")
    partitioned: Partitioned = "by_key"
    partitioner: Partitioner = None

    @property
    def within_us(self) -> int:
        return duration_ms(self.within) * 1000

    @model_validator(mode="after")
    def _is_long_enough(self) -> FollowedByConfig:
        if self.within_us == 0:
            raise refuse_setting("no time at all to follow", "give within a duration such as 10 seconds")
        return self


class FollowedBy(SerialOperator[FollowedByConfig]):
    spec = Spec(
        name="followed-by",
        title="Followed by",
        summary="Finds rows that another one of the same key follows in time, or does not.",
        kind="serial",
        inputs=(Port("in", "rows with an event-time column"),),
        outputs=(Port("out", "the keys, _first, _then and what is carried"),),
        guarantees=(
            "Rows of a key are taken in the order they come. A first row waits; another first row begins the wait anew;"
            " the next row that follows ends it, and is reported if it is not earlier than the first and at most"
            " `within` later. absent: a first row is reported when its time plus `within` has passed, by the watermark"
            " or by the next step of its key, and no step ended or renewed its wait before. Late rows are left out and"
            " counted. A row can end one wait and begin the next."
        ),
        example=(
            'topic doors schema="door STRING, state STRING, ts TIMESTAMP" event_time=ts watermark="5 seconds"'
            ' ! followed-by first="state = \'open\'" then="state = \'closed\'" within="1 minute" time=ts keys=door'
            " absent=true ! preview"
        ),
        stateful=True,
    )
    config_type = FollowedByConfig

    def output_schema(self, config: FollowedByConfig, inputs: Mapping[str, Schema]) -> Schema:
        schema = inputs["in"]
        check_time(config.time, schema)
        for condition in (config.first, config.then):
            check_condition(condition, schema, "a pattern")
        times = (Column(FIRST, "TIMESTAMP"), Column(THEN, "TIMESTAMP"))
        made = Schema((*check_keys(config.keys, schema), *times, *_carried(config, schema)))
        refuse_doubles(made)
        return made

    def used_columns(
        self, config: FollowedByConfig, needed: frozenset[str], inputs: Mapping[str, Schema]
    ) -> Mapping[str, frozenset[str]]:
        read = (parse_expression(item).columns for item in (config.first, config.then))
        return {"in": frozenset((config.time, *config.keys, *config.carry)).union(*read)}

    def instance(self, config: FollowedByConfig, schema: Schema) -> Instance:
        output = arrow_schema(self.output_schema(config, {"in": schema}))
        return _FollowedBy(config, schema, output)


def _carried(config: FollowedByConfig, schema: Schema) -> list[Column]:
    columns = [schema.require(name) for name in config.carry]
    return [Column(f"first_{column.name}", column.type) for column in columns]


class _FollowedBy(Instance):
    def __init__(self, config: FollowedByConfig, schema: Schema, output: pa.Schema) -> None:
        self._config = config
        self._keys = check_keys(config.keys, schema)
        self._time = schema.require(config.time).name
        self._carry = [schema.require(name) for name in config.carry]
        self._output = output

    def open(self, context: Context) -> None:
        super().open(context)
        key = [(column.name, arrow_type(column.type)) for column in self._keys]
        carried = [(f"c{index}", arrow_type(column.type)) for index, column in enumerate(self._carry)]
        marks = [(f"m{index}", pa.bool_()) for index in range(len(self._carry))]
        self._waiting: KeyedTable = context.state.table("waiting", key, [("first", pa.int64()), *carried, *marks])

    def process(self, batch: Batch) -> Iterable[Batch]:
        rows, is_first, is_then = self._steps(batch.rows)
        if not rows.num_rows:
            return []
        groups = group([rows.column(column.name) for column in self._keys], rows.num_rows)
        order = groups.order()
        walk = _Walk(groups, order, is_first[order], is_then[order], microseconds(rows.column(self._time))[order])
        stored = self._waiting.find(groups.keys)
        matched = self._matches(rows, walk, stored)
        self._keep(rows, walk, stored)
        if self._config.absent:
            return self._overdue(rows, walk, stored, matched)
        return self._pairs(rows, walk, stored, matched)

    def on_timer(self, timer: Timer) -> Iterable[Batch]:
        at_us = max(timer.at_us, self.context.watermark_us or timer.at_us)
        slots = self._waiting.slots()
        passed = slots[self._waiting["first"][slots] + self._config.within_us < at_us]
        made = self._rows_of_state(passed, None)
        self._waiting.delete(passed)
        self._wait()
        if not self._config.absent or not len(passed):
            return []
        order = sorted_indices(made, (FIRST, *(column.name for column in self._keys)))
        return [Batch(made.take(order), private=True)]

    def _steps(self, rows: pa.RecordBatch) -> tuple[pa.RecordBatch, Any, Any]:
        """Only the rows that are a step, with a time."""
        first, then = holds(self._config.first, rows), holds(self._config.then, rows)
        kept = (first | then) & rows.column(self._time).is_valid().to_numpy(zero_copy_only=False)
        late = self.context.is_late(rows.column(self._time))
        self.context.counts["late"] += int(np.count_nonzero(kept & late))
        kept &= ~late
        return rows.filter(pa.array(kept)), first[kept], then[kept]

    def _matches(self, rows: pa.RecordBatch, walk: _Walk, stored: Integers) -> _Matches:
        """Which steps find their key waiting, and which end the wait in time."""
        from_state = walk.begins & (stored[walk.codes] >= 0)
        since = np.where(from_state, self._waiting["first"][np.maximum(stored[walk.codes], 0)], 0)
        from_row = ~walk.begins & np.concatenate([[False], walk.is_first[:-1]])
        since = np.where(from_row, np.concatenate([[0], walk.at_us[:-1]]), since)
        waits = from_state | from_row
        in_time = waits & walk.is_then & (walk.at_us >= since) & (walk.at_us - since <= self._config.within_us)
        return _Matches(waits, in_time, from_state, since)

    def _pairs(self, rows: pa.RecordBatch, walk: _Walk, stored: Integers, matched: _Matches) -> list[Batch]:
        """Reported in the order in which the second rows came."""
        found = np.flatnonzero(matched.in_time)
        found = found[np.argsort(walk.order[found], kind="stable")]
        if not len(found):
            return []
        keys = [key.take(walk.codes[found]) for key in walk.groups.keys]
        times = [timestamps(matched.since[found]), timestamps(walk.at_us[found])]
        carried = [self._carried_values(rows, walk, index, found, matched) for index in range(len(self._carry))]
        return [Batch(pa.record_batch([*keys, *times, *carried], schema=self._output), private=True)]

    def _carried_values(
        self, rows: pa.RecordBatch, walk: _Walk, index: int, found: Integers, matched: _Matches
    ) -> pa.Array[Any]:
        """A column of the first rows: kept in state, or among the rows at hand."""
        of_rows = rows.column(self._carry[index].name).take(walk.order[np.maximum(found - 1, 0)])
        from_state = matched.from_state[found]
        if not from_state.any():
            return of_rows
        of_state = self._before[index].take(walk.codes[found])
        chosen: pa.Array[Any] = pc.if_else(pa.array(from_state), of_state, of_rows)
        return chosen

    def _overdue(self, rows: pa.RecordBatch, walk: _Walk, stored: Integers, matched: _Matches) -> list[Batch]:
        """A step that is too late in event time tells at once that the first row before it stayed alone."""
        found = np.flatnonzero(matched.waits & (walk.at_us - matched.since > self._config.within_us))
        found = found[np.argsort(walk.order[found], kind="stable")]
        if not len(found):
            return []
        keys = [key.take(walk.codes[found]) for key in walk.groups.keys]
        times = [timestamps(matched.since[found]), pa.nulls(len(found), self._output.field(THEN).type)]
        carried = [self._carried_values(rows, walk, index, found, matched) for index in range(len(self._carry))]
        return [Batch(pa.record_batch([*keys, *times, *carried], schema=self._output), private=True)]

    def _keep(self, rows: pa.RecordBatch, walk: _Walk, stored: Integers) -> None:
        """What each key waits for after these rows: its last step, if that is a first one."""
        self._before = [self._column_of_state(index, np.maximum(stored, 0)) for index in range(len(self._carry))]
        last = np.flatnonzero(np.concatenate([walk.begins[1:], [True]]))
        opens = walk.is_first[last]
        ended = stored[walk.codes[last[~opens]]]
        self._waiting.delete(ended[ended >= 0])
        last = last[opens]
        if not len(last):
            return
        slots, _ = self._waiting.add([key.take(walk.codes[last]) for key in walk.groups.keys])
        self._waiting["first"][slots] = walk.at_us[last]
        taken = rows.take(walk.order[last])
        for index, column in enumerate(self._carry):
            self._waiting.assign(f"c{index}", slots, taken.column(column.name))
            self._waiting[f"m{index}"][slots] = taken.column(column.name).is_null().to_numpy(zero_copy_only=False)
        self._waiting.touch(slots)
        self._wait()

    def _column_of_state(self, index: int, slots: Integers) -> pa.Array[Any]:
        values = self._waiting.values(f"c{index}", slots)
        missing = self._waiting[f"m{index}"][slots]
        return pc.if_else(pa.array(missing), pa.nulls(len(slots), values.type), values) if missing.any() else values

    def _rows_of_state(self, slots: Integers, then: pa.Array[Any] | None) -> pa.RecordBatch:
        nothing = pa.nulls(len(slots), self._output.field(THEN).type) if then is None else then
        times = [timestamps(self._waiting["first"][slots]), nothing]
        carried = [self._column_of_state(index, slots) for index in range(len(self._carry))]
        return pa.record_batch([*self._waiting.keys(slots), *times, *carried], schema=self._output)

    def _wait(self) -> None:
        """One timer, for the wait that ends first, serves all."""
        slots = self._waiting.slots()
        if len(slots):
            first = int(self._waiting["first"][slots].min())
            self.context.timers.at_event_time(first + self._config.within_us + 1)


class _Walk:
    """Steps sorted by key, in the order they came: `begins` marks the first of each key."""

    def __init__(self, groups: Groups, order: Integers, is_first: Any, is_then: Any, at_us: Integers) -> None:
        self.groups = groups
        self.order = order
        self.is_first = is_first
        self.is_then = is_then
        self.at_us = at_us
        self.codes = groups.codes[order]
        self.begins = np.concatenate([[True], self.codes[1:] != self.codes[:-1]])


class _Matches:
    """For each step: whether its key waits, whether it ends that in time, where the wait is from, and since when."""

    def __init__(self, waits: Any, in_time: Any, from_state: Any, since: Any) -> None:
        self.waits = waits
        self.in_time = in_time
        self.from_state = from_state
        self.since = since
