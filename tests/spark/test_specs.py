"""What the driver tells its tasks comes through JSON as it was."""

from __future__ import annotations

from headrace.formats.value_format import ValueFormat
from headrace.operators.system_columns import visible
from headrace.spark.specs import (
    RECORD_OFFSET,
    RECORD_ORIGIN,
    SYSTEM_COLUMNS,
    ChainReading,
    InputReading,
    Output,
    QueryTopics,
    Shaping,
    SinkSpec,
    SourceSpec,
    TopicLocation,
)


def test_a_source_with_a_chain() -> None:
    location, format_ = TopicLocation("t", "localhost:1", "/log"), ValueFormat("csv", ("a", "b"))
    read = QueryTopics({"n": "t"}, {"n": {"0": 1}}, checkpoint="/checkpoint")
    column, condition = ("column", "STRING", "key"), ("is null", "BOOLEAN", ("column", "INT", "n"))
    inputs = (InputReading(1, {"k": column}, condition, (("f", condition), ("s", None)), ("k",)),)
    reading = ChainReading("key STRING, n INT", inputs, ("k STRING", "k STRING"), "by_key", None, 3, stages=True)
    spec = SourceSpec("n", location, format_, {"0": 1}, 10, True, {"0": 5}, serves_chain=True, chain=reading, read=read)
    assert SourceSpec.from_json(spec.to_json()) == spec


def test_the_columns_that_name_a_record_are_left_out_of_a_star() -> None:
    assert visible(["k", RECORD_ORIGIN, RECORD_OFFSET, *SYSTEM_COLUMNS]) == ["k"]


def test_a_sink_with_outputs_of_all_kinds() -> None:
    outputs = (
        Output("a", "topic", "t", "avro", columns={"x": "_c1"}, value_format=ValueFormat("avro")),
        Output("b", "file", "/d", "csv", keep="_good"),
        Output("c", "python", "m:f", "rows"),
        Output("d", "topic", "t", "json", key_parts=("k", "n"), table="delete"),
    )
    condition = ("is true", "BOOLEAN", (">", "BOOLEAN", ("column", "INT", "n"), ("literal", "INT", 1)))
    shaping = Shaping({"_made0": ("f", condition)}, ("_made0",), ("_made0", None), {"f": "_made0", "s": None})
    spec = SinkSpec("q", "localhost:1", "/staging", None, outputs, shaping)
    assert SinkSpec.from_json(spec.to_json()) == spec
