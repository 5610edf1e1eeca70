"""Rows with typed columns, and what a query does with them as a whole: order, groups, pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray
from sqlglot import exp

from headrace.errors import InvalidInput, did_you_mean
from headrace.operators.columnar import Form
from headrace.operators.columnar.forms import COLUMN
from headrace.operators.columnar.values import Values

# The stubs know no functions of values of just any type.
pc: Any = pyarrow.compute
Places = NDArray[np.int64]
# Rows that a join without an equality, or with very many partners, may make.
PAIRS_MAX: Final = 5_000_000


@dataclass(frozen=True, slots=True)
class Field:
    """`qualifier` is the name of its table in the query. `is_hidden`: left out of `*`."""

    qualifier: str | None
    name: str
    type: str
    is_hidden: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """The columns of `rows` are named by their places, as texts."""

    fields: tuple[Field, ...]
    rows: pa.RecordBatch

    @classmethod
    def of(cls, fields: Iterable[Field], columns: Sequence[pa.Array[Any]], count: int) -> Frame:
        return cls(tuple(fields), _batch(columns, count))

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    def take(self, places: Places) -> Frame:
        """A place below zero stands for a row of nulls."""
        mask = places < 0
        indices: Any = pa.array(places, mask=mask) if mask.any() else pa.array(places)
        columns = [column.take(indices) for column in self.rows.columns]
        return replace(self, rows=_batch(columns, len(places)))

    def where(self, form: Form) -> Frame:
        """Rows for which a condition is true."""
        return replace(self, rows=self.rows.filter(Values(self.rows).array(form).fill_null(False)))

    def beside(self, other: Frame) -> Frame:
        """The columns of both; they have equally many rows."""
        return Frame.of((*self.fields, *other.fields), [*self.rows.columns, *other.rows.columns], len(self))

    def called(self, qualifier: str) -> Frame:
        return replace(self, fields=tuple(replace(field, qualifier=qualifier) for field in self.fields))

    def find(self, column: exp.Column) -> Form:
        """Raises InvalidInput for a name that no column has, or that several have."""
        places = self.places_of(column)
        if len(places) == 1:
            return self.form(places[0])
        shown = column.sql(dialect="spark").replace("`", "")
        visible = [field for field in self.fields if not field.is_hidden]
        valid = [f"{field.qualifier}.{field.name}" if field.qualifier else field.name for field in visible]
        if places:
            raise InvalidInput(f"the column {shown!r} is ambiguous", valid=valid, hint="name its table: table.column")
        hint = did_you_mean(column.name, [field.name for field in visible])
        raise InvalidInput(f"unknown column {shown!r}", valid=valid, hint=hint)

    def places_of(self, column: exp.Column) -> list[int]:
        name, qualifier = column.name.lower(), column.table.lower()
        return [
            place
            for place, field in enumerate(self.fields)
            if field.name.lower() == name and (not qualifier or qualifier == (field.qualifier or "").lower())
        ]

    def form(self, place: int) -> Form:
        return (COLUMN, self.fields[place].type, str(place))


def _batch(columns: Sequence[pa.Array[Any]], count: int) -> pa.RecordBatch:
    if not columns:
        # A batch without columns has no rows.
        return pa.RecordBatch.from_arrays([pa.nulls(count)], ["none"])
    return pa.RecordBatch.from_arrays(list(columns), [str(place) for place in range(len(columns))])


def joined_batches(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """All rows in one batch; there is at least one batch."""
    columns = [pa.concat_arrays([batch.column(place) for batch in batches]) for place in range(batches[0].num_columns)]
    return pa.RecordBatch.from_arrays(columns, schema=batches[0].schema)


def comparable(column: pa.Array[Any]) -> pa.Array[Any]:
    """Equal and ordered as Spark does it: NaN is one value, the greatest; -0.0 is 0.0."""
    if pa.types.is_boolean(column.type):
        return column.cast(pa.int8())
    if pa.types.is_null(column.type):
        return column.cast(pa.int8())
    if not pa.types.is_floating(column.type):
        return column
    mask = column.is_null().to_numpy(zero_copy_only=False)
    numbers = column.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False) + 0.0
    bits = np.where(np.isnan(numbers), np.nan, numbers).view(np.int64)
    return pa.array(np.where(bits < 0, ~bits ^ np.iinfo(np.int64).min, bits), mask=mask)


def normalised(column: pa.Array[Any]) -> pa.Array[Any]:
    """What a group or a distinct value is shown as: -0.0 is 0.0."""
    found: pa.Array[Any] = pc.add(column, pa.scalar(0.0, column.type)) if pa.types.is_floating(column.type) else column
    return found


def in_order(keys: Sequence[tuple[pa.Array[Any], bool, bool]], count: int) -> Places:
    """The places of rows in order. Keys are (values, descending, nulls first)."""
    columns: dict[str, Any] = {}
    order: list[tuple[str, str]] = []
    for number, (values, is_descending, nulls_first) in enumerate(keys):
        columns[f"n{number}"] = pc.is_null(values).cast(pa.int8())
        columns[f"v{number}"] = comparable(values)
        order.append((f"n{number}", "descending" if nulls_first else "ascending"))
        order.append((f"v{number}", "descending" if is_descending else "ascending"))
    # The last key keeps rows that are equal in the order in which they were.
    columns["place"] = pa.array(np.arange(count))
    order.append(("place", "ascending"))
    found: Places = pc.sort_indices(pa.table(columns), sort_keys=order).to_numpy().astype(np.int64)
    return found


def group_numbers(columns: Sequence[pa.Array[Any]], count: int) -> tuple[Places, Places]:
    """(The group of each row, the first row of each group), in the order of their first rows. Nulls are equal."""
    codes = np.zeros(count, np.int64)
    for column in columns:
        found = comparable(column).dictionary_encode(null_encoding="encode").indices
        inner = found.to_numpy(zero_copy_only=False).astype(np.int64)
        _, codes = np.unique(codes * (int(inner.max(initial=0)) + 1) + inner, return_inverse=True)
    _, firsts, numbers = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(firsts, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[numbers].astype(np.int64), firsts[order].astype(np.int64)


def pairs(
    left: Sequence[pa.Array[Any]], right: Sequence[pa.Array[Any]], counts: tuple[int, int]
) -> tuple[Places, Places]:
    """Places of rows whose keys are equal, left and right, in order; of all rows without keys. Null equals nothing.

    Raises InvalidInput for more than `PAIRS_MAX`.
    """
    if not left:
        _check_pairs(counts[0] * counts[1])
        return np.repeat(np.arange(counts[0]), counts[1]), np.tile(np.arange(counts[1]), counts[0])
    both = [pa.concat_arrays([comparable(one), comparable(other)]) for one, other in zip(left, right, strict=True)]
    numbers, _ = group_numbers(both, sum(counts))
    valid = np.ones(sum(counts), bool)
    for column in both:
        valid &= column.is_valid().to_numpy(zero_copy_only=False)
    ours, theirs = numbers[: counts[0]], numbers[counts[0] :]
    partners = np.flatnonzero(valid[counts[0] :])
    partners = partners[np.argsort(theirs[partners], kind="stable")]
    begin = np.searchsorted(theirs[partners], ours, "left")
    size = np.where(valid[: counts[0]], np.searchsorted(theirs[partners], ours, "right") - begin, 0)
    _check_pairs(int(size.sum()))
    lefts = np.repeat(np.arange(counts[0]), size)
    offsets = np.arange(len(lefts)) - np.repeat(np.cumsum(size) - size, size)
    return lefts, partners[np.repeat(begin, size) + offsets]


def _check_pairs(count: int) -> None:
    if count > PAIRS_MAX:
        raise InvalidInput(f"a join of more than {PAIRS_MAX:,} pairs of rows", hint="join ON an equality, or for less")
