"""Tables that nodes of a chain look up: which rows of them, in which version, and those rows inside a task."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import pyarrow as pa

from headrace.graph.schema import Schema
from headrace.operators.arrow_types import column_types
from headrace.operators.columnar import Form
from headrace.operators.columnar.forms import frozen
from headrace.operators.columnar.values import Values, holds
from headrace.serial.table_rows import TableRows, one_batch
from headrace.spark.reading.table_copy import COPIES_MAX, rows_at
from headrace.spark.reading.table_versions import pinned, version_of
from headrace.spark.specs import TableSpec

# By what is read, apart from the version: the rows of the table, and what was made of them.
_kept: OrderedDict[str, tuple[pa.Table, TableRows]] = OrderedDict()


@dataclass(frozen=True, slots=True)
class TableReading:
    """What a node looks up at its port: `read` are columns of the table; of them are computed the `columns` that it is
    told of, for rows for which `keep` holds: forms of `operators.columnar`. Plain data: it can be sent."""

    node: str
    port: str
    table: TableSpec
    read: str
    columns: Mapping[str, Form]
    keep: Form | None = None

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "table": self.table.to_json()}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> TableReading:
        columns = {name: frozen(form) for name, form in fields["columns"].items()}
        keep = None if fields["keep"] is None else frozen(fields["keep"])
        table = TableSpec.from_json(fields["table"])
        return cls(fields["node"], fields["port"], table, fields["read"], columns, keep)


def in_versions(readings: Iterable[TableReading], write_ahead: str) -> tuple[TableReading, ...]:
    """The same in the versions that Spark's write-ahead file of a micro-batch names; the newest where no topic is
    read."""
    return tuple(
        replace(
            one, table=replace(one.table, end=pinned(write_ahead, one.table.node) or version_of(one.table.location))
        )
        for one in readings
    )


def rows_of(reading: TableReading) -> TableRows:
    """Runs in a task, which keeps the newest version: it is read anew only where the table has changed."""
    table = rows_at(reading.table, column_types(Schema.parse(reading.read)), reading.table.end or {})
    name = f"{replace(reading, table=replace(reading.table, end=None))}"
    known = _kept.pop(name, None)
    if known is None or known[0] is not table:
        known = (table, TableRows(_computed(reading, table)))
    _kept[name] = known
    while len(_kept) > COPIES_MAX:
        _kept.popitem(last=False)
    return known[1]


def _computed(reading: TableReading, table: pa.Table) -> pa.RecordBatch:
    values = Values(one_batch(table))
    if reading.keep is not None:
        values = values.only(pa.array(holds(values, reading.keep)))
    return pa.record_batch([values.array(form) for form in reading.columns.values()], names=list(reading.columns))
