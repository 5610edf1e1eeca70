from __future__ import annotations

from typing import Any

import pytest

from headrace.errors import InvalidGraph, InvalidInput
from headrace.graph import Schema
from headrace.operators import SYSTEM_COLUMNS
from headrace.operators.testing import Trial
from headrace.operators.topic_sink import TopicSink

SCHEMA = Schema(Schema.parse("drone STRING, place STRUCT<x:INT>").columns, SYSTEM_COLUMNS, "ts")


def output(**settings: Any) -> Schema:
    sink = TopicSink()
    return sink.output_schema(sink.configure({"topic": "x", **settings}), {"in": SCHEMA})


@pytest.mark.spark
def test_the_rows_are_passed_on(trial: Trial) -> None:
    assert trial.batch("generator rows=2 ! select value ! to-topic x key=value") == [(0,), (1,)]


def test_the_schema_is_what_is_written() -> None:
    assert (output(key="DRONE"), output().hidden) == (SCHEMA, ())


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("dron", "unknown column 'dron'"),
        ("_key", "unknown column '_key'"),
        ("place", "STRUCT<x:INT>; a key is one plain"),
    ],
)
def test_a_key_is_a_plain_column_of_the_rows(key: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        output(key=key)


@pytest.mark.parametrize(
    "settings", [{"topic": "a/b"}, {"format": "xml"}, {"partitions": 0}, {"format": "arrow", "key": "drone"}]
)
def test_settings_that_are_wrong(settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidGraph):
        output(**settings)
