"""`aggregate-latest`: aggregates per key over the latest row of each id, as a row whenever they change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from headrace.graph.schema import Column, Schema
from headrace.operators.aggregates import AGGREGATES, Aggregate, parse_aggregates, partial, result
from headrace.operators.arrow_types import arrow_schema, arrow_type
from headrace.operators.expressions import parse_expression
from headrace.operators.projection import refuse_doubles
from headrace.operators.serial_operator import KeyedConfig, Keys, Partitioned, SerialOperator, check_keys
from headrace.operators.settings import ColumnName, SqlExpression
from headrace.operators.spec import Port, Spec
from headrace.operators.system_columns import refuse_system_names
from headrace.serial import Batch, Context, KeyedTable, group
from headrace.serial import Operator as Instance
from headrace.serial.keys import Groups, Integers


class AggregateLatestConfig(KeyedConfig):
    ids: list[ColumnName] = Field(
        min_length=1, description="Columns that name a row within its key: one that comes later takes its place."
    )
    keys: Keys = Field([])
    aggregates: list[SqlExpression] = Field(min_length=1, description=AGGREGATES)
    emit: Literal["changes"] = Field("changes", description="changes: a row whenever an aggregate changes.")
    partitioned: Partitioned = "by_key"


class AggregateLatest(SerialOperator[AggregateLatestConfig]):
    takes_any_order = True
    spec = Spec(
        name="aggregate-latest",
        title="Aggregate latest",
        summary="Aggregates per key over the latest row of each id: for rows that are changes.",
        kind="serial",
        inputs=(Port("in", "rows of which later ones take the place of earlier ones"),),
        outputs=(Port("out", "the keys and the aggregates"),),
        guarantees=(
            "One row for each key that had rows in a batch of them, with the aggregates over the latest row of each of "
            "its ids; the last one is what a batch run gives. An id belongs to its key: under another key it is "
            "another id. State holds one row for every id, and each batch looks through all of them."
        ),
        example=(
            'topic prices schema="shop STRING, item STRING, price DOUBLE"'
            ' ! aggregate-latest item keys=shop aggregates=["avg(price) AS price"] ! to-topic averages key=shop'
        ),
        positional="ids",
        stateful=True,
    )
    config_type = AggregateLatestConfig

    def output_schema(self, config: AggregateLatestConfig, inputs: Mapping[str, Schema]) -> Schema:
        schema = inputs["in"]
        check_keys(config.ids, schema)
        made = _output(check_keys(config.keys, schema), parse_aggregates(config.aggregates, schema))
        refuse_doubles(made)
        refuse_system_names(made.names)
        return made

    def used_columns(
        self, config: AggregateLatestConfig, needed: frozenset[str], inputs: Mapping[str, Schema]
    ) -> Mapping[str, frozenset[str]]:
        read = (parse_expression(item).columns for item in config.aggregates)
        return {"in": frozenset((*config.ids, *config.keys)).union(*read)}

    def instance(self, config: AggregateLatestConfig, schema: Schema) -> Instance:
        keys, ids = check_keys(config.keys, schema), check_keys(config.ids, schema)
        return _AggregateLatest(keys, ids, parse_aggregates(config.aggregates, schema), schema)


def _output(keys: Sequence[Column], aggregates: Sequence[Aggregate]) -> Schema:
    return Schema((*keys, *(Column(aggregate.name, aggregate.type) for aggregate in aggregates)))


class _AggregateLatest(Instance):
    def __init__(
        self, keys: Sequence[Column], ids: Sequence[Column], aggregates: Sequence[Aggregate], schema: Schema
    ) -> None:
        self._keys = keys
        self._names = [*keys, *(column for column in ids if column not in keys)]
        self._aggregates = aggregates
        read = dict.fromkeys(aggregate.column for aggregate in aggregates if aggregate.column is not None)
        self._read = [schema.require(name) for name in read]
        self._schema = arrow_schema(_output(keys, aggregates))

    def open(self, context: Context) -> None:
        super().open(context)
        names = [(column.name, arrow_type(column.type)) for column in self._names]
        values = [(f"v{index}", arrow_type(column.type)) for index, column in enumerate(self._read)]
        known = [(f"k{index}", pa.bool_()) for index in range(len(self._read))]
        self._latest: KeyedTable = context.state.table("latest", names, [*values, *known])

    def process(self, batch: Batch) -> Iterable[Batch]:
        rows = batch.rows
        if not rows.num_rows:
            return []
        self._take_in(rows)
        changed = group([rows.column(key.name) for key in self._keys], rows.num_rows)
        return [Batch(self._aggregated(changed), private=True)]

    def _take_in(self, rows: pa.RecordBatch) -> None:
        """Of rows with the same id the last one counts."""
        groups = group([rows.column(column.name) for column in self._names], rows.num_rows)
        last = np.zeros(groups.count, np.int64)
        last[groups.codes] = np.arange(rows.num_rows)
        slots, _ = self._latest.add(groups.keys)
        for index, column in enumerate(self._read):
            values = rows.column(column.name).take(last)
            self._latest.assign(f"v{index}", slots, values)
            self._latest.assign(f"k{index}", slots, values.is_valid())
        self._latest.touch(slots)

    def _aggregated(self, changed: Groups) -> pa.RecordBatch:
        """The aggregates of these keys, over all of their ids."""
        slots = self._latest.slots()
        codes = self._codes(changed, slots)
        slots, codes = slots[codes >= 0], codes[codes >= 0]
        rows = self._values(slots)
        made = [partial(aggregate, rows, codes, changed.count) for aggregate in self._aggregates]
        results = [result(a, part.counts, part.numbers) for a, part in zip(self._aggregates, made, strict=True)]
        return pa.record_batch([*changed.keys, *results], schema=self._schema)

    def _codes(self, changed: Groups, slots: Integers) -> Integers:
        """Which of the keys each slot belongs to; −1 for none of them."""
        if not self._keys:
            return np.zeros(len(slots), np.int64)
        of_slots = self._latest.keys(slots)[: len(self._keys)]
        both = [pa.concat_arrays([key, own]) for key, own in zip(changed.keys, of_slots, strict=True)]
        # Codes are in the order of first appearance: the changed keys come first, each once.
        codes = group(both, changed.count + len(slots)).codes[changed.count :]
        return np.where(codes < changed.count, codes, -1)

    def _values(self, slots: Integers) -> pa.RecordBatch:
        columns: dict[str, Any] = {"_id": pa.nulls(len(slots))}
        for index, column in enumerate(self._read):
            known = pa.array(self._latest[f"k{index}"][slots])
            columns[column.name] = pc.if_else(known, self._latest.values(f"v{index}", slots), None)
        return pa.record_batch(columns)
