"""The work of a `join` in a chain: each side's rows are kept, and those of the other side find them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from headrace.graph.schema import Schema
from headrace.operators.arrow_types import arrow_type
from headrace.operators.columnar import Form
from headrace.operators.expressions import parse_expression
from headrace.operators.join_bound import Bound, Spans
from headrace.operators.join_checks import condition_form
from headrace.operators.join_output import Output, Pairs
from headrace.operators.join_sides import KEY_PREFIX, SIDES, Condition, Side, conjuncts, exact_keys, read_condition
from headrace.operators.late_rows import are_in_time
from headrace.serial import Batch, Context, Timer
from headrace.serial import Operator as Instance
from headrace.serial.hashed_rows import HashedRows
from headrace.serial.row_hash import is_permuted
from headrace.serial.sorted_runs import Asking
from headrace.serial.waiting_rows import PLAYED

if TYPE_CHECKING:
    from headrace.operators.join import JoinConfig

_OTHER: Mapping[Side, Side] = {"left": "right", "right": "left"}
# The sides of which rows without a partner come out, too.
OUTER: Mapping[str, tuple[Side, ...]] = {"inner": (), "left": ("left",), "right": ("right",), "full": SIDES}
# A time before all rows.
_ALWAYS_US = -(1 << 62)


class _Side:
    """One input: the columns that are kept of it, and which of them are its key and its time."""

    def __init__(self, schema: Schema, keys: Iterable[str], *, is_outer: bool, has_windows: bool) -> None:
        self.time = schema.require(schema.event_time or "").name
        self.is_outer = is_outer
        self._has_windows = has_windows
        hidden = (column for column in schema.hidden if column.name == self.time)
        own = {column.name: arrow_type(column.type) for column in (*schema.columns, *hidden)}
        self.key = [(name, own[name]) for name in keys]
        self.columns = [field for field in own.items() if field not in self.key]

    def parted(
        self, rows: pa.RecordBatch, context: Context, *, keeps_late: bool
    ) -> tuple[pa.RecordBatch, list[pa.RecordBatch]]:
        """Those in time and with a whole key; and of the others, which find nobody, those that come out alone."""
        alone: list[pa.RecordBatch] = []
        if self.is_outer and not self._has_windows and rows.column(self.time).null_count:
            is_timed = rows.column(self.time).is_valid()
            alone.append(rows.filter(rows.column(self.time).is_null()))
            rows = rows.filter(is_timed)
        rows = self._in_time(rows, context, keeps_late=keeps_late)
        for name, _ in self.key:
            if rows.column(name).null_count:
                is_whole = rows.column(name).is_valid()
                alone += [rows.filter(rows.column(name).is_null())] if self.is_outer else []
                rows = rows.filter(is_whole)
        return rows, alone

    def _in_time(self, rows: pa.RecordBatch, context: Context, *, keeps_late: bool) -> pa.RecordBatch:
        """A dead letter has the columns that users know."""
        known = [name for name in rows.schema.names if not name.startswith(KEY_PREFIX)]
        in_time = are_in_time(context, rows.select(known), self.time, keeps_late=keeps_late)
        return rows if in_time.all() else rows.filter(pa.array(in_time))

    def kept(self, rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
        arrays: list[Any] = [_typed(rows.column(field.name), field.type) for field in schema]
        return pa.record_batch(arrays, schema=schema)


class JoinRows(Instance):
    """Every pair once for each window that both rows are in: when the later of the rows comes, which finds the earlier
    one in the state. The order of the pairs that one batch makes is not told.

    A row of an outer side comes out alone when the watermark passes the last time that a partner could have: no pair
    has it if it finds nobody in the state then. So whether a row has partners need not be written down.

    State holds the rows that can still find a partner, or of which others must know whether they have one; and no more
    of others than of those.
    """

    def __init__(self, config: JoinConfig, inputs: Mapping[str, Schema]) -> None:
        """Only where `join_checks.why_not` has nothing against it."""
        condition = read_condition(config.on, inputs)
        self._bound = Bound.of(config)
        self._has_windows = config.window is not None
        self._keeps_late = config.keeps_late
        self.lag_us = self._bound.lag_us(config.kind)
        keys = dict(zip(SIDES, zip(*exact_keys(condition, inputs), strict=True), strict=True))
        self._outer = OUTER[config.kind]
        self._sides = {
            side: _Side(inputs[side], keys[side], is_outer=side in self._outer, has_windows=self._has_windows)
            for side in SIDES
        }
        self._times = {name: side.time for name, side in self._sides.items()}
        self._condition = self._left_to_check(condition, inputs)
        self._reads = condition.reads
        self._output = Output(config, condition, inputs)

    def _left_to_check(self, condition: Condition, inputs: Mapping[str, Schema]) -> Form | None:
        """None where equal hashes say all that the condition does."""
        says_more = len(list(conjuncts(parse_expression(condition.text).tree))) > 1
        is_sure = is_permuted([type_ for _, type_ in self._sides["left"].key]) and not says_more
        return None if is_sure else condition_form(condition, inputs)

    def open(self, context: Context) -> None:
        super().open(context)
        self._done_us: int | None = None
        self._played = context.state.value(PLAYED) if self._outer else None
        self._rows: dict[Side, HashedRows] = {
            name: context.state.hashed_rows(name, side.key, side.columns, side.time)
            for name, side in self._sides.items()
        }
        if context.watermark_us is not None:
            for name, rows in self._rows.items():
                rows.expire(self._needed_from(name, context.watermark_us))

    def _needed_from(self, side: Side, watermark_us: int) -> int:
        """Rows of a side before this time are needed no more: for pairs, to come out alone, or by rows of the other
        side that may."""
        needed_us = self._bound.needed_from(side, watermark_us)
        if not self._outer:
            return needed_us
        # No span that is still to be looked at ends before this.
        waiting_us = self.context.timers.next_event_us
        ends_us = watermark_us if waiting_us is None else min(watermark_us, waiting_us - 1)
        if side in self._outer:
            needed_us = min(needed_us, self._bound.needed_from(side, ends_us))
        return min(needed_us, ends_us - self._bound.width_us) if _OTHER[side] in self._outer else needed_us

    def process(self, batch: Batch) -> Iterable[Batch]:
        side: Side = "left" if batch.port == "left" else "right"
        rows, alone = self._sides[side].parted(batch.rows, self.context, keeps_late=self._keeps_late)
        made = [one for some in alone for one in self._alone(some, side)]
        if not rows.num_rows:
            return made
        kept = self._sides[side].kept(rows, self._rows[side].schema)
        run = self._rows[side].run_of(kept)
        asking = Asking(run, *self._bound.partners(side, run.at_us))
        made += [
            Batch(self._output.of_pairs(one), private=True)
            for pairs in self._pairs(kept, side, asking)
            for one in (pairs.in_windows(self._bound, self._times) if self._has_windows else [pairs])
        ]
        self._rows[side].append(run)
        if side in self._outer:
            self._wait_for(side, int(run.at_us.min()), None)
        return made

    def on_timer(self, timer: Timer) -> Iterable[Batch]:
        """Timers are at the ends of spans, and the first one does the work of all that are due; the last one sets the
        next."""
        watermark_us = self.context.watermark_us
        if self._played is None or watermark_us is None:
            return []
        made: list[Batch] = []
        if watermark_us != self._done_us:
            self._done_us = watermark_us
            made += [one for side in self._outer for one in self._ended(side, self._played.value, watermark_us)]
            self._played.value = watermark_us
        for side in self._outer:
            earliest_us = self._rows[side].earliest_from(self._bound.needed_from(side, watermark_us))
            if earliest_us is not None:
                self._wait_for(side, earliest_us, watermark_us)
        return made

    def _wait_for(self, side: Side, at_us: int, after_us: int | None) -> None:
        """For the first end of a span of a row of this time, of those that are not before `after_us`; there is one
        timer for all rows."""
        ends_us = self._bound.spans(side, np.array([at_us])).high_us
        first_us = int(ends_us[0] if after_us is None else ends_us[ends_us >= after_us][0]) + 1
        waiting_us = self.context.timers.next_event_us
        if waiting_us is None or first_us < waiting_us:
            self.context.timers.at_event_time(first_us)

    def _pairs(self, rows: pa.RecordBatch, side: Side, asking: Asking) -> Iterator[Pairs]:
        for found in self._rows[_OTHER[side]].find(asking):
            pairs = Pairs(rows, side, found)
            if self._condition is not None:
                pairs = pairs.where(self._condition, self._reads)
            if len(pairs.found):
                yield pairs

    def _ended(self, side: Side, played_us: int | None, watermark_us: int) -> Iterator[Batch]:
        """Rows of which a span has ended since, without a partner in it."""
        low_us = _ALWAYS_US if played_us is None else self._bound.needed_from(side, played_us)
        for rows in self._rows[side].of_times(low_us, self._bound.ended_before(side, watermark_us)):
            at_us = self._rows[side].times_of(rows)
            for spans in self._bound.spans(side, at_us).where(played_us, watermark_us).portions():
                yield from self._without_partner(rows, side, spans)

    def _without_partner(self, rows: pa.RecordBatch, side: Side, spans: Spans) -> Iterator[Batch]:
        asked = rows.take(spans.rows)
        is_alone = np.ones(asked.num_rows, np.bool_)
        for pairs in self._pairs(asked, side, Asking(self._rows[side].run_of(asked), spans.low_us, spans.high_us)):
            is_alone[pairs.found.asking] = False
        if is_alone.any():
            found = asked.filter(pa.array(is_alone))
            yield Batch(self._output.of_one_side(found, side, spans.high_us[is_alone]), private=True)

    def _alone(self, rows: pa.RecordBatch, side: Side) -> Iterator[Batch]:
        """Rows that cannot find anybody come out at once; with windows, for each."""
        kept = self._sides[side].kept(rows, self._rows[side].schema)
        if not self._has_windows:
            yield Batch(self._output.of_one_side(kept, side, np.empty(0, np.int64)), private=True)
            return
        for spans in self._bound.spans(side, self._rows[side].times_of(kept)).portions():
            found = kept.take(spans.rows)
            yield Batch(self._output.of_one_side(found, side, spans.high_us), private=True)


def _typed(column: pa.Array[Any], type_: pa.DataType) -> pa.Array[Any]:
    return column if column.type == type_ else column.cast(type_)
