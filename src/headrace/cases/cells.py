"""Values of test files: what a cell means in a column of a type."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Final

from headrace.cases.case_file import Cell, Given
from headrace.errors import InvalidInput, did_you_mean
from headrace.graph.schema import UNKNOWN, Schema, is_numeric

# Where only a time of day is written: the day of all tests.
DAY: Final = date(2026, 1, 1)
# What stands for no value.
EMPTY: Final = ("", "NULL", "null")

_TIME_OF_DAY: Final = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?")
_WHOLE: Final = ("TINYINT", "SMALLINT", "INT", "BIGINT")


def typed_rows(given: Given, schema: Schema, written: str | None = None) -> list[dict[str, object]]:
    """The rows with JSON values for the columns of a schema. What stands in the column `written` is taken as it is, for
    its times have a format of their own. Raises InvalidInput that names the row."""
    for name in given.columns:
        if schema.find(name) is None:
            raise InvalidInput(
                f"line {given.line}: {given.stream} has no column {name!r}",
                valid=schema.names,
                hint=did_you_mean(name, schema.names),
            )
    return [_typed_row(given, row, schema, written) for row in given.rows]


def _typed_row(given: Given, row: Mapping[str, object], schema: Schema, written: str | None) -> dict[str, object]:
    typed: dict[str, object] = {}
    for name, value in row.items():
        column = schema.require(name)
        try:
            typed[column.name] = _value(value, UNKNOWN if column.name == written else column.type)
        except ValueError as error:
            message = f"line {given.line}: {value!r} in column {name!r} of {given.stream} is no {column.type}"
            raise InvalidInput(message) from error
    return typed


def _value(value: object, type_: str) -> object:
    """Of a cell what it means; of an object what it is, but for a time of day. Raises ValueError."""
    if not isinstance(value, Cell):
        is_short = type_ == "TIMESTAMP" and isinstance(value, str) and _TIME_OF_DAY.fullmatch(value.strip())
        return timestamp(str(value)) if is_short else value
    if value in EMPTY:
        return None
    if type_ == "TIMESTAMP":
        return timestamp(value)
    if type_ in ("STRING", "BINARY", "DATE"):
        return _text(value)
    if type_ == UNKNOWN:
        return _guessed(value)
    found = _json(value.lower() if is_numeric(type_) or type_ == "BOOLEAN" else value)
    if type_ in _WHOLE and (isinstance(found, bool) or not isinstance(found, int)):
        raise ValueError(f"{value} is not whole")
    return found


def _guessed(value: Cell) -> object:
    """Of a column whose type nobody knows."""
    try:
        return _json(value)
    except ValueError:
        return _text(value)


def _json(text: str) -> object:
    """With every digit of its numbers."""
    return json.loads(text, parse_float=Decimal)


def _text(value: Cell) -> str:
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
