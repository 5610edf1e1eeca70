"""The work of an inner `join` in a chain: each side's rows are kept, and those of the other side find them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from headrace.graph.schema import Column, Schema
from headrace.operators.arrow_expressions import holds
from headrace.operators.arrow_types import arrow_type
from headrace.operators.durations import duration_ms
from headrace.operators.expressions import parse_expression
from headrace.operators.join_sides import (
    SIDES,
    Condition,
    Side,
    conjuncts,
    joined_columns,
    read_condition,
    within_row,
)
from headrace.operators.late_rows import rows_in_time
from headrace.operators.system_columns import EVENT_TIME_COLUMN
from headrace.serial import Batch, Context, timestamps
from headrace.serial import Operator as Instance
from headrace.serial.hashed_rows import HashedRows
from headrace.serial.keys import Integers
from headrace.serial.row_hash import is_permuted
from headrace.serial.sorted_runs import Asking, Found

if TYPE_CHECKING:
    from headrace.operators.join import JoinConfig

_OTHER: dict[Side, Side] = {"left": "right", "right": "left"}


@dataclass(frozen=True, slots=True)
class Bound:
    """How far apart the times of a pair may be: the right `before_us` earlier to `after_us` later than the left; or,
    with a window, both in the same one."""

    before_us: int
    after_us: int
    window_us: int | None = None

    @classmethod
    def of(cls, config: JoinConfig) -> Bound:
        before_us, after_us = (duration_ms(bound or "0 seconds") * 1000 for bound in (config.before, config.after))
        return cls(before_us, after_us, None if config.window is None else duration_ms(config.window) * 1000)

    def partners(self, side: Side, at_us: Integers) -> tuple[Integers, Integers]:
        """The first and the last time that partners of rows of these times have."""
        if self.window_us is not None:
            starts = at_us - at_us % self.window_us
            return starts, starts + (self.window_us - 1)
        if side == "left":
            return at_us - self.before_us, at_us + self.after_us
        return at_us - self.after_us, at_us + self.before_us

    def needed_from(self, side: Side, watermark_us: int) -> int:
        """Rows of this side before this time can have no partner among rows that are still to come."""
        if self.window_us is not None:
            return watermark_us - watermark_us % self.window_us
        return watermark_us - (self.after_us if side == "left" else self.before_us)

    def end(self, at_us: Integers) -> Integers:
        """The last moment of the window that rows of these times lie in."""
        return self.partners("left", at_us)[1]


class _Side:
    """One input: the columns that are kept of it, and which of them are its key and its time."""

    def __init__(self, schema: Schema, keys: Iterable[str]) -> None:
        self.time = schema.require(schema.event_time or "").name
        hidden = (column for column in schema.hidden if column.name == self.time)
        own = {column.name: arrow_type(column.type) for column in (*schema.columns, *hidden)}
        self.key = [(name, own[name]) for name in keys]
        self.columns = [field for field in own.items() if field not in self.key]

    def usable(self, rows: pa.RecordBatch, context: Context, *, keeps_late: bool) -> pa.RecordBatch:
        """Those in time and with a whole key: others find nobody."""
        rows = rows_in_time(context, rows, self.time, keeps_late=keeps_late)
        for name, _ in self.key:
            if rows.column(name).null_count:
                rows = rows.filter(rows.column(name).is_valid())
        return rows

    def kept(self, rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
        arrays: list[Any] = [_typed(rows.column(field.name), field.type) for field in schema]
        return pa.record_batch(arrays, schema=schema)


class JoinRows(Instance):
    """Every pair once: when the later of its two rows comes, which finds the earlier one in the state. The order of the
    pairs that one batch makes is not told.

    State holds the rows that can still find a partner, and no more of others than of those.
    """

    def __init__(self, config: JoinConfig, inputs: Mapping[str, Schema]) -> None:
        """Only where `join_checks.why_not` has nothing against it."""
        condition = read_condition(config.on, inputs)
        self._bound = Bound.of(config)
        self._keeps_late = config.keeps_late
        # A pair has the time of its left row, which may have waited for its partner.
        self.lag_us = self._bound.after_us if self._bound.window_us is None else 0
        keys = dict(zip(SIDES, zip(*_hashed(condition), strict=True), strict=True))
        self._sides = {side: _Side(inputs[side], keys[side]) for side in SIDES}
        # Where equal hashes say all that the condition does, nothing is left to look at.
        says_more = len(list(conjuncts(parse_expression(condition.text).tree))) > 1
        is_sure = is_permuted([type_ for _, type_ in self._sides["left"].key]) and not says_more
        self._condition = None if is_sure else condition.text
        self._reads = condition.reads
        self._columns = _output(config, inputs)
        self._output = pa.schema([pa.field(column.name, arrow_type(column.type)) for _, column in self._columns])

    def open(self, context: Context) -> None:
        super().open(context)
        self._rows: dict[Side, HashedRows] = {
            name: context.state.hashed_rows(name, side.key, side.columns, side.time)
            for name, side in self._sides.items()
        }
        if context.watermark_us is not None:
            for name, rows in self._rows.items():
                rows.expire(self._bound.needed_from(name, context.watermark_us))

    def process(self, batch: Batch) -> Iterable[Batch]:
        side: Side = "left" if batch.port == "left" else "right"
        rows = self._sides[side].usable(batch.rows, self.context, keeps_late=self._keeps_late)
        if not rows.num_rows:
            return []
        kept = self._sides[side].kept(rows, self._rows[side].schema)
        run = self._rows[side].run_of(kept)
        asking = Asking(run, *self._bound.partners(side, run.at_us))
        made = list(self._made(kept, side, asking))
        self._rows[side].append(run)
        return made

    def _made(self, rows: pa.RecordBatch, side: Side, asking: Asking) -> Iterator[Batch]:
        for found in self._rows[_OTHER[side]].find(asking):
            pairs = _Pairs(rows, side, found)
            if self._condition is not None:
                pairs = pairs.where(self._condition, self._reads)
            if len(pairs.found):
                yield Batch(self._joined(pairs), private=True)

    def _joined(self, pairs: _Pairs) -> pa.RecordBatch:
        arrays: list[Any] = [
            self._window_time(pairs) if side is None else pairs.column(side, column.name)
            for side, column in self._columns
        ]
        return pa.record_batch(arrays, schema=self._output)

    def _window_time(self, pairs: _Pairs) -> pa.Array[Any]:
        times = pairs.column("left", self._sides["left"].time)
        return timestamps(self._bound.end(times.view(pa.int64()).to_numpy()))


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Rows of one side, and what they found of the other."""

    rows: pa.RecordBatch
    side: Side
    found: Found

    def column(self, side: Side, name: str) -> pa.Array[Any]:
        """Of one of the sides, for each pair."""
        if side == self.side:
            return self.rows.column(name).take(self.found.asking)
        return self.found.column(name)

    def where(self, condition: str, reads: Mapping[Side, Iterable[str]]) -> _Pairs:
        """Those for which it is true."""
        columns = {within_row(side, name): self.column(side, name) for side in SIDES for name in reads[side]}
        is_true = holds(condition, pa.record_batch(columns))
        return self if is_true.all() else _Pairs(self.rows, self.side, self.found.kept(is_true))


def _hashed(condition: Condition) -> list[tuple[str, str]]:
    """The pairs of key columns that hashes are made of: each column once. The condition decides about all."""
    chosen: list[tuple[str, str]] = []
    for left, right in condition.keys:
        if all(left != one and right != other for one, other in chosen):
            chosen.append((left, right))
    return chosen


def _output(config: JoinConfig, inputs: Mapping[str, Schema]) -> list[tuple[Side | None, Column]]:
    """The columns that come out, and of which side they are: None for the event time that a window gives."""
    columns = joined_columns(read_condition(config.on, inputs), inputs)
    left = inputs["left"]
    time: tuple[Side | None, Column] = (None, EVENT_TIME_COLUMN)
    if config.window is None:
        time = ("left", left.require(left.event_time or ""))
    # As a dict: what has the name of the event time already gives way to it, at its place.
    return list({**{column.name: (side, column) for side, column in columns}, time[1].name: time}.values())


def _typed(column: pa.Array[Any], type_: pa.DataType) -> pa.Array[Any]:
    return column if column.type == type_ else column.cast(type_)
