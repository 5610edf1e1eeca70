"""`length-window`: aggregates over the last N rows of each key, for every row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from pydantic import Field

from headrace.graph.schema import Column, Schema
from headrace.operators.aggregates import Aggregate, Function, parse_aggregates, result
from headrace.operators.arrow_types import arrow_type
from headrace.operators.expressions import parse_expression
from headrace.operators.length_slide import Rings, Sums, slide
from headrace.operators.projection import refuse_doubles
from headrace.operators.serial_operator import KeyedConfig, Keys, Partitioned, Partitioner, SerialOperator, check_keys
from headrace.operators.settings import SqlExpression
from headrace.operators.spec import Port, Spec
from headrace.serial import Batch, Context, KeyedRings, Signal, group
from headrace.serial import Operator as Instance
from headrace.serial.keys import Groups, Integers

LENGTH_MAX = 100_000
_FUNCTIONS: tuple[Function, ...] = ("count", "sum", "avg")


class LengthWindowConfig(KeyedConfig):
    length: int = Field(gt=0, le=LENGTH_MAX, description="How many rows of a key are looked at: the newest ones.")
    keys: Keys = Field([])
    aggregates: list[SqlExpression] = Field(
        min_length=1, description="`aggregate AS name` items: count(*), or count, sum or avg of a column of numbers."
    )
    partitioned: Partitioned = "by_key"
    partitioner: Partitioner = None


class LengthWindow(SerialOperator[LengthWindowConfig]):
    spec = Spec(
        name="length-window",
        title="Length window",
        summary="Adds to every row aggregates over the last rows of its key.",
        kind="serial",
        inputs=(Port("in", "rows to look at"),),
        outputs=(Port("out", "the rows with the aggregates beside their own columns"),),
        guarantees=(
            "One row out for every row in, in the same order. Nulls and NaN count for nothing. Numbers are kept as "
            "DOUBLE: sums of BIGINT are exact below 2^53. State: length numbers for each key and column."
        ),
        example=(
            'topic telemetry schema="drone STRING, battery DOUBLE"'
            ' ! length-window 10 keys=drone aggregates=["avg(battery) AS usual"] ! preview'
        ),
        positional="length",
        stateful=True,
    )
    config_type = LengthWindowConfig

    def output_schema(self, config: LengthWindowConfig, inputs: Mapping[str, Schema]) -> Schema:
        schema = inputs["in"]
        check_keys(config.keys, schema)
        made = tuple(Column(a.name, a.type) for a in parse_aggregates(config.aggregates, schema, _FUNCTIONS))
        columns = (*schema.columns, *made)
        refuse_doubles(columns)
        return Schema(columns, event_time=schema.event_time)

    def used_columns(
        self, config: LengthWindowConfig, needed: frozenset[str], inputs: Mapping[str, Schema]
    ) -> Mapping[str, frozenset[str]]:
        read = (parse_expression(item).columns for item in config.aggregates)
        return {"in": needed.union(config.keys, *read)}

    def instance(self, config: LengthWindowConfig, schema: Schema) -> Instance:
        keys = check_keys(config.keys, schema)
        return _LengthWindow(config.length, keys, parse_aggregates(config.aggregates, schema, _FUNCTIONS))


class _LengthWindow(Instance):
    def __init__(self, length: int, keys: tuple[Column, ...], aggregates: list[Aggregate]) -> None:
        self._length = length
        self._keys = keys
        self._aggregates = aggregates
        # Aggregates of one column share what is kept of it; count(*) needs only how many there were.
        self._columns = list(dict.fromkeys(aggregate.column for aggregate in aggregates))

    def open(self, context: Context) -> None:
        key = [(column.name, arrow_type(column.type)) for column in self._keys]
        self._windows = [
            _Window(
                context.state.rings(f"rings.{column}", key, self._length if column else 1),
                context.state.table(f"sums.{column}", key, [("sum", pa.float64()), ("valid", pa.int64())]),
                self._length,
            )
            for column in self._columns
        ]
        self._closed = context.state.table("closed", key, [("since", pa.int64())])

    def on_signal(self, signal: Signal) -> Iterable[Batch] | None:
        """`close_window`: the windows of all keys are empty afterwards; their rows have left already."""
        if signal.kind != "close_window":
            return None
        keys, counts = self._windows[0].filled()
        if not len(counts):
            return ()
        slots, _ = self._closed.add(keys)
        self._closed["since"][slots] = counts
        self._closed.touch(slots)
        for window in self._windows:
            window.empty()
        return ()

    def _since(self, groups: Groups) -> Integers:
        """For each key the ordinal of the first row that is in its window at all."""
        if not len(self._closed):
            return np.zeros(groups.count, np.int64)
        found = self._closed.find(groups.keys)
        since: Integers = np.where(found >= 0, self._closed["since"][np.maximum(found, 0)], 0)
        return since

    def process(self, batch: Batch) -> Iterable[Batch]:
        rows = batch.rows
        if not rows.num_rows:
            return []
        groups = group([rows.column(column.name) for column in self._keys], rows.num_rows)
        since = self._since(groups)
        windows = zip(self._columns, self._windows, strict=True)
        made = {column: window.slide(groups, _numbers(rows, column), since) for column, window in windows}
        columns = [result(a, made[a.column][1], made[a.column][0]) for a in self._aggregates]
        names = [aggregate.name for aggregate in self._aggregates]
        return [Batch(pa.record_batch([*rows.columns, *columns], names=[*rows.schema.names, *names]))]


class _Window:
    """One column: the last numbers of each key, their sum and how many of them are valid."""

    def __init__(self, rings: KeyedRings, sums: Any, length: int) -> None:
        self._rings = rings
        self._sums = sums
        self._length = length

    def filled(self) -> tuple[list[Any], Integers]:
        """All keys, and how many rows each ever had."""
        slots = self._rings.index.slots()
        keys = self._rings.index.arrays(slots, [type_ for _, type_ in self._rings.key])
        return keys, self._rings.counts[slots]

    def empty(self) -> None:
        slots = self._sums.slots()
        self._sums["sum"][slots], self._sums["valid"][slots] = 0.0, 0
        self._sums.touch(slots)

    def slide(self, groups: Groups, numbers: Any, since: Integers) -> tuple[Any, Any]:
        """For each row, sum and count over the last rows of its key, up to and with the row.

        Rows of a key before the ordinal in `since` are in no window any more.
        """
        rings, sums = self._rings, self._sums
        ring_slots = rings.add(groups.keys)
        sum_slots, _ = sums.add(groups.keys)
        filled = Rings(ring_slots, rings.values, rings.counts, self._length)
        made = slide(groups.codes, numbers, since, filled, Sums(sum_slots, sums["sum"], sums["valid"]))
        rings.note(ring_slots[groups.codes], numbers)
        sums.touch(sum_slots)
        return made


def _numbers(rows: pa.RecordBatch, column: str | None) -> Any:
    """A column as floats, nulls as NaN; zeros for count(*)."""
    if column is None:
        return np.zeros(rows.num_rows)
    values = rows.column(column)
    if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
        return np.where(values.is_valid().to_numpy(zero_copy_only=False), 0.0, np.nan)
    # One kind of array for the compiled walk: Arrow's own memory cannot be written to.
    return values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False, writable=True)
