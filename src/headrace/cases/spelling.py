"""Values that came out and values that were expected, in one spelling: what is the same is spelled the same.

Values are compared by the type of their column: whole numbers, decimals, texts, times and truth exactly. Numbers of the
types FLOAT and DOUBLE are the same if at most `ULPS_MAX` others of their type lie between them: so much may the order
change in which they were added up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final

import numpy as np

from headrace.cases.cells import DAY, EMPTY, timestamp
from headrace.cases.records import json_text
from headrace.graph.schema import Schema

ULPS_MAX: Final = 8

_REALS: Final = ("FLOAT", "DOUBLE")


def spelled_row(row: Mapping[str, object], columns: Sequence[str], schema: Schema) -> tuple[str, ...]:
    """The values of some columns."""
    by_name = _by_name(row)
    return tuple(_spelled(by_name.get(name.lower()), schema.require(name).type) for name in columns)


def spelled_alike(
    rows: Sequence[Mapping[str, object]],
    expected: Sequence[Mapping[str, object]],
    columns: Sequence[str],
    schema: Schema,
) -> list[tuple[str, ...]]:
    """The same, where values that are the same as expected ones are spelled as those are."""
    reals = [name for name in columns if any(type_ in schema.require(name).type for type_ in _REALS)]
    wanted = {name: [_by_name(row).get(name.lower()) for row in expected] for name in reals}
    return [spelled_row({**row, **_nearest(row, wanted, schema)}, columns, schema) for row in rows]


def _nearest(row: Mapping[str, object], wanted: Mapping[str, Sequence[object]], schema: Schema) -> dict[str, object]:
    by_name, found = _by_name(row), {}
    for name, values in wanted.items():
        value, is_single = by_name.get(name.lower()), schema.require(name).type == "FLOAT"
        found[name.lower()] = next((one for one in values if _is_same(one, value, is_single=is_single)), value)
    # Names of the row as they are, or there would be two of one.
    return {name: found[name.lower()] for name in row if name.lower() in found}


def _by_name(row: Mapping[str, object]) -> dict[str, object]:
    return {name.lower(): value for name, value in row.items()}


def _is_same(one: object, other: object, *, is_single: bool) -> bool:
    """Of values that hold real numbers, or are some."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_is_same(one[k], other[k], is_single=is_single) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(_is_same(*pair, is_single=is_single) for pair in pairs)
    left, right = _real(one), _real(other)
    if left is None or right is None:
        return one == other
    if not (math.isfinite(left) and math.isfinite(right)):
        return repr(left) == repr(right)
    largest = max(abs(left), abs(right))
    return abs(left - right) <= ULPS_MAX * (float(np.spacing(np.float32(largest))) if is_single else math.ulp(largest))


def _real(value: object) -> float | None:
    """JSON has no numbers for what is none, and is infinite: texts stand for them."""
    is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    return float(value) if is_number or value in ("NaN", "Infinity", "-Infinity") else None  # type: ignore[arg-type]


def _spelled(value: object, type_: str) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if type_ in _REALS and (real := _real(value)) is not None:
        return (str(np.float32(real)) if type_ == "FLOAT" else repr(real)).removesuffix(".0")
    if isinstance(value, Decimal):
        return str(_shortest(value))
    if type_ == "TIMESTAMP" and isinstance(value, str):
        return _short(timestamp(value))
    return _quoted(value) if isinstance(value, str) else json_text(_plain(value))


def _plain(value: object) -> object:
    """Nested values with keys in order, and numbers that are the same alike."""
    if isinstance(value, Mapping):
        return {name: _plain(value[name]) for name in sorted(value)}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return _shortest(value) if isinstance(value, Decimal) else value


def _shortest(value: Decimal) -> Decimal | int:
    """The same number without zeros at its end."""
    whole = int(value)
    return whole if value == whole else Decimal(f"{value:f}".rstrip("0"))


def _quoted(text: str) -> str:
    """A text that would be read as none, or as another, stands in quotes, as in a cell."""
    is_plain = text == text.strip() and text not in EMPTY and not (text[0] == text[-1] == "'")
    return text if is_plain else f"'{text}'"


def _short(moment: str) -> str:
    return moment.removesuffix("Z").rstrip("0").removesuffix(".").replace(f"{DAY.isoformat()}T", "")
