"""Python types ↔ columns: a dataclass says what a row looks like."""

from __future__ import annotations

import dataclasses
import datetime
import types
from collections.abc import Iterable
from typing import Any, Union, get_args, get_origin, get_type_hints

import pyarrow as pa

from headrace.errors import InvalidInput

_TIMESTAMP = pa.timestamp("us", tz="UTC")
_PLAIN: dict[Any, pa.DataType] = {
    str: pa.string(),
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
    bytes: pa.binary(),
    datetime.datetime: _TIMESTAMP,
    datetime.date: pa.date32(),
}


def schema_of(row: type) -> pa.Schema:
    """Columns of a dataclass. Raises InvalidInput for a class that is none, or a field of a type no column has."""
    if not dataclasses.is_dataclass(row):
        raise InvalidInput(f"{row!r} is no dataclass", hint="rows are described by dataclasses")
    hints = get_type_hints(row)
    return pa.schema([_field(f"{row.__name__}.", f.name, hints[f.name]) for f in dataclasses.fields(row)])


def rows_from(batch: pa.RecordBatch, row: type) -> list[Any]:
    """The rows of a batch as objects of a dataclass; other columns are left out."""
    names = [f.name for f in dataclasses.fields(row)]
    columns = [_values(batch.column(name)) for name in names]
    return [row(*values) for values in zip(*columns, strict=True)]


def _values(column: pa.Array[Any]) -> list[Any]:
    """As Arrow makes them; times several times as fast."""
    if column.type != _TIMESTAMP or column.null_count:
        return column.to_pylist()
    listed: list[Any] = column.to_numpy(zero_copy_only=False).tolist()
    # Times that Python's own cannot hold are whole numbers here: Arrow says which.
    if not all(type(one) is datetime.datetime for one in listed):
        return column.to_pylist()
    return [one.replace(tzinfo=datetime.UTC) for one in listed]


def batch_from(rows: Iterable[Any], schema: pa.Schema) -> pa.RecordBatch:
    """Objects as a batch with these columns. Raises pyarrow's errors for values that do not fit."""
    listed = list(rows)
    columns = [pa.array([getattr(row, field.name) for row in listed], field.type) for field in schema]
    return pa.record_batch(columns, schema=schema)


def column_type(place: str, hint: Any) -> pa.DataType:
    """The type of a column that an annotation stands for, `… | None` as without. Raises InvalidInput with the place."""
    if get_origin(hint) in (Union, types.UnionType) and type(None) in get_args(hint):
        (hint,) = (part for part in get_args(hint) if part is not type(None))
    return _type(place, hint)


def _field(place: str, name: str, hint: Any) -> pa.Field[Any]:
    return pa.field(name, column_type(f"{place}{name}", hint), nullable=True)


def _type(place: str, hint: Any) -> pa.DataType:
    if hint in _PLAIN:
        return _PLAIN[hint]
    if get_origin(hint) is list:
        return pa.list_(_type(place, get_args(hint)[0]))
    if get_origin(hint) is dict:
        key, value = get_args(hint)
        return pa.map_(_type(place, key), _type(place, value))
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return pa.struct(list(schema_of(hint)))
    valid = (
        "str",
        "int",
        "float",
        "bool",
        "bytes",
        "datetime",
        "date",
        "list[…]",
        "dict[…]",
        "a dataclass",
        "… | None",
    )
    raise InvalidInput(f"{place}: no column has the type {hint!r}", valid=valid)
