"""Event time of a source: which column holds it and how late rows may come."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headrace.errors import InvalidInput
from headrace.graph.schema import UNKNOWN, Column, Schema, backquoted
from headrace.operators.durations import duration_ms
from headrace.operators.settings import refuse_setting

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

EVENT_TIME = "The TIMESTAMP column that says when the event happened; windows need it."
WATERMARK = "How far out of order rows may come: a window closes this much later, and later rows are late."
NO_WATERMARK = "0 seconds"
IDLE_TIMEOUT = (
    "When no row came for this long, event time goes on at the pace of the clock, from where the last row left it, so "
    "that windows close on a quiet stream too. Rows that come later with an older time are late."
)


def refuse_watermark_alone(event_time: str | None, watermark: str, idle_timeout: str | None = None) -> None:
    """Called by a source's config. Raises a pydantic error: a watermark without event time means nothing."""
    for setting, is_set in (("watermark", watermark != NO_WATERMARK), ("idle_timeout", idle_timeout is not None)):
        if event_time is None and is_set:
            raise refuse_setting(f"{setting} is set without event_time", "name the TIMESTAMP column in event_time")
    if idle_timeout is not None and duration_ms(idle_timeout) == 0:
        raise refuse_setting("idle_timeout has no length", "give it a duration such as 10 seconds")


def with_event_time(schema: Schema, event_time: str | None) -> Schema:
    """The schema that knows its event time. Raises InvalidInput unless it is a TIMESTAMP column."""
    if event_time is None:
        return schema
    column = schema.require(event_time)
    if column.type not in ("TIMESTAMP", UNKNOWN):
        times = tuple(column.name for column in schema if column.type == "TIMESTAMP")
        raise InvalidInput(f"event_time {event_time!r} is {column.type}, not TIMESTAMP", valid=times)
    return replace(schema, event_time=column.name)


def watermarked(frame: DataFrame, event_time: str | None, watermark: str) -> DataFrame:
    if event_time is None:
        return frame
    return frame.withWatermark(backquoted(event_time), f"{duration_ms(watermark)} milliseconds")


def check_time(time: str, schema: Schema) -> Column:
    """The event-time column. Raises InvalidInput where rows have none, or another one: without a watermark on its time
    a window would never close, and its state grow without end."""
    column = schema.require(time)
    if schema.event_time is None:
        hint = f"set event_time={column.name} and a watermark at the source"
        raise InvalidInput(f"{time!r} is no event time here: the rows have none", hint=hint)
    if column.name.lower() != schema.event_time.lower():
        raise InvalidInput(f"{time!r} is not the event time of these rows", valid=(schema.event_time,))
    return column
