"""CREATE STREAM: columns, watermark and options become the settings of sources and sinks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from headrace.graph.document import Document, Json

Read = Callable[[str], Document]


def source(read: Read, declaration: str) -> tuple[str, dict[str, Json]]:
    node = read(f"{declaration}; INSERT INTO o SELECT * FROM s").node("s")
    return node.operator, dict(node.config)


def sink(read: Read, declaration: str) -> tuple[str, dict[str, Json]]:
    node = read(f"{declaration}; INSERT INTO s SELECT drone FROM t").node("s")
    return node.operator, dict(node.config)


def test_a_topic_is_named_like_its_stream(read: Read) -> None:
    assert source(read, "CREATE STREAM s (a INT)") == ("topic", {"topic": "s", "schema": "a INT"})
    assert sink(read, "CREATE STREAM s") == ("to-topic", {"topic": "s"})


def test_types_have_one_spelling(read: Read) -> None:
    _, config = source(
        read, "CREATE STREAM s (a integer, `b c` array<array<string>>, d decimal(10, 2), e map<string, int>)"
    )
    assert config["schema"] == "a INT, `b c` ARRAY<ARRAY<STRING>>, d DECIMAL(10,2), e MAP<STRING,INT>"


@pytest.mark.parametrize(
    ("clause", "settings"),
    [
        ("WATERMARK FOR ts AS ts - INTERVAL '5' SECOND", {"event_time": "ts", "watermark": "5 seconds"}),
        ("WATERMARK FOR ts AS ts - 2m", {"event_time": "ts", "watermark": "2 minutes"}),
        ("watermark for ts as TS", {"event_time": "ts"}),
    ],
)
def test_watermarks(read: Read, clause: str, settings: dict[str, Json]) -> None:
    _, config = source(read, f"CREATE STREAM s (ts TIMESTAMP, {clause})")
    assert config == {"topic": "s", "schema": "ts TIMESTAMP", **settings}


def test_a_column_may_be_called_watermark(read: Read) -> None:
    _, config = source(read, "CREATE STREAM s (watermark INT)")
    assert config["schema"] == "watermark INT"


def test_options_of_a_topic(read: Read) -> None:
    _, config = source(
        read,
        """CREATE STREAM s (ts TIMESTAMP) WITH (topic = 'x.y', format = 'csv', 'start' = 'offset:5',
           bad_rows = 'dead_letter', 'dead_letter.topic' = 'bad', "event.time.field" = 'ts',
           watermark = '5s', 'max_rows_per_batch' = '17')""",
    )
    assert config == {
        "topic": "x.y",
        "schema": "ts TIMESTAMP",
        "format": "csv",
        "start": "offset:5",
        "on_error": "dead_letter",
        "dead_letter": "bad",
        "event_time": "ts",
        "watermark": "5s",
        "max_rows_per_batch": 17,
    }


def test_options_of_a_format(read: Read) -> None:
    _, config = source(
        read,
        """CREATE STREAM s (a INT) WITH (format = 'protobuf', 'value.message' = 'M',
           'value.schema' = 'syntax = "proto3"; message M { int32 a = 1; }')""",
    )
    assert config["value_message"] == "M"
    assert "message M" in str(config["value_schema"])
    _, config = source(read, "CREATE STREAM s (a INT) WITH (format = 'avro', 'schema.registry' = 'embedded')")
    assert config["schema_registry"] == "embedded"


def test_dotted_options_need_no_quotes(read: Read) -> None:
    _, config = source(read, "CREATE STREAM s (ts TIMESTAMP) WITH (event.time.field = 'ts')")
    assert config["event_time"] == "ts"


def test_numbers_and_truth_values_may_stand_in_quotes(read: Read) -> None:
    _, config = source(
        read, "CREATE STREAM s (a INT) WITH (connector = 'file', path = 'x', format = 'csv', header = 'FALSE')"
    )
    assert config["header"] is False
    assert sink(read, "CREATE STREAM s WITH (connector = 'preview', rows = '5')") == ("preview", {"rows": 5})


def test_texts_are_not_turned_into_numbers(read: Read) -> None:
    assert sink(read, "CREATE STREAM s WITH (topic = '17')")[1] == {"topic": "17"}


def test_a_generator_computes_its_columns(read: Read) -> None:
    declaration = "CREATE STREAM s (value, `a b` AS value % 2, timestamp) WITH (connector = 'generator', rows = 5)"
    assert source(read, declaration) == (
        "generator",
        {"columns": ["value", "value % 2 AS `a b`", "timestamp"], "rows": 5},
    )
    assert source(read, "CREATE STREAM s WITH (connector = 'generator')") == ("generator", {})


def test_the_columns_of_a_target_are_checked_and_not_kept(read: Read) -> None:
    assert sink(read, "CREATE STREAM s (drone STRING)") == ("to-topic", {"topic": "s"})


def test_numbers_fit_each_other_in_a_target(read: Read) -> None:
    document = read("CREATE STREAM s (alt FLOAT); INSERT INTO s SELECT alt FROM t")
    assert document.node("s").operator == "to-topic"


def test_a_connector_of_create_stream_as(read: Read) -> None:
    document = read("CREATE STREAM s WITH (connector = 'file', path = 'x') AS SELECT * FROM t")
    assert document.node("into_s").operator == "to-file"
