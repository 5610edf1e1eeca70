"""Whether aggregates can run in a chain: only where they mean exactly what they mean in Spark's plan."""

from __future__ import annotations

from headrace.errors import InvalidInput
from headrace.graph.schema import Column, Schema
from headrace.operators.aggregate_plan import Grouping, aggregate_plan, present
from headrace.operators.arrow_types import arrow_type
from headrace.operators.columnar.types import EXACT, NotExact, decimal_of

# Beside types whose values are equal exactly if their bytes are: of these there is one zero and one NaN.
_KEYS = (*EXACT, "FLOAT", "DOUBLE", "BINARY")

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
    if key.type not in _KEYS and decimal_of(key.type) is None:
        return f"keys of type {key.type} are left to Spark"
    return None
