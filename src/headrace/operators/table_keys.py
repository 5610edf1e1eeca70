"""What the operators of tables have in common: the key by which a table knows its rows."""

from __future__ import annotations

from typing import Final

from headrace.errors import InvalidInput
from headrace.graph.schema import Schema
from headrace.operators.settings import refuse_setting

KEY: Final = "The column by which the table knows its rows; it is the key of their records."
_KEYLESS_TYPES = ("ARRAY<", "MAP<", "STRUCT<")


def check_key(schema: Schema, key: str) -> None:
    """Raises InvalidInput unless the key is a column of one plain value."""
    type_ = schema.require(key).type
    if type_.startswith(_KEYLESS_TYPES):
        raise InvalidInput(f"the key {key!r} is {type_}; a key is one plain value")


def refuse_many_rows(format_: str) -> None:
    """Raises what a validator raises for a format whose records hold many rows."""
    if format_ == "arrow":
        raise refuse_setting("format is arrow", "an Arrow record holds many rows, so a table cannot be made of them")
