"""Columns that every topic has beside its own: can be named, are left out of `*`.

They are there directly after a topic source and through filters. A `select` may take one under another name;
after a `select` or a window they are gone. A window's own `_event_time` goes the same way.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from headrace.errors import InvalidInput
from headrace.graph.schema import WEIGHT, Column, backquoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SYSTEM_COLUMNS = (
    Column("_timestamp", "TIMESTAMP"),
    Column("_key", "BINARY"),
    Column("_partition", "INT"),
    Column("_offset", "BIGINT"),
    # When the row was read: by the clock of the reader, and in a test file as its rows say.
    Column("_processing_time", "TIMESTAMP"),
    # As text; of several with one name the last.
    Column("_headers", "MAP<STRING,STRING>"),
)
# The event time of rows that leave a closed window.
EVENT_TIME_COLUMN = Column("_event_time", "TIMESTAMP")
# Whether a row holds, where rows may retract others (`spark/planning/retractions.py`).
WEIGHT_COLUMN = Column(WEIGHT, "INT")
# Which record a row is, on its way to a chain of serial operators: no pipeline sees these.
RECORD_NAMES = ("_record_origin", "_record_offset", "_record_time")
_HIDDEN = (*SYSTEM_COLUMNS, EVENT_TIME_COLUMN, WEIGHT_COLUMN)
SYSTEM_NAMES = frozenset((*(column.name for column in _HIDDEN), *RECORD_NAMES))


def refuse_system_names(names: Iterable[str]) -> None:
    """Raises InvalidInput where a column of the user takes the name of a system column."""
    for name in names:
        if name.lower() in SYSTEM_NAMES:
            plain = name.lstrip("_")
            raise InvalidInput(f"{name!r} is a system column", hint=f"give it another name: `{name} AS {plain}`")


def visible(names: Iterable[str]) -> list[str]:
    return [name for name in names if name.lower() not in SYSTEM_NAMES]


def without_system_columns(frame: DataFrame) -> DataFrame:
    """What a sink writes."""
    return frame.select(*(backquoted(name) for name in visible(frame.columns)))
