"""`deduplicate`: the first row of each key; for a time, or for ever."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from headrace.graph.schema import Schema
from headrace.operators.arrow_types import arrow_type
from headrace.operators.durations import duration_ms
from headrace.operators.event_time import check_time
from headrace.operators.serial_operator import TIME, KeyedConfig, Partitioned, Partitioner, SerialOperator, check_keys
from headrace.operators.settings import ColumnName, Duration, refuse_setting
from headrace.operators.spec import Port, Spec
from headrace.serial import Batch, Context, KeyedTable, Timer, group, microseconds
from headrace.serial import Operator as Instance
from headrace.serial.keys import Groups, Integers


class DeduplicateConfig(KeyedConfig):
    keys: list[ColumnName] = Field(min_length=1, description="Rows that are alike in these columns are the same row.")
    within: Duration | None = Field(
        None, description="How long a row is remembered, in event time; for ever if not given, and state grows."
    )
    time: ColumnName | None = Field(None, description=TIME)
    partitioned: Partitioned = "by_key"
    partitioner: Partitioner = None

    @property
    def within_us(self) -> int | None:
        return None if self.within is None else duration_ms(self.within) * 1000

    @model_validator(mode="after")
    def _fits_together(self) -> DeduplicateConfig:
        if (self.within is None) != (self.time is None):
            raise refuse_setting("within and time go together", "set both, or none to remember rows for ever")
        return self


class Deduplicate(SerialOperator[DeduplicateConfig]):
    spec = Spec(
        name="deduplicate",
        title="Deduplicate",
        summary="Lets the first row of each key through and drops the others.",
        kind="serial",
        inputs=(Port("in", "rows, some of them twice"),),
        outputs=(Port("out", "each row once"),),
        guarantees=(
            "Rows come out as they went in, in order. With `within`: a row is dropped if one of its key was let through"
            " and is at most that much older in event time; later than the watermark, it may be let through again."
            " Rows without a time are let through. Dropped rows are counted."
        ),
        example=(
            'topic payments schema="id STRING, amount DOUBLE, ts TIMESTAMP" event_time=ts watermark="5 seconds"'
            ' ! deduplicate id within="1 hour" time=ts ! preview'
        ),
        positional="keys",
        stateful=True,
    )
    config_type = DeduplicateConfig

    def output_schema(self, config: DeduplicateConfig, inputs: Mapping[str, Schema]) -> Schema:
        schema = inputs["in"]
        check_keys(config.keys, schema)
        if config.time is not None:
            check_time(config.time, schema)
        return Schema(schema.columns, event_time=schema.event_time)

    def used_columns(
        self, config: DeduplicateConfig, needed: frozenset[str], inputs: Mapping[str, Schema]
    ) -> Mapping[str, frozenset[str]]:
        return {"in": needed.union(config.keys, [config.time] if config.time else [])}

    def instance(self, config: DeduplicateConfig, schema: Schema) -> Instance:
        time = None if config.time is None else schema.require(config.time).name
        keys = [(column.name, arrow_type(column.type)) for column in check_keys(config.keys, schema)]
        return _Deduplicate(keys, time, config.within_us)


class _Deduplicate(Instance):
    def __init__(self, keys: list[tuple[str, pa.DataType]], time: str | None, within_us: int | None) -> None:
        self._keys = keys
        self._time = time
        self._within_us = within_us

    def open(self, context: Context) -> None:
        super().open(context)
        self._seen: KeyedTable = context.state.table("seen", self._keys, [("at", pa.int64())])

    def process(self, batch: Batch) -> Iterable[Batch]:
        rows = batch.rows
        if not rows.num_rows:
            return []
        groups = group([rows.column(name) for name, _ in self._keys], rows.num_rows)
        fresh = self._fresh(groups, rows)
        dropped = rows.num_rows - int(np.count_nonzero(fresh))
        self.context.counts["duplicates"] += dropped
        return [Batch(rows.filter(pa.array(fresh)), private=True) if dropped else batch.to("out")]

    def on_timer(self, timer: Timer) -> Iterable[Batch]:
        at_us = max(timer.at_us, self.context.watermark_us or timer.at_us)
        slots = self._seen.slots()
        self._seen.delete(slots[self._seen["at"][slots] + (self._within_us or 0) < at_us])
        self._wait()
        return []

    def _fresh(self, groups: Groups, rows: pa.RecordBatch) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which rows are let through. Each round lets at most one row of a key through: few rounds are enough."""
        at_us, timed = self._times(rows)
        known = self._seen.find(groups.keys)
        since = np.where(known >= 0, self._seen["at"][np.maximum(known, 0)], 0)
        remembered = known >= 0
        fresh: np.ndarray[Any, np.dtype[np.bool_]] = ~timed
        left = np.flatnonzero(timed)
        while len(left):
            left = left[self._is_new(at_us[left], groups.codes[left], since, remembered)]
            codes, first = np.unique(groups.codes[left], return_index=True)
            chosen = left[first]
            fresh[chosen] = True
            since[codes], remembered[codes] = at_us[chosen], True
            left = np.delete(left, first)
        self._remember(groups, since, remembered & ((known < 0) | (since != self._seen["at"][np.maximum(known, 0)])))
        return fresh

    def _is_new(self, at_us: Integers, codes: Integers, since: Integers, remembered: Any) -> Any:
        if self._within_us is None:
            return ~remembered[codes]
        return ~remembered[codes] | (at_us > since[codes] + self._within_us)

    def _times(self, rows: pa.RecordBatch) -> tuple[Integers, Any]:
        if self._time is None:
            return np.zeros(rows.num_rows, np.int64), np.ones(rows.num_rows, np.bool_)
        times = rows.column(self._time)
        return microseconds(times), times.is_valid().to_numpy(zero_copy_only=False)

    def _remember(self, groups: Groups, since: Integers, changed: Any) -> None:
        codes = np.flatnonzero(changed)
        if not len(codes):
            return
        slots, _ = self._seen.add([key.take(codes) for key in groups.keys])
        self._seen["at"][slots] = since[codes]
        self._seen.touch(slots)
        self._wait()

    def _wait(self) -> None:
        slots = self._seen.slots()
        if self._within_us is not None and len(slots):
            self.context.timers.at_event_time(int(self._seen["at"][slots].min()) + self._within_us + 1)
