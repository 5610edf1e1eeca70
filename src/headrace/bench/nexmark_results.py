"""Rows of two engines compared: however each of them writes times and numbers, and in whatever order rows come."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeAlias

from headrace.errors import JobFailed

# Engines add the same numbers in other orders: averages may differ behind this digit.
DIGITS: Final = 12
SHOWN_MAX: Final = 3
_DECIMAL: Final = re.compile(r"-?\d+\.\d+")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?")

Row: TypeAlias = tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """How often each row is there: its values in the order of the names. Columns that are always null are left out."""

    names: tuple[str, ...]
    counts: Counter[Row]


def rows_of_files(directory: Path) -> list[dict[str, Any]]:
    """All rows of JSON files, in the order of their folders, which is that of micro-batches."""
    files = sorted(path for path in directory.rglob("*") if path.is_file() and not _is_hidden(path, directory))
    texts = (path.read_text().strip("\n").replace("\n", ",") for path in files)
    return [row for text in texts for row in json.loads(f"[{text}]")]


def _is_hidden(path: Path, directory: Path) -> bool:
    """What an engine notes down for itself beside the rows."""
    return any(part.startswith((".", "_")) for part in path.relative_to(directory).parts)


def canonical(rows: Iterable[Mapping[str, Any]], keys: tuple[str, ...]) -> Rows:
    """All rows; of those that are alike in `keys` only the last counts."""
    counted = list(rows)
    if keys:
        counted = list({tuple(row.get(key) for key in keys): row for row in counted}.values())
    # Column by column, and each value once: most of them come over and over.
    columns = {name: _column([row.get(name) for row in counted]) for name in sorted(set().union(*counted))}
    found = {name: column for name, column in columns.items() if any(value is not None for value in column)}
    return Rows(tuple(found), Counter(zip(*found.values(), strict=True)))


def require_equal(right: Rows, found: Rows, who: str) -> None:
    """Raises JobFailed that shows some of the rows which differ."""
    if right == found:
        return
    if right.counts and found.counts and right.names != found.names:
        raise JobFailed(f"{who}: its columns are {', '.join(found.names)} and not {', '.join(right.names)}")
    missing, extra = right.counts - found.counts, found.counts - right.counts
    examples = [f"- {dict(zip(right.names, row, strict=True))}" for row in list(missing)[:SHOWN_MAX]]
    examples += [f"+ {dict(zip(found.names, row, strict=True))}" for row in list(extra)[:SHOWN_MAX]]
    counts = f"{missing.total()} rows are missing and {extra.total()} too many, of {right.counts.total()}"
    raise JobFailed(f"{who}: {counts}\n" + "\n".join(examples))


class _Known(dict[Any, Hashable]):
    """What values mean, once they have been seen."""

    def __missing__(self, value: Any) -> Hashable:
        self[value] = found = _value(value)
        return found


def _column(values: list[Any]) -> list[Hashable]:
    try:
        return list(map(_Known().__getitem__, values))
    except TypeError:  # lists and objects, which cannot be looked up
        return list(map(_value, values))


def _value(value: Any) -> Hashable:
    match value:
        case None:
            return None
        case list():
            return tuple(_value(part) for part in value)
        case dict():
            return tuple((name, _value(value[name])) for name in sorted(value) if value[name] is not None)
        case int() | float():
            return _number(float(value))
        case _:
            return _text(str(value))


def _text(value: str) -> Hashable:
    if _TIME.fullmatch(value):
        return round(datetime.fromisoformat(value).timestamp() * 1000)
    return _number(float(value)) if _DECIMAL.fullmatch(value) else value


def _number(value: float) -> str:
    """The same for 3, 3.0 and "3.000"."""
    return f"{value:.{DIGITS}g}"
