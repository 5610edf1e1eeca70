"""What the operators of tables have in common: the key by which a table knows its rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from headrace.errors import InvalidInput
from headrace.graph.schema import Schema
from headrace.operators.settings import refuse_setting

KEY: Final = "The column by which the table knows its rows, or several with commas; it is the key of their records."
_KEYLESS_TYPES = ("ARRAY<", "MAP<", "STRUCT<")
# A name of a list; one that holds a comma stands in back quotes.
_NAME: Final = re.compile(r"\s*(?:`(?P<quoted>(?:[^`]|``)+)`|(?P<bare>[^,]+?))\s*(?:,|$)")


def key_columns(key: str) -> tuple[str, ...]:
    """The columns of a setting `key`: `a`, or `a, b`."""
    if "," not in key and not key.startswith("`"):
        return (key,)
    found = [match["bare"] or match["quoted"].replace("``", "`") for match in _NAME.finditer(key)]
    return tuple(found) or (key,)


def key_setting(columns: Sequence[str]) -> str:
    """The setting of which `key_columns` makes these columns."""
    return ", ".join(name if key_columns(name) == (name,) else f"`{name.replace('`', '``')}`" for name in columns)


def check_key(schema: Schema, key: str) -> tuple[str, ...]:
    """The columns of a key as the schema spells them. Raises InvalidInput unless each is one plain value, once."""
    columns = tuple(schema.require(name) for name in key_columns(key))
    for column in columns:
        if column.type.startswith(_KEYLESS_TYPES):
            raise InvalidInput(f"the key {column.name!r} is {column.type}; a key is one plain value")
        if columns.count(column) > 1:
            raise InvalidInput(f"the column {column.name!r} is in the key twice")
    return tuple(column.name for column in columns)


def refuse_many_rows(format_: str) -> None:
    """Raises what a validator raises for a format whose records hold many rows."""
    if format_ == "arrow":
        raise refuse_setting("format is arrow", "an Arrow record holds many rows, so a table cannot be made of them")
