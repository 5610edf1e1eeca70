"""Values that are written into columns: what would be altered on the way is refused."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

from headrace.errors import InvalidInput
from headrace.formats.json_objects import object_column
from headrace.operators.columnar import Form
from headrace.operators.columnar.conversions import convert
from headrace.operators.columnar.forms import VOID, is_literal
from headrace.operators.columnar.types import INTEGERS, decimal_of
from headrace.tables.definition import Table

_NESTED: Final = ("ARRAY<", "MAP<", "STRUCT<")
_REALS: Final = ("FLOAT", "DOUBLE")


def assigned(values: pa.Array[Any], form: Form, field: pa.Field[Any], table: Table) -> pa.Array[Any]:
    """Values of an expression as those of a column: the same numbers, or InvalidInput. A literal text may stand for a
    time, a day, or, as JSON, for what has parts."""
    source, wanted = form[1], table.schema.require(field.name).type
    if source == wanted:
        return values
    if source == VOID:
        nothing: pa.Array[Any] = pa.nulls(len(values), field.type)
        return nothing
    if source == "STRING" and is_literal(form) and wanted.startswith(_NESTED):
        return _parts(values, field, wanted)
    if not _may_become(source, wanted, is_literal=is_literal(form)):
        raise _no_value(values, wanted, field.name, f"write CAST(… AS {wanted})")
    made: pa.Array[Any] = convert(values, wanted)
    if any(not _is_same(one, other) for one, other in zip(values.to_pylist(), made.to_pylist(), strict=True)):
        raise _no_value(values, wanted, field.name, f"it would be altered; if that is meant: CAST(… AS {wanted})")
    return made


def _may_become(source: str, wanted: str, *, is_literal: bool) -> bool:
    if source == "STRING":
        return is_literal and wanted in ("TIMESTAMP", "DATE")
    if wanted == "STRING":
        return source in INTEGERS
    if wanted in ("TIMESTAMP", "DATE", "BOOLEAN", "BINARY"):
        return source == "DATE" and wanted == "TIMESTAMP"
    return _is_number(source) and _is_number(wanted)


def _is_number(type_: str) -> bool:
    return type_ in (*INTEGERS, *_REALS) or decimal_of(type_) is not None


def _is_same(one: Any, other: Any) -> bool:
    """A decimal and the real number that is nearest to it are the same: 0.1 is written so."""
    if one is None or not isinstance(one, int | float | Decimal) or isinstance(other, str):
        return True
    if isinstance(other, float) and isinstance(one, Decimal):
        return True
    if isinstance(one, float) and math.isnan(one):
        return isinstance(other, float) and math.isnan(other)
    return bool((Decimal(repr(one)) if isinstance(one, float) and isinstance(other, Decimal) else one) == other)


def _parts(values: pa.Array[Any], field: pa.Field[Any], wanted: str) -> pa.Array[Any]:
    text = str(values[0].as_py())
    try:
        value = json.loads(text, parse_float=Decimal)
        return object_column([{field.name: value}] * len(values), field)
    except ValueError as error:
        raise InvalidInput(f"{text!r} is no {wanted}: {error}", hint="write it as JSON") from error


def _no_value(values: pa.Array[Any], wanted: str, name: str, hint: str) -> InvalidInput:
    shown = next((value for value in values.to_pylist() if value is not None), None)
    text = repr(shown) if isinstance(shown, str) else str(shown)
    return InvalidInput(f"{text} is no {wanted} for the column {name}", hint=hint)
