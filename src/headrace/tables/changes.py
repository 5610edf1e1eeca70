"""Statements that change a table at once: its rows are found in the copy, and written to its topic."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa

from headrace.errors import InvalidInput, did_you_mean
from headrace.log import encode_batches
from headrace.spark.writing.commit import Rows, append_rows
from headrace.spark.writing.partitioner import by_partition, partitions_of
from headrace.sql import Delete, InsertValues, Update
from headrace.tables.definition import Table
from headrace.tables.question import Answer, evaluated
from headrace.wire.client import Client

# One writer at a time: a newer one with this id ends what an older one left open.
TRANSACTIONAL_ID: Final = "headrace.tables"
_PLAIN_KEYS: Final = ("STRING", "TINYINT", "SMALLINT", "INT", "BIGINT", "BOOLEAN")

Change: TypeAlias = InsertValues | Update | Delete
Row: TypeAlias = Mapping[str, Any]


def changed_rows(change: Change, table: Table, ask: Callable[[str], Answer]) -> Sequence[Row]:
    """The rows that a statement writes; of a DELETE only their keys. `ask` answers a SELECT. Raises InvalidInput."""
    _require_writable(table)
    match change:
        case InsertValues():
            return _inserted(change, table)
        case Update():
            return _updated(change, table, ask)
        case Delete():
            keys = ", ".join(map(quoted_in_spark, table.keys))
            select = f"SELECT {keys} FROM {quoted_in_spark(change.target.text)}"  # noqa: S608
            return ask(f"{select} WHERE {change.condition.text}").as_objects()


def write_rows(bootstrap: str, table: Table, rows: Sequence[Row], *, deletes: bool) -> None:
    """All rows are in the topic afterwards, in one transaction, or none. Raises ExternalFailure."""
    keys = pa.array([record_key(row, table) for row in rows], pa.binary())
    values = pa.array([None if deletes else _value(row, table) for row in rows], pa.binary())
    now_ms = time.time_ns() // 1_000_000
    with Client(bootstrap, client_id="headrace-tables") as client:
        count = client.partition_count(table.topic)
        found: Rows = {}
        for partition, indices in by_partition(partitions_of(keys, count, 0), count):
            times = np.full(len(indices), now_ms, np.int64)
            found[table.topic, partition] = list(encode_batches(keys.take(indices), values.take(indices), times))
        append_rows(client, TRANSACTIONAL_ID, found)


def _require_writable(table: Table) -> None:
    if table.format.name != "json" or table.format.registry is not None:
        raise InvalidInput(f"{table.name} is not plain JSON, and cannot be changed by hand", hint="use a pipeline")
    for key in table.keys:
        type_ = table.schema.require(key).type
        if type_ not in _PLAIN_KEYS:
            raise InvalidInput(f"the key of {table.name} is {type_}, and cannot be written by hand", valid=_PLAIN_KEYS)


def _inserted(change: InsertValues, table: Table) -> Sequence[Row]:
    names = [_column(name.text, table) for name in change.columns] or list(table.schema.names)
    for key in table.keys:
        if key not in names:
            raise InvalidInput(f"{key}, the key of {table.name}, is missing", valid=table.schema.names)
    rows: list[Row] = []
    for row in change.rows:
        if len(row) != len(names):
            raise InvalidInput(f"{len(row)} values for {len(names)} columns", valid=names)
        values = evaluated([value.text for value in row])
        rows.append({**dict.fromkeys(table.schema.names), **dict(zip(names, values, strict=True))})
    return rows


def _updated(change: Update, table: Table, ask: Callable[[str], Answer]) -> Sequence[Row]:
    values = {_column(name.text, table): value.text for name, value in change.assignments}
    for key in table.keys:
        if key in values:
            raise InvalidInput(f"{key} is the key of {table.name}, and cannot be set", hint="insert it, and delete")
    items = [f"{values.get(name, quoted_in_spark(name))} AS {quoted_in_spark(name)}" for name in table.schema.names]
    target = quoted_in_spark(change.target.text)
    return ask(f"SELECT {', '.join(items)} FROM {target} WHERE {change.condition.text}").as_objects()  # noqa: S608


def quoted_in_spark(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _column(name: str, table: Table) -> str:
    found = table.schema.find(name)
    if found is None:
        hint = did_you_mean(name, table.schema.names)
        raise InvalidInput(f"{table.name} has no column {name!r}", valid=table.schema.names, hint=hint)
    return found.name


def record_key(row: Row, table: Table) -> bytes:
    """As Spark writes it: a text, or the JSON array of several. Raises InvalidInput for what cannot be a key."""
    texts = [_key_text(row[key], key, table) for key in table.keys]
    if len(texts) == 1:
        return texts[0].encode()
    if any(character < " " for text in texts for character in text):
        raise InvalidInput(f"a control character in the key of {table.name}: use a pipeline")
    return json.dumps(texts, ensure_ascii=False, separators=(",", ":")).encode()


def _key_text(value: Any, key: str, table: Table) -> str:
    if value is None:
        raise InvalidInput(f"a row without {key} cannot be in {table.name}")
    if table.schema.require(key).type == "BOOLEAN":
        return "true" if value else "false"
    return str(value)


def _value(row: Row, table: Table) -> bytes:
    return json.dumps({column.name: _typed(row[column.name], column.type) for column in table.schema}).encode()


def _typed(value: Any, type_: str) -> Any:
    """A value of SQLite as JSON of a column's type. Raises InvalidInput where it is none."""
    if value is None:
        return None
    try:
        if type_ in ("TINYINT", "SMALLINT", "INT", "BIGINT"):
            return int(value)
        if type_.startswith(("FLOAT", "DOUBLE", "DECIMAL")):
            return float(value)
        if type_ == "BOOLEAN":
            return bool(value)
        if type_ == "TIMESTAMP":
            return f"{str(value).replace(' ', 'T').removesuffix('Z')}Z"
        if type_.startswith(("ARRAY<", "MAP<", "STRUCT<")):
            return json.loads(value)
    except (TypeError, ValueError):
        raise InvalidInput(f"{value!r} is no {type_}") from None
    return str(value)
