"""Rows of two engines compared: however each of them writes times and numbers, and in whatever order rows come."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeAlias

from headrace.errors import JobFailed

# Engines add the same numbers in other orders: averages may differ behind this digit.
DIGITS: Final = 12
SHOWN_MAX: Final = 3
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?")

Row: TypeAlias = tuple[tuple[str, Hashable], ...]


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
    examples = [f"- {dict(row)}" for row in list(missing)[:SHOWN_MAX]]
    examples += [f"+ {dict(row)}" for row in list(extra)[:SHOWN_MAX]]
    counts = f"{missing.total()} rows are missing and {extra.total()} too many, of {right.total()}"
    raise JobFailed(f"{who}: {counts}\n" + "\n".join(examples))


def _row(row: Mapping[str, Any]) -> Row:
    # Spark leaves nulls out of its JSON.
    return tuple((name, _value(row[name])) for name in sorted(row) if row[name] is not None)


def _value(value: Any) -> Hashable:
    match value:
        case list():
            return tuple(_value(part) for part in value)
        case dict():
            return _row(value)
        case str() if _TIME.fullmatch(value):
            return round(datetime.fromisoformat(value).timestamp() * 1000)
        case int() | float():
            return _number(float(value))
        case str() if re.fullmatch(r"-?\d+\.\d+", value):
            return _number(float(value))
        case _:
            return str(value)


def _number(value: float) -> str:
    """The same for 3, 3.0 and "3.000"."""
    return f"{value:.{DIGITS}g}"
