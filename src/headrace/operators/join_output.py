"""What a join in a chain emits: pairs of rows, and rows of one side with nulls for the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from headrace.graph.schema import Column, Schema
from headrace.operators.arrow_types import arrow_type
from headrace.operators.columnar import Form
from headrace.operators.columnar.values import Values, holds
from headrace.operators.join_bound import MADE_AT_ONCE, Bound
from headrace.operators.join_sides import SIDES, Condition, Side, joined_columns, within_row
from headrace.operators.system_columns import EVENT_TIME_COLUMN
from headrace.serial import microseconds, timestamps
from headrace.serial.keys import Integers
from headrace.serial.sorted_runs import Found

if TYPE_CHECKING:
    from headrace.operators.join import JoinConfig

# The side whose event time the output has; none where either may be missing.
LEADING: Mapping[str, Side | None] = {"inner": "left", "left": "left", "right": "right", "full": None}


@dataclass(frozen=True, slots=True)
class Pairs:
    """Rows of one side, and what they found of the other; with windows, the last moment of the one that both are in."""

    rows: pa.RecordBatch
    side: Side
    found: Found
    ends_us: Integers | None = None

    def column(self, side: Side, name: str) -> pa.Array[Any]:
        """Of one of the sides, for each pair."""
        if side == self.side:
            return self.rows.column(name).take(self.found.asking)
        return self.found.column(name)

    def where(self, condition: Form, reads: Mapping[Side, Iterable[str]]) -> Pairs:
        """Those for which it is true."""
        columns = {within_row(side, name): self.column(side, name) for side in SIDES for name in reads[side]}
        is_true = holds(Values(pa.record_batch(columns)), condition)
        return self if is_true.all() else replace(self, found=self.found.kept(is_true))

    def in_windows(self, bound: Bound, times: Mapping[Side, str]) -> Iterator[Pairs]:
        """Each pair once for every window that both rows are in."""
        left_us, right_us = (microseconds(self.column(side, times[side])) for side in SIDES)
        if bound.window_us == bound.every_us:
            _, ends_us = bound.shared(left_us, right_us)
            yield replace(self, ends_us=ends_us)
            return
        for some in _portions(len(self.found), MADE_AT_ONCE // (bound.width_us // bound.every_us + 1) + 1):
            numbers, ends_us = bound.shared(left_us[some], right_us[some])
            yield replace(self, found=self.found.taken(numbers + some.start), ends_us=ends_us)


def _portions(count: int, size: int) -> Iterator[slice]:
    return (slice(start, stop) for start, stop in pairwise([*range(0, count, size), count]))


class Output:
    """The columns that come out of a join, and what each row has in them."""

    def __init__(self, config: JoinConfig, condition: Condition, inputs: Mapping[str, Schema]) -> None:
        self._columns = _columns(config, condition, inputs)
        self._schema = pa.schema([pa.field(column.name, arrow_type(column.type)) for _, column in self._columns])
        shared = ((left, right) for left, right in condition.keys if left.lower() == right.lower())
        # What comes once and is of both sides is the right's where the left is missing.
        self._instead = dict(reversed([*shared]))

    def of_pairs(self, pairs: Pairs) -> pa.RecordBatch:
        arrays: list[Any] = [
            _times(pairs.ends_us) if side is None else pairs.column(side, column.name) for side, column in self._columns
        ]
        return pa.record_batch(arrays, schema=self._schema)

    def of_one_side(self, rows: pa.RecordBatch, side: Side, ends_us: Integers) -> pa.RecordBatch:
        """Rows that have no partner; `ends_us` count where there are windows."""
        arrays: list[Any] = []
        for (of, column), field in zip(self._columns, self._schema, strict=True):
            name = self._name_at(side, of, column.name)
            if of is None:
                arrays.append(_times(ends_us))
            else:
                arrays.append(pa.nulls(rows.num_rows, field.type) if name is None else rows.column(name))
        return pa.record_batch(arrays, schema=self._schema)

    def _name_at(self, side: Side, of: Side | None, name: str) -> str | None:
        """What a column of the output is called in a row of one side; None if it is not there."""
        if of == side:
            return name
        return self._instead.get(name) if of == "left" else None


def _columns(
    config: JoinConfig, condition: Condition, inputs: Mapping[str, Schema]
) -> list[tuple[Side | None, Column]]:
    """The columns that come out, and of which side they are: None for the event time that a window gives."""
    columns: dict[str, tuple[Side | None, Column]] = {
        column.name: (side, column) for side, column in joined_columns(condition, inputs)
    }
    leading = LEADING[config.kind]
    if leading is not None:
        of = leading if config.window is None else None
        schema = inputs[leading]
        time = EVENT_TIME_COLUMN if of is None else schema.require(schema.event_time or "")
        # What has the name of the event time already gives way to it, at its place.
        columns[time.name] = (of, time)
    return list(columns.values())


def _times(ends_us: Integers | None) -> pa.Array[Any]:
    return timestamps(np.empty(0, np.int64) if ends_us is None else ends_us)
