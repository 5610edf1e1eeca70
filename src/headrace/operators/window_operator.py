"""What serial windows over event time share: their columns, what they read, and the windows they keep open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

import pyarrow as pa

from headrace.graph.schema import Column, Schema
from headrace.operators.aggregates import Aggregate, parse_aggregates
from headrace.operators.event_time import check_time
from headrace.operators.expressions import parse_expression
from headrace.operators.late_rows import LateConfig, LatePolicy, read_beside
from headrace.operators.projection import refuse_doubles
from headrace.operators.serial_operator import KeyedConfig, SerialOperator, check_keys
from headrace.operators.window_state import OpenWindows, window_schema
from headrace.serial import Batch, Context, Signal
from headrace.serial import Operator as Instance
from headrace.serial.items import Fields
from headrace.serial.keys import Integers


class WindowConfig(KeyedConfig, LateConfig):
    """Settings of a window over event time. Each declares these itself, in the order they are shown."""

    if TYPE_CHECKING:
        time: str
        aggregates: list[str]
        emit: Literal["final", "changes"]


# Whether a closed window has come out: kept where late rows may still change it.
TOLD = "told"

W = TypeVar("W", bound=WindowConfig)


class WindowOperator(SerialOperator[W]):
    def output_schema(self, config: W, inputs: Mapping[str, Schema]) -> Schema:
        schema = inputs["in"]
        check_time(config.time, schema)
        made = window_schema(check_keys(config.keys, schema), parse_aggregates(config.aggregates, schema))
        refuse_doubles(made)
        return made

    def used_columns(
        self, config: W, needed: frozenset[str], inputs: Mapping[str, Schema]
    ) -> Mapping[str, frozenset[str]]:
        read = (parse_expression(item).columns for item in config.aggregates)
        return {"in": frozenset((config.time, *config.keys)).union(read_beside(config, inputs["in"]), *read)}


@dataclass(frozen=True, slots=True)
class Windowing:
    """What a lane's windows keep, tell, and do with late rows."""

    time: str
    keys: Sequence[Column]
    aggregates: Sequence[Aggregate]
    changes: bool = False
    late: LatePolicy = "drop"
    kept_us: int = 0
    told_before_end_us: int | None = None
    """Where rows that leave have an event time as their last column: how long before the window's end it is."""

    @classmethod
    def of(cls, config: WindowConfig, schema: Schema) -> Windowing:
        return cls(
            schema.require(config.time).name,
            check_keys(config.keys, schema),
            parse_aggregates(config.aggregates, schema),
            config.emit == "changes",
            config.late,
            config.kept_us,
        )


class WindowInstance(Instance):
    """One lane's windows; they are open between micro-batches, in the lane's state."""

    kept_beside: Fields = ()
    """What is kept of each window beside its aggregates."""

    def __init__(self, windowing: Windowing) -> None:
        self._time = windowing.time
        self._keys = windowing.keys
        self._aggregates = windowing.aggregates
        self._changes = windowing.changes
        self._late = windowing.late
        self._kept_us = windowing.kept_us
        self._told_before_end_us = windowing.told_before_end_us
        if self._kept_us:
            self.kept_beside = [(TOLD, pa.int64())]

    def open(self, context: Context) -> None:
        super().open(context)
        self._windows = OpenWindows(
            context.state, self._keys, self._aggregates, self.kept_beside, told_before_end_us=self._told_before_end_us
        )

    def on_signal(self, signal: Signal) -> Iterable[Batch] | None:
        """`close_window`: every open window leaves as it is; what comes later begins anew."""
        if signal.kind != "close_window":
            return None
        slots = self._windows.table.slots()
        rows = self._windows.in_order(self._windows.rows(self._not_told(slots)))
        self._windows.table.delete(slots)
        return [] if self._changes or not rows.num_rows else [Batch(rows, private=True)]

    def _not_told(self, slots: Integers) -> Integers:
        """Of these windows those that come out for the first time."""
        if not self._kept_us:
            return slots
        fresh: Integers = slots[self._windows.table[TOLD][slots] == 0]
        self._windows.table[TOLD][fresh] = 1
        self._windows.table.touch(fresh)
        return fresh
