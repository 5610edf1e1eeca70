"""Whether aggregates can run in a chain: only where they mean exactly what they mean in Spark's plan."""

from __future__ import annotations

import re

from headrace.errors import InvalidInput
from headrace.graph.schema import Column, Schema
from headrace.operators.aggregate_plan import Grouping, aggregate_plan, present
from headrace.operators.arrow_types import arrow_type
from headrace.operators.columnar.types import EXACT, NotExact

# Names that state has beside those of the keys.
_STATE_NAMES = re.compile(r"start|end|_window_start|_value|_seen|_end|_deleted|[nv]\d+", re.IGNORECASE)


# One lane would have all rows, and a state that never ends. In windows it costs less than Spark's plan all the same.
NO_KEY = "there is no key: Spark sums up the rows of each task first"


def why_not(config: Grouping, schema: Schema, *, time: str | None = None) -> str | None:
    """Why these aggregates cannot run in a chain, in words for a plan; None if they can. `time` is what windows are by.

    Called for settings that are valid in Spark's plan. Raises InvalidInput and InvalidSyntax as their validation does.
    """
    if not config.keys and time is None:
        return NO_KEY
    checks = (_types_unknown(schema), _time_missing(schema, time), _keys_inexact(config, schema))
    if (reason := next((reason for reason in checks if reason is not None), None)) is not None:
        return reason
    try:
        aggregate_plan(config, schema)
    except NotExact as error:
        return str(error)
    return None


def _types_unknown(schema: Schema) -> str | None:
    try:
        for column in schema:
            arrow_type(column.type)
    except InvalidInput as error:
        return error.message
    return None


def _time_missing(schema: Schema, time: str | None) -> str | None:
    column = None if time is None else present(schema).find(time)
    if time is not None and (column is None or column.type != "TIMESTAMP"):
        return f"the event time {time!r} is no TIMESTAMP that comes along"
    return None


def _keys_inexact(config: Grouping, schema: Schema) -> str | None:
    for name in config.keys:
        key = present(schema).find(name)
        if key is None:
            return f"the column {name!r} does not come along"
        if (reason := _key_inexact(key)) is not None:
            return reason
    return None


def _key_inexact(key: Column) -> str | None:
    # Spark lets the state of a key go with the watermark, if it is the event time, also by another name.
    if key.type not in EXACT or key.type == "TIMESTAMP":
        return f"keys of type {key.type} are left to Spark"
    if _STATE_NAMES.fullmatch(key.name):
        return f"a key of the name {key.name!r} is left to Spark"
    return None
