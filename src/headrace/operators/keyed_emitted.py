"""Rows that a keyed class emits, until they go on as a batch."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter, itemgetter
from typing import Any

import pyarrow as pa

from headrace.errors import InvalidInput, did_you_mean
from headrace.serial import Batch


class EmittedRows:
    """Takes dicts and objects that have the columns, in any mix."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._names = frozenset(schema.names)
        # A name more, so that one column is a tuple too.
        first = schema.names[0]
        self._from_object, self._from_dict = attrgetter(first, *schema.names), itemgetter(first, *schema.names)
        self._rows: list[tuple[Any, ...]] = []

    def add(self, row: Any) -> None:
        """Raises InvalidInput for a row with other columns."""
        if type(row) is dict:
            if row.keys() != self._names:
                raise self._refused(row)
            self._rows.append(self._from_dict(row))
            return
        try:
            self._rows.append(self._from_object(row))
        except AttributeError as error:
            if isinstance(row, Mapping):
                self.add(dict(row))
                return
            raise InvalidInput(f"{row!r} is no row that can be emitted: {error}", valid=self._schema.names) from None

    def taken(self) -> Batch:
        """All rows that were added. Raises InvalidInput, with the column and the value, for one that does not fit."""
        _, *values = zip(*self._rows, strict=True) if self._rows else ([] for _ in range(1 + len(self._schema)))
        self._rows = []
        columns = [self._column(one, field) for one, field in zip(values, self._schema, strict=True)]
        return Batch(pa.record_batch(columns, schema=self._schema), private=True)

    def _column(self, values: Any, field: pa.Field[Any]) -> pa.Array[Any]:
        try:
            made: pa.Array[Any] = pa.array(values, field.type)
            return made
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            wrong = next((value for value in values if not _fits(value, field.type)), None)
            message = f"the emitted column {field.name!r} is {field.type}, and gets {wrong!r}"
            raise InvalidInput(message, hint=str(error)) from error

    def _refused(self, row: Mapping[str, Any]) -> InvalidInput:
        missing, unknown = sorted(self._names - row.keys()), sorted(map(str, row.keys() - self._names))
        cause = f"has no {missing[0]!r}" if missing else f"has {unknown[0]!r}, which is no column"
        hint = did_you_mean(unknown[0], self._schema.names) if unknown else None
        return InvalidInput(f"the emitted row {cause}", valid=self._schema.names, hint=hint)


def _fits(value: Any, type_: pa.DataType) -> bool:
    try:
        pa.array([value], type_)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return False
    return True
