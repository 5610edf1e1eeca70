"""Statements that change a table at once: its rows are found in the copy, checked, and written to its topic."""

from __future__ import annotations

import base64
import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa

from headrace.errors import InvalidInput, did_you_mean
from headrace.formats import decoder
from headrace.log import encode_batches
from headrace.operators.columnar.values import Values
from headrace.spark.writing.commit import Rows, append_rows
from headrace.spark.writing.partitioner import by_partition, partitions_of
from headrace.sql import Delete, InsertValues, Update
from headrace.tables.assignment import assigned
from headrace.tables.definition import Table
from headrace.tables.following import KEY_COLUMN
from headrace.tables.frames import Frame, joined_batches
from headrace.tables.keys import PLAIN_KEYS, can_tell_key, record_key
from headrace.tables.question import Asking, Scan, read_statement
from headrace.wire.client import Client

# One writer at a time: a newer one with this id ends what an older one left open.
TRANSACTIONAL_ID: Final = "headrace.tables"

Change: TypeAlias = InsertValues | Update | Delete


@dataclass(frozen=True, slots=True)
class Written:
    """Keys of records, and their values; None deletes the row."""

    keys: Sequence[bytes]
    values: Sequence[bytes | None]


def changed_rows(change: Change, table: Table, scan: Scan) -> Written:
    """What a statement writes. Raises InvalidInput where a value is none of its column's: then nothing is written."""
    _require_writable(table)
    match change:
        case InsertValues():
            rows = _inserted(change, table, scan)
            columns = [rows.column(key).to_pylist() for key in table.keys]
            keys = [record_key(values, table) for values in zip(*columns, strict=True)]
            return Written(keys, _encoded(rows, table))
        case Update():
            return _updated(change, table, scan)
        case Delete():
            frame = _matching(change, {}, table, scan)[0]
            return Written(_record_keys(frame), [None] * len(frame))


def write_rows(bootstrap: str, table: Table, written: Written) -> None:
    """All rows are in the topic afterwards, in one transaction, or none. Raises ExternalFailure."""
    keys, values = pa.array(written.keys, pa.binary()), pa.array(written.values, pa.binary())
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
    if not can_tell_key(table):
        types = ", ".join(table.schema.require(key).type for key in table.keys)
        raise InvalidInput(f"the key of {table.name} is {types}, and cannot be written by hand", valid=PLAIN_KEYS)


def _inserted(change: InsertValues, table: Table, scan: Scan) -> pa.RecordBatch:
    names = [_column(name.text, table) for name in change.columns] or list(table.schema.names)
    for key in table.keys:
        if key not in names:
            raise InvalidInput(f"{key}, the key of {table.name}, is missing", valid=table.schema.names)
    batches = []
    for row in change.rows:
        if len(row) != len(names):
            raise InvalidInput(f"{len(row)} values for {len(names)} columns", valid=names)
        values = _evaluated({name: value.text for name, value in zip(names, row, strict=True)}, table, scan)
        missing = {field.name: pa.nulls(1, field.type) for field in table.columns if field.name not in values}
        columns = {**values, **missing}
        batches.append(pa.RecordBatch.from_arrays([columns[name] for name in table.schema.names], schema=table.columns))
    return joined_batches(batches)


def _evaluated(texts: dict[str, str], table: Table, scan: Scan) -> dict[str, Any]:
    """Expressions over no rows, as values of their columns."""
    return _assigned(texts, Frame.of((), (), 1), Asking("", _no_table, scan), table)


def _assigned(texts: dict[str, str], frame: Frame, asking: Asking, table: Table) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, text in texts.items():
        (item,) = read_statement(f"SELECT {text}").expressions
        form = asking.planner(frame).typed(item.unalias())
        found[name] = assigned(Values(frame.rows).array(form), form, table.columns.field(name), table)
    return found


def _updated(change: Update, table: Table, scan: Scan) -> Written:
    texts = {_column(name.text, table): value.text for name, value in change.assignments}
    for key in table.keys:
        if key in texts:
            raise InvalidInput(f"{key} is the key of {table.name}, and cannot be set", hint="insert it, and delete")
    frame, values = _matching(change, texts, table, scan)
    kept = {field.name: frame.rows.column(place) for place, field in enumerate(frame.fields)}
    columns = [values.get(name, kept[name]) for name in table.schema.names]
    rows = pa.RecordBatch.from_arrays(columns, schema=table.columns)
    return Written(_record_keys(frame), _encoded(rows, table))


def _matching(change: Update | Delete, texts: dict[str, str], table: Table, scan: Scan) -> tuple[Frame, dict[str, Any]]:
    """The rows for which a statement's condition holds, all columns of them, and new values of some."""
    statement = f"SELECT * FROM t WHERE {change.condition.text}"  # noqa: S608 - it is parsed, and not run
    condition = read_statement(statement).args["where"].this
    asking = Asking(change.condition.text, _no_table, scan)
    frame = asking.read(table, change.target.text, condition)
    frame = frame.where(asking.planner(frame).condition(condition))
    return frame, _assigned(texts, frame, asking, table)


def _no_table(name: str) -> Table:
    raise InvalidInput("a statement that changes a table cannot ask another", hint="ask first, or use a pipeline")


def _record_keys(frame: Frame) -> list[bytes]:
    (place,) = [place for place, field in enumerate(frame.fields) if field.name == KEY_COLUMN]
    keys: list[Any] = frame.rows.column(place).to_pylist()
    return keys


def _column(name: str, table: Table) -> str:
    found = table.schema.find(name)
    if found is None:
        hint = did_you_mean(name, table.schema.names)
        raise InvalidInput(f"{table.name} has no column {name!r}", valid=table.schema.names, hint=hint)
    return found.name


def _encoded(rows: pa.RecordBatch, table: Table) -> list[bytes | None]:
    """One value for each row. Raises InvalidInput for a row that the table's reader would not read as it is."""
    values = [json_text(row).encode() for row in rows.to_pylist()]
    decoded = decoder(table.format, table.columns)(pa.array(values, pa.binary()))
    if decoded.bad:
        raise InvalidInput(f"{table.name} cannot hold this row: {decoded.bad[0].reason}", hint="nothing was written")
    for wanted, found in zip(rows.to_pylist(), decoded.rows.to_pylist(), strict=True):
        # Texts, for NaN is not equal to itself.
        if repr(wanted) != repr(found):
            raise InvalidInput(f"{table.name} would hold {found} and not {wanted}", hint="nothing was written")
    return [*values]


def json_text(value: Any) -> str:
    """JSON with every digit of a decimal."""
    match value:
        case dict():
            return "{" + ", ".join(f"{json.dumps(str(name))}: {json_text(one)}" for name, one in value.items()) + "}"
        case [(_, _), *_] if all(isinstance(one, tuple) for one in value):
            return json_text(dict(value))
        case list():
            return "[" + ", ".join(map(json_text, value)) + "]"
        case Decimal():
            return format(value, "f")
        case _:
            return json.dumps(_single(value))


def _single(value: Any) -> Any:
    match value:
        case bytes():
            return base64.b64encode(value).decode()
        case datetime():
            return value.replace(tzinfo=None).isoformat() + "Z"
        case date():
            return value.isoformat()
        case float() if not math.isfinite(value):
            return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
        case _:
            return value
