"""The work of a `lookup-join` in a chain: rows of the table are found by their keys, for a batch of rows at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from headrace.graph.schema import Schema
from headrace.operators.columnar import Form, columns_of
from headrace.operators.columnar.values import Values, holds
from headrace.operators.join_sides import Side
from headrace.operators.lookup_checks import LookupForms
from headrace.serial import Batch
from headrace.serial import Operator as Instance
from headrace.serial.key_index import Pairs, TableIndex
from headrace.serial.keys import Integers
from headrace.serial.table_rows import TableRows

TABLE_PORT = "right"
Kind = Literal["inner", "left", "semi", "anti"]


class LookupRows(Instance):
    """Rows go on in the order in which they came; those of one row in the order of the table."""

    # Not said to be stateless: no row of its own can fail, and the table is not read again for each half of a batch.

    def __init__(self, kind: Kind, forms: LookupForms, left: Schema, output: Schema) -> None:
        self._kind = kind
        self._forms = forms
        own = set(left.carried.names)
        self._output: list[tuple[Side, str]] = [("left" if name in own else "right", name) for name in output.names]

    def process(self, batch: Batch) -> Iterable[Batch]:
        table = self.context.table(TABLE_PORT)
        index = table.made(self._forms.keys["right"], self._index)
        keys = _columns(batch.rows, self._forms.keys["left"])
        if self._kind in ("semi", "anti") and self._forms.rest is None:
            yield _some(batch, np.flatnonzero((index.slots(keys) >= 0) == (self._kind == "semi")), self._names)
            return
        for pairs in index.find(keys):
            kept = pairs if self._forms.rest is None else pairs.where(self._hold(batch.rows, table, pairs))
            yield self._made(batch, table, kept)

    @property
    def _names(self) -> list[str]:
        return [name for _, name in self._output]

    def _index(self, rows: pa.RecordBatch) -> TableIndex:
        return TableIndex(_columns(rows, self._forms.keys["right"]))

    def _hold(self, rows: pa.RecordBatch, table: TableRows, pairs: Pairs) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """For which pairs the rest of the condition is true."""
        form: Form = self._forms.rest or ()
        columns: dict[str, Any] = {}
        for name in columns_of(form):
            side, own = self._forms.reads[name]
            of, places = (rows, pairs.asking) if side == "left" else (table.rows, pairs.found)
            columns[name] = of.column(own).take(places)
        return holds(Values(pa.record_batch(columns)), form)

    def _made(self, batch: Batch, table: TableRows, pairs: Pairs) -> Batch:
        if self._kind in ("semi", "anti"):
            is_found = np.zeros(pairs.stop - pairs.start, np.bool_)
            is_found[pairs.asking - pairs.start] = True
            return _some(batch, pairs.start + np.flatnonzero(is_found == (self._kind == "semi")), self._names)
        asking: Integers = pairs.asking
        found: Any = pairs.found
        if self._kind == "left":
            asking, found = _with_lonely(pairs)
        names = [name for side, name in self._output if side == "left"]
        left = _some(batch, asking, names)
        columns: list[Any] = [
            left.rows.column(name) if side == "left" else table.rows.column(name).take(found)
            for side, name in self._output
        ]
        rows = pa.record_batch(columns, names=self._names)
        return Batch(rows, private=not left.is_shared, places=left.places)


def _columns(rows: pa.RecordBatch, forms: Iterable[Form]) -> list[pa.Array[Any]]:
    values = Values(rows)
    return [values.array(form) for form in forms]


def _some(batch: Batch, places: Integers, names: list[str]) -> Batch:
    """These columns of the rows at these places, ascending; a row may come several times."""
    rows = batch.rows.select(names)
    if len(places) == batch.num_rows and not np.any(np.diff(places) != 1):
        return Batch(rows, private=not batch.is_shared, places=batch.places)
    taken = rows.take(places)
    return Batch(taken, private=True, places=None if batch.places is None else batch.places.take(places))


def _with_lonely(pairs: Pairs) -> tuple[Integers, pa.Array[Any]]:
    """With the rows that found nobody, at their places; they have no row of the table."""
    is_lonely = np.ones(pairs.stop - pairs.start, np.bool_)
    is_lonely[pairs.asking - pairs.start] = False
    lonely = pairs.start + np.flatnonzero(is_lonely)
    asking = np.concatenate([pairs.asking, lonely])
    found = np.concatenate([pairs.found, np.full(len(lonely), -1)])
    order = np.argsort(asking, kind="stable")
    found = found[order]
    return asking[order], pa.array(found, mask=found < 0)
