from __future__ import annotations

from typing import Any

import pytest

from headrace.errors import InvalidGraph, InvalidInput
from headrace.graph import Schema
from headrace.operators import SYSTEM_COLUMNS
from headrace.operators.testing import Trial
from headrace.operators.topic_source import TopicConfig, TopicSource

BASE = {"topic": "fleet", "schema": "drone string, ts timestamp"}


def configured(**settings: Any) -> TopicConfig:
    return TopicSource().configure({**BASE, **settings})


def output(**settings: Any) -> Schema:
    return TopicSource().output_schema(configured(**settings), {})


@pytest.mark.spark
def test_the_rows_come_from_the_context_and_get_a_watermark(trial: Trial) -> None:
    stream = trial.spark.readStream.format("rate").load().withColumnRenamed("timestamp", "ts")
    text = 'topic fleet schema="value BIGINT, ts TIMESTAMP" event_time=ts watermark="5 seconds" ! preview'
    frame = Trial(trial.spark, topics={"fleet": stream}).frame(text, bounded=False)
    plan = frame._jdf.queryExecution().analyzed().toString()
    assert "EventTimeWatermark" in plan
    assert "5 seconds" in plan


def test_the_schema_has_the_declared_columns_and_hides_the_others() -> None:
    found = output(event_time="ts")
    assert (str(found), found.event_time, found.hidden) == ("drone STRING, ts TIMESTAMP", "ts", SYSTEM_COLUMNS)
    assert output(event_time="_timestamp").event_time == "_timestamp"


@pytest.mark.parametrize(
    "start", ["earliest", "latest", "offset:0", "timestamp:2026-01-31T12:00:00Z", "timestamp:2026-01-31"]
)
def test_places_to_start_at(start: str) -> None:
    assert configured(start=start).start == start


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"topic": "a b"}, "'a b' is no topic name"),
        ({"topic": ".."}, "is no topic name"),
        ({"topic": "x" * 250}, "is no topic name"),
        ({"schema": ""}, "the setting 'schema': no columns"),
        ({"start": "tomorrow"}, "cannot start at 'tomorrow'"),
        ({"start": "offset:-1"}, "cannot start at"),
        ({"start": "timestamp:noon"}, "'noon' is no ISO 8601 time"),
        ({"watermark": "5s"}, "watermark is set without event_time"),
        ({"max_rows_per_batch": 0}, "should be greater than 0"),
        ({"bad_rows": "dead_letter"}, "no topic is named"),
        ({"on_error": "dead_letter"}, "no topic is named"),
        ({"on_error": "drop", "bad_rows": "fail"}, "say the same thing twice"),
        ({"dead_letter": "bad"}, "dead_letter is set and on_error is drop"),
        ({"bad_rows": "ignore"}, "cannot be 'ignore'"),
        ({"format": "xml"}, "cannot be 'xml'.*'avro'"),
        ({"delimiter": ";"}, "delimiter is set and format is json"),
        ({"format": "csv", "delimiter": "::"}, "'::' is no delimiter"),
        ({"value_schema": "{}"}, "value_schema is set and format is json.*avro and protobuf"),
        ({"format": "avro", "value_message": "M"}, "value_message is set and format is avro"),
        ({"format": "csv", "schema_registry": "embedded"}, "schema_registry is set and format is csv"),
        ({"format": "avro", "schema_registry": "here"}, "'here' is no schema registry.*embedded"),
        ({"format": "avro", "schema_registry": "embedded", "value_schema": "{}"}, "are those of the registry"),
    ],
)
def test_settings_that_are_wrong(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidGraph, match=message):
        configured(**settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"event_time": "time"}, "unknown column 'time'"),
        ({"event_time": "drone"}, "is STRING, not TIMESTAMP"),
        ({"schema": "_key STRING"}, "'_key' is a system column"),
        ({"format": "raw"}, "one column, BINARY or STRING"),
        ({"format": "csv", "schema": "a ARRAY<INT>"}, "csv has no notation for the column 'a'"),
        ({"format": "avro", "value_schema": "{}"}, "no Avro schema"),
        ({"format": "protobuf", "schema": "m MAP<DOUBLE,INT>"}, "no keys of type double"),
        ({"format": "protobuf", "value_schema": "message"}, "neither a .proto text"),
    ],
)
def test_settings_that_do_not_fit_together(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        output(**settings)


def test_a_raw_topic_has_one_column() -> None:
    assert output(format="raw", schema="value BINARY").names == ("value",)
