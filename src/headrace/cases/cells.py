"""Values of test files: what a cell means in a column of a type, and one spelling for values that are compared."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Final

from headrace.cases.case_file import Cell, Given
from headrace.errors import InvalidInput, did_you_mean
from headrace.graph.schema import UNKNOWN, Schema, is_numeric

# Where only a time of day is written: the day of all tests.
DAY: Final = date(2026, 1, 1)
SIGNIFICANT_DIGITS: Final = 9

_TIME_OF_DAY: Final = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?")
_EMPTY: Final = ("", "NULL", "null")


def typed_rows(given: Given, schema: Schema) -> list[dict[str, object]]:
    """The rows with JSON values for the columns of a schema. Raises InvalidInput that names the row."""
    for name in given.columns:
        if schema.find(name) is None:
            raise InvalidInput(
                f"line {given.line}: {given.stream} has no column {name!r}",
                valid=schema.names,
                hint=did_you_mean(name, schema.names),
            )
    return [_typed_row(given, row, schema) for row in given.rows]


def _typed_row(given: Given, row: Mapping[str, object], schema: Schema) -> dict[str, object]:
    typed: dict[str, object] = {}
    for name, value in row.items():
        column = schema.require(name)
        try:
            typed[column.name] = _value(value, column.type)
        except ValueError as error:
            message = f"line {given.line}: {value!r} in column {name!r} of {given.stream} is no {column.type}"
            raise InvalidInput(message) from error
    return typed


def _value(value: object, type_: str) -> object:
    if type_ == "TIMESTAMP" and isinstance(value, str):
        return None if value in _EMPTY and isinstance(value, Cell) else timestamp(value)
    if not isinstance(value, Cell):
        return value
    if value in _EMPTY:
        return None
    if type_ == "STRING" or type_ in ("BINARY", "DATE"):
        return value[1:-1] if len(value) > 1 and value[0] == value[-1] == "'" else str(value)
    if type_ == UNKNOWN:
        return _guessed(value)
    if is_numeric(type_) or type_ == "BOOLEAN":
        return json.loads(value.lower())
    return json.loads(value)


def _guessed(value: Cell) -> object:
    """Of a column whose type only Spark knows."""
    try:
        return json.loads(value)
    except ValueError:
        return value[1:-1] if len(value) > 1 and value[0] == value[-1] == "'" else str(value)


def timestamp(text: str) -> str:
    """`00:01:30` on the day of all tests, or a date and a time, in UTC unless it says otherwise. Raises ValueError."""
    match = _TIME_OF_DAY.fullmatch(text.strip())
    if match:
        hours, minutes, seconds, fraction = match.groups(default="0")
        moment = datetime(DAY.year, DAY.month, DAY.day, tzinfo=UTC) + timedelta(
            hours=int(hours), minutes=int(minutes), seconds=int(seconds), microseconds=int(fraction.ljust(6, "0"))
        )
    else:
        moment = datetime.fromisoformat(text.strip())
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def comparable(row: Mapping[str, object], columns: tuple[str, ...], schema: Schema) -> tuple[str, ...]:
    """The values of some columns, in one spelling."""
    by_name = {name.lower(): value for name, value in row.items()}
    return tuple(_spelled(by_name.get(name.lower()), schema.require(name).type) for name in columns)


def _spelled(value: object, type_: str) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.{SIGNIFICANT_DIGITS}g}"
    if type_ == "TIMESTAMP" and isinstance(value, str):
        return _short(timestamp(value))
    if is_numeric(type_) and isinstance(value, int) and type_ in ("FLOAT", "DOUBLE", UNKNOWN):
        return f"{float(value):.{SIGNIFICANT_DIGITS}g}"
    return _quoted(value) if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _quoted(text: str) -> str:
    """A text that would be read as none, or as another, stands in quotes, as in a cell."""
    is_plain = text == text.strip() and text not in _EMPTY and not (text[0] == text[-1] == "'")
    return text if is_plain else f"'{text}'"


def _short(moment: str) -> str:
    return moment.removesuffix("Z").rstrip("0").removesuffix(".").replace(f"{DAY.isoformat()}T", "")
