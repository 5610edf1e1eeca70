"""Rows of a case as a job has them: each is a record of JSON, read by the decoder that reads a topic's records."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Final

import pyarrow as pa

from headrace.cases.sinks import Row
from headrace.errors import InvalidInput
from headrace.formats import ValueFormat, decoder
from headrace.graph.document import Node
from headrace.graph.schema import Schema
from headrace.operators.arrow_types import column_types
from headrace.operators.spec import OperatorConfig
from headrace.operators.value_formats import TimedFormatSettings, value_format

# Rows have these from the runner, whoever wrote them.
PLACE_COLUMNS: Final = ("_partition", "_offset")


def read_records(
    rows: Sequence[Row], schema: Schema, node: Node, config: OperatorConfig, told: list[str]
) -> pa.RecordBatch:
    """The rows that a source makes of records with these values. What it drops is `told`, with the reason.

    Raises InvalidInput for a record that cannot be read where the source's `on_error` lets a job fail then.
    """
    wanted = column_types(schema)
    values = pa.array([json_text(row).encode() for row in rows], pa.binary())
    decoded = decoder(_format(config), wanted)(values)
    for bad in decoded.bad:
        written = {name: value for name, value in rows[bad.index].items() if name not in PLACE_COLUMNS}
        message = f"{json_text(written)} is a bad record of {node.id}: {bad.reason}"
        if getattr(config, "on_error", None) in ("fail", "retry"):
            raise InvalidInput(message, node=node.id, hint="with on_error=drop such records are counted")
        told.append(message)
    return decoded.rows


def _format(config: OperatorConfig) -> ValueFormat:
    """JSON, whatever the topic has; times are written as there."""
    if not isinstance(config, TimedFormatSettings):
        return ValueFormat()
    declared = value_format(config)
    return ValueFormat(time_column=declared.time_column, time_format=declared.time_format)


def json_text(value: object) -> str:
    """As JSON, with every digit of a number as it was written."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, Mapping):
        return f"{{{_joined(f'{json.dumps(str(name))}: {json_text(one)}' for name, one in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{_joined(map(json_text, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _joined(texts: Iterable[str]) -> str:
    return ", ".join(texts)
