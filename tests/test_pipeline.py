"""One pipeline, four notations: each converts into each other without loss."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from headrace.errors import InvalidGraph, InvalidInput, InvalidSyntax
from headrace.graph import Document, Edge, Node
from headrace.graph.testing import documents
from headrace.graph.validation import canonical
from headrace.operators import load_catalogue
from headrace.pipeline import Pipeline

SQL = """\
-- @name drones

CREATE STREAM telemetry (
  drone STRING,
  battery DOUBLE
);

CREATE STREAM low WITH (key = 'drone') AS
SELECT *
FROM telemetry
WHERE battery < 20;
"""


def run(code: str) -> Pipeline:
    variables: dict[str, object] = {}
    exec(code, variables)
    pipeline = variables["pipeline"]
    assert isinstance(pipeline, Pipeline)
    return pipeline


def through(notation: str, pipeline: Pipeline) -> Pipeline:
    if notation == "sql":
        return Pipeline.from_sql(pipeline.to_sql())
    if notation == "text":
        return Pipeline.from_text(pipeline.to_text(), pipeline.name)
    if notation == "python":
        return run(pipeline.to_python())
    return Pipeline.from_document(Document.from_json(pipeline.document().to_json()))


@pytest.mark.parametrize("second", ["sql", "text", "python", "document"])
@pytest.mark.parametrize("first", ["sql", "text", "python", "document"])
def test_every_notation_converts_into_every_other(first: str, second: str) -> None:
    @given(documents(max_steps=4))
    @settings(max_examples=6, deadline=None)
    def survives(document: Document) -> None:
        pipeline = Pipeline.from_document(document)
        assert through(second, through(first, pipeline)).document() == document

    survives()


def test_built_in_python_and_written_in_sql_are_the_same_pipeline() -> None:
    pipeline = Pipeline("drones")
    telemetry = pipeline.topic("telemetry", schema="drone STRING, battery DOUBLE", id="telemetry")
    telemetry.filter("battery < 20", id="low").to_topic("low", key="drone", id="into_low")
    assert pipeline == Pipeline.from_sql(SQL)
    assert pipeline.to_sql() == SQL


def test_text_and_sql_say_the_same() -> None:
    text = (
        'topic telemetry schema="drone STRING, battery DOUBLE" as telemetry'
        ' ! filter "battery < 20" as low ! to-topic low key=drone as into_low'
    )
    assert Pipeline.from_text(text, "drones") == Pipeline.from_sql(SQL)
    assert Pipeline.from_text(text, "drones").to_sql() == SQL


def test_a_pipeline_read_from_sql_can_grow() -> None:
    pipeline = Pipeline.from_sql(SQL)
    pipeline["telemetry"].filter("battery > 90").preview(rows=5)
    assert pipeline != Pipeline.from_sql(SQL)
    pipeline.validate()
    added = {node.operator for node in pipeline.document().nodes} - {n.operator for n in Pipeline.from_sql(SQL)._nodes}
    assert added == {"preview"}


def test_an_unknown_node_is_told_with_near_names() -> None:
    with pytest.raises(InvalidInput, match="telemetri") as caught:
        Pipeline.from_sql(SQL)["telemetri"]
    assert caught.value.hint == "did you mean telemetry?"
    assert "telemetry" in caught.value.valid


def test_the_name_is_the_argument_then_the_comment_then_a_default() -> None:
    assert Pipeline.from_sql(SQL, "other").name == "other"
    assert Pipeline.from_sql(SQL).name == "drones"
    assert Pipeline.from_sql(SQL.removeprefix("-- @name drones\n")).name == "pipeline"


def test_a_faulty_pipeline_is_refused_by_validation() -> None:
    pipeline = Pipeline("faulty")
    pipeline.topic("telemetry", schema="drone STRING").filter("battery < 20").preview()
    with pytest.raises(InvalidGraph, match="unknown column 'battery'"):
        pipeline.validate()


def test_faulty_sql_is_told_with_its_place() -> None:
    with pytest.raises(InvalidSyntax) as caught:
        Pipeline.from_sql(SQL.replace("battery < 20", "batery < 20"))
    assert caught.value.place is not None
    assert caught.value.place.line == 11
    assert caught.value.hint == "did you mean battery?"


def test_an_edge_to_nowhere_is_refused() -> None:
    with pytest.raises(InvalidInput, match="a → b"):
        Pipeline.from_document(Document("broken", (Node("a", "generator"),), (Edge("a", "b"),)))


def test_it_reads_well_in_a_notebook() -> None:
    shown = repr(Pipeline.from_sql(SQL))
    assert shown.startswith("Pipeline drones\ntopic telemetry")
    assert "! filter" in shown
    assert repr(Pipeline("new")) == "Pipeline new (empty)"
    doubled = Pipeline("doubled")
    doubled.generator(id="same")
    doubled.generator(id="same")
    assert "same" in repr(doubled)


def test_a_pipeline_equals_only_pipelines() -> None:
    assert Pipeline("a") == Pipeline("a")
    assert Pipeline("a") != Pipeline("b")
    assert Pipeline("a") != "a"
    with pytest.raises(TypeError):
        hash(Pipeline("a"))


@pytest.mark.parametrize("topic", ["__commits.pay.q", "__signals", "_schemas"])
def test_no_notation_writes_a_topic_of_our_own_parts(topic: str) -> None:
    """Pipelines write with the credential of our own parts, so that the broker would let them."""
    read = "CREATE STREAM s (id BIGINT, v STRING) WITH (topic = 's'{});"
    built = Pipeline("p")
    built.topic("s", schema="id BIGINT").to_topic(topic)
    written = [
        built,
        Pipeline.from_text(f'topic s schema="id BIGINT" ! to-topic {topic}'),
        Pipeline.from_text(f'topic s schema="id BIGINT" ! to-table {topic} key=id'),
        Pipeline.from_text(f'topic s schema="id BIGINT" bad_rows=dead_letter dead_letter={topic} ! to-topic t'),
        Pipeline.from_text(
            f'topic s schema="id BIGINT" ! python f:f on_error=dead_letter dead_letter={topic} ! to-topic t'
        ),
    ]
    for pipeline in written:
        with pytest.raises(InvalidGraph, match=f"'{topic}' is written by Headrace itself.*choose a name"):
            pipeline.validate()
    for sql in (
        f"{read.format('')} CREATE STREAM o WITH (topic = '{topic}') AS SELECT id FROM s;",
        f"{read.format('')} CREATE TABLE o WITH (topic = '{topic}', key = 'id') AS SELECT id FROM s;",
        read.format(f", bad_rows = 'dead_letter', 'dead_letter.topic' = '{topic}'")
        + " CREATE STREAM o AS SELECT id FROM s;",
    ):
        with pytest.raises(InvalidInput, match=f"'{topic}' is written by Headrace itself"):
            Pipeline.from_sql(sql).validate()
    Pipeline.from_text(f'topic {topic} schema="id BIGINT" ! to-topic t').validate()


def test_on_error_has_one_name_in_all_notations() -> None:
    text = (
        'topic t schema="a INT, b INT" on_error=dead_letter dead_letter=bad'
        ' ! select "a / b AS q" on_error="null" as sel ! filter "q > 1" on_error=drop ! to-topic out'
    )
    pipeline = Pipeline.from_text(text)
    assert Pipeline.from_text(pipeline.to_text()).document() == pipeline.document()
    assert Pipeline.from_sql(pipeline.to_sql()).document() == pipeline.document()
    assert "on_error = 'dead_letter'" in pipeline.to_sql()
    older = Pipeline.from_text(text.replace("on_error=dead_letter", "bad_rows=dead_letter"))
    assert canonical(older.document(), load_catalogue()) == canonical(pipeline.document(), load_catalogue())
