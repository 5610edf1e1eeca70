"""Rows of two engines compared: however each of them writes times and numbers, and in whatever order rows come."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias

from headrace.errors import JobFailed

# Engines add the same numbers in other orders: averages may differ behind this digit.
DIGITS: Final = 12
SHOWN_MAX: Final = 3
_DECIMAL: Final = re.compile(r"-?\d+\.\d+")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?")

# The names of columns, and their values.
Row: TypeAlias = tuple[tuple[str, ...], tuple[Hashable, ...]]
# Joins repeat the texts of their rows over and over.
_TEXTS_KEPT: Final = 1 << 20


def rows_of_files(directory: Path) -> list[dict[str, Any]]:
    """All rows of JSON files, in the order of their folders, which is that of micro-batches."""
    files = sorted(path for path in directory.rglob("*") if path.is_file() and not _is_hidden(path, directory))
    return [json.loads(line) for path in files for line in path.read_text().splitlines()]


def _is_hidden(path: Path, directory: Path) -> bool:
    """What an engine notes down for itself beside the rows."""
    return any(part.startswith((".", "_")) for part in path.relative_to(directory).parts)


def canonical(rows: Iterable[Mapping[str, Any]], keys: tuple[str, ...]) -> Counter[Row]:
    """How often each row is there; of rows that are alike in `keys` only the last counts."""
    if not keys:
        return Counter(_row(row) for row in rows)
    latest = {tuple(row.get(key) for key in keys): row for row in rows}
    return Counter(_row(row) for row in latest.values())


def require_equal(right: Counter[Row], found: Counter[Row], who: str) -> None:
    """Raises JobFailed that shows some of the rows which differ."""
    if right == found:
        return
    missing, extra = right - found, found - right
    examples = [f"- {_shown(row)}" for row in list(missing)[:SHOWN_MAX]]
    examples += [f"+ {_shown(row)}" for row in list(extra)[:SHOWN_MAX]]
    counts = f"{missing.total()} rows are missing and {extra.total()} too many, of {right.total()}"
    raise JobFailed(f"{who}: {counts}\n" + "\n".join(examples))


def _shown(row: Row) -> dict[str, Hashable]:
    return dict(zip(*row, strict=True))


def _row(row: Mapping[str, Any]) -> Row:
    # Spark leaves nulls out of its JSON.
    names = _same(tuple(sorted(name for name in row if row[name] is not None)))
    return names, tuple(_value(row[name]) for name in names)


@lru_cache
def _same(names: tuple[str, ...]) -> tuple[str, ...]:
    """One object for all rows."""
    return names


def _value(value: Any) -> Hashable:
    match value:
        case list():
            return tuple(_value(part) for part in value)
        case dict():
            return _row(value)
        case int() | float():
            return _number(float(value))
        case _:
            return _text(str(value))


@lru_cache(_TEXTS_KEPT)
def _text(value: str) -> Hashable:
    if _TIME.fullmatch(value):
        return round(datetime.fromisoformat(value).timestamp() * 1000)
    return _number(float(value)) if _DECIMAL.fullmatch(value) else value


@lru_cache(_TEXTS_KEPT)
def _number(value: float) -> str:
    """The same for 3, 3.0 and "3.000"."""
    return f"{value:.{DIGITS}g}"
