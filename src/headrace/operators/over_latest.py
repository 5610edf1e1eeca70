"""`over-latest`: aggregates over the rows of a key before each row, where rows take the place of earlier ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from headrace.graph.schema import Column, Schema
from headrace.operators.aggregates import AGGREGATES, Aggregate, parse_aggregates
from headrace.operators.expressions import parse_expression
from headrace.operators.over_frames import Frame, frame_ends, windowed
from headrace.operators.over_window import ROWS_MAX
from headrace.operators.projection import refuse_doubles
from headrace.operators.serial_operator import KeyedConfig, Keys, Partitioned, SerialOperator, check_keys
from headrace.operators.settings import ColumnName, SqlExpression
from headrace.operators.spec import Port, Spec
from headrace.serial import Batch, Context, group
from headrace.serial import Operator as Instance
from headrace.serial.row_chunks import RowChunks, joined

# Rows that later ones replaced go when they are more than those that count, and more than these.
REPLACED_ROWS_MAX = 1_024


class OverLatestConfig(KeyedConfig):
    ids: list[ColumnName] = Field(
        min_length=1, description="Columns that name a row within its key: one that comes later takes its place."
    )
    by: list[ColumnName] = Field(min_length=1, description="Columns that order the rows, nulls first.")
    rows: int = Field(ge=0, le=ROWS_MAX, description="So many rows of the key before each row.")
    keys: Keys = Field([])
    aggregates: list[SqlExpression] = Field(min_length=1, description=AGGREGATES)
    partitioned: Partitioned = "by_key"


class OverLatest(SerialOperator[OverLatestConfig]):
    takes_any_order = True
    spec = Spec(
        name="over-latest",
        title="Over latest",
        summary="Adds to every row aggregates over the rows of its key before it: for rows that are changes.",
        kind="serial",
        inputs=(Port("in", "rows of which later ones take the place of earlier ones"),),
        outputs=(Port("out", "the rows with the aggregates beside their own columns, whenever they change"),),
        guarantees=(
            "After each batch of rows those that came, and those whose aggregates changed by it; the last one of an id "
            "is what a batch run gives. Rows that `by` does not tell apart are ordered by their ids. An id belongs to "
            "its key: under another key it is another id. State holds one row for every id, and each batch looks "
            "through all of them."
        ),
        example=(
            'topic sales schema="seller STRING, item STRING, price DOUBLE, sold TIMESTAMP"'
            ' ! over-latest item by=sold rows=9 keys=seller aggregates=["avg(price) AS usual"]'
            " ! to-topic usual key=seller"
        ),
        positional="ids",
        stateful=True,
    )
    config_type = OverLatestConfig

    def output_schema(self, config: OverLatestConfig, inputs: Mapping[str, Schema]) -> Schema:
        schema = inputs["in"]
        for name in config.by:
            schema.require(name)
        check_keys([*config.ids, *config.keys], schema)
        made = tuple(Column(a.name, a.type) for a in parse_aggregates(config.aggregates, schema))
        columns = (*schema.columns, *made)
        refuse_doubles(columns)
        return Schema(columns, event_time=schema.event_time)

    def used_columns(
        self, config: OverLatestConfig, needed: frozenset[str], inputs: Mapping[str, Schema]
    ) -> Mapping[str, frozenset[str]]:
        read = (parse_expression(item).columns for item in config.aggregates)
        return {"in": needed.union((*config.ids, *config.by, *config.keys), *read)}

    def instance(self, config: OverLatestConfig, schema: Schema) -> Instance:
        keys, ids = ([column.name for column in check_keys(names, schema)] for names in (config.keys, config.ids))
        by = [schema.require(name).name for name in config.by]
        return _OverLatest(keys, ids, by, parse_aggregates(config.aggregates, schema), Frame(config.rows, None))


class _OverLatest(Instance):
    def __init__(
        self,
        keys: Sequence[str],
        ids: Sequence[str],
        by: Sequence[str],
        aggregates: Sequence[Aggregate],
        frame: Frame,
    ) -> None:
        self._keys = keys
        self._names = list(dict.fromkeys((*keys, *ids)))
        self._order = list(dict.fromkeys((*keys, *by, *ids)))
        self._aggregates = aggregates
        self._frame = frame

    def open(self, context: Context) -> None:
        super().open(context)
        self._rows = RowChunks(context.state, "rows")

    def process(self, batch: Batch) -> Iterable[Batch]:
        rows = batch.rows
        if not rows.num_rows:
            return []
        known = self._rows.all()
        self._keep(known, rows)
        if known is None:
            return [Batch(self._with_aggregates(self._latest(rows)), private=True)]
        before = self._latest(self._of_the_same_keys(known, rows))
        after = self._latest(joined(before, rows))
        return [Batch(self._changed(self._with_aggregates(before), self._with_aggregates(after), rows), private=True)]

    def _keep(self, known: pa.RecordBatch | None, rows: pa.RecordBatch) -> None:
        both = rows if known is None else joined(known, rows)
        latest = self._latest(both)
        if both.num_rows - latest.num_rows > max(REPLACED_ROWS_MAX, latest.num_rows):
            self._rows.replace(latest)
        else:
            self._rows.append(rows)

    def _latest(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Of rows with the same id the last one counts."""
        groups = group([rows.column(name) for name in self._names], rows.num_rows)
        last = np.zeros(groups.count, np.int64)
        last[groups.codes] = np.arange(rows.num_rows)
        return rows.take(last)

    def _of_the_same_keys(self, known: pa.RecordBatch, rows: pa.RecordBatch) -> pa.RecordBatch:
        if not self._keys:
            return known
        codes = _codes(self._keys, rows, known)
        # Codes are in the order of first appearance: those of the new rows come first.
        return known.filter(pa.array(codes[rows.num_rows :] <= codes[: rows.num_rows].max()))

    def _with_aggregates(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """In order."""
        order: Any = [(name, "ascending", "at_start") for name in self._order]
        rows = rows.take(pc.sort_indices(rows, sort_keys=order))
        codes = group([rows.column(key) for key in self._keys], rows.num_rows).codes
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        first, end = frame_ends(self._frame, codes, starts)
        made: list[Any] = windowed(self._aggregates, rows, first, end)
        names = [*rows.schema.names, *(aggregate.name for aggregate in self._aggregates)]
        return pa.record_batch([*rows.columns, *made], names=names)

    def _changed(self, before: pa.RecordBatch, after: pa.RecordBatch, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Of the rows after, those that came and those with other aggregates than before."""
        # Every id is among those after, each once: its code is its place.
        codes = _codes(self._names, after, before, rows)[after.num_rows :]
        was, came = codes[: before.num_rows], codes[before.num_rows :]
        told = np.zeros(after.num_rows, np.bool_)
        told[came] = True
        for aggregate in self._aggregates:
            now = after.column(aggregate.name).take(pa.array(was))
            told[was[_differs(now, before.column(aggregate.name))]] = True
        return after.filter(pa.array(told))


def _codes(names: Sequence[str], *batches: pa.RecordBatch) -> Any:
    """Equal numbers for rows, one batch after the other, that are equal in these columns."""
    columns = [pa.concat_arrays([batch.column(name) for batch in batches]) for name in names]
    return group(columns, sum(batch.num_rows for batch in batches)).codes


def _differs(one: Any, other: Any) -> np.ndarray[Any, Any]:
    unequal: Any = pc.fill_null(pc.not_equal(one, other), False)
    return np.asarray(pc.or_(unequal, pc.xor(one.is_valid(), other.is_valid())))
