"""The work of a filter or a select in a chain: exact expressions on Arrow batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa

from headrace.graph.schema import Schema
from headrace.operators.columnar import Form
from headrace.operators.columnar.values import Values, holds
from headrace.operators.row_forms import RowForms
from headrace.operators.row_step import RowStep
from headrace.serial import Batch
from headrace.serial import Operator as Instance


def row_instance(step: RowStep | None, schema: Schema, output: Schema) -> Instance | None:
    """What does a step's work for rows of this schema; None where only Spark can."""
    made = None if step is None else RowForms.of(schema.carried).behind(step)
    if made is None:
        return None
    if made.keep is not None:
        return _Filter(made.keep)
    is_same = all(form[1] == output.require(name).type for name, form in made.columns.items())
    return _Select(made.columns) if is_same else None


class _Filter(Instance):
    stateless = True

    def __init__(self, condition: Form) -> None:
        self._condition = condition

    def process(self, batch: Batch) -> Iterable[Batch]:
        is_kept = holds(Values(batch.rows), self._condition)
        if is_kept.all():
            return [batch.to("out")]
        places = None if batch.places is None else batch.places.take(np.flatnonzero(is_kept))
        return [Batch(batch.rows.filter(pa.array(is_kept)), private=True, places=places)]


class _Select(Instance):
    stateless = True

    def __init__(self, forms: Mapping[str, Form]) -> None:
        self._forms = forms

    def process(self, batch: Batch) -> Iterable[Batch]:
        values = Values(batch.rows)
        columns = [values.array(form) for form in self._forms.values()]
        # Columns that are handed on are those of the input: whether they may be written to is known of that alone.
        rows = pa.record_batch(columns, names=list(self._forms))
        return [Batch(rows, private=not batch.is_shared, places=batch.places)]
