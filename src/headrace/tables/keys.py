"""The key of a table's record, by the key columns of its row."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from headrace.errors import InvalidInput
from headrace.tables.definition import Table

# Types of key columns whose values have one text, which Spark writes too.
PLAIN_KEYS: Final = ("STRING", "TINYINT", "SMALLINT", "INT", "BIGINT", "BOOLEAN")


def can_tell_key(table: Table) -> bool:
    return all(table.schema.require(key).type in PLAIN_KEYS for key in table.keys)


def told_key(values: Sequence[Any]) -> bytes | None:
    """As Spark writes it: a text, or the JSON array of several. None where a value is null: no record has that."""
    return None if any(value is None for value in values) else _key(values)


def _key(values: Sequence[Any]) -> bytes:
    texts = [_text(value) for value in values]
    if len(texts) == 1:
        return texts[0].encode()
    return json.dumps(texts, ensure_ascii=False, separators=(",", ":")).encode()


def record_key(values: Sequence[Any], table: Table) -> bytes:
    """Raises InvalidInput for what cannot be a key."""
    for name, value in zip(table.keys, values, strict=True):
        if value is None:
            raise InvalidInput(f"a row without {name} cannot be in {table.name}")
    # Spark may escape them in another way.
    if len(values) > 1 and any(character < " " for value in values for character in _text(value)):
        raise InvalidInput(f"a control character in the key of {table.name}: use a pipeline")
    return _key(values)


def _text(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)
