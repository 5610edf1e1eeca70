from __future__ import annotations

import inspect
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import PydanticUndefined

from headrace.errors import InvalidInput
from headrace.graph import Builder, Document, Edge, Node, parse_text, to_python, validate
from headrace.graph.builder import Sink, Stream
from headrace.graph.testing import documents
from headrace.operators import BUILT_IN, AnyOperator, Catalogue

CATALOGUE = Catalogue()


def run(code: str) -> Document:
    scope: dict[str, Any] = {}
    exec(code, scope)
    built = scope["pipeline"].document()
    assert isinstance(built, Document)
    return built


def method_of(operator: AnyOperator) -> inspect.Signature:
    """Without the streams that a method takes beside its own."""
    owner = Builder if operator.spec.kind == "source" else Stream
    signature = inspect.signature(getattr(owner, operator.spec.name.replace("-", "_")))
    settings = [parameter for parameter in signature.parameters.values() if parameter.annotation != "Step"]
    return signature.replace(parameters=settings)


@pytest.mark.parametrize("operator", BUILT_IN, ids=lambda operator: operator.spec.name)
def test_every_operator_has_a_method_with_its_settings_and_defaults(operator: AnyOperator) -> None:
    parameters = {
        name: parameter for name, parameter in method_of(operator).parameters.items() if name not in ("self", "id")
    }
    settings = operator.config_type.model_fields.items()
    fields = {field.alias or name: field for name, field in settings if not field.exclude}
    assert list(parameters) == list(fields)
    for name, field in fields.items():
        default = parameters[name].default
        if parameters[name].kind is inspect.Parameter.VAR_POSITIONAL or default is inspect.Parameter.empty:
            assert field.default is PydanticUndefined, name
        else:
            assert json.dumps(default) == json.dumps(field.default), name


@pytest.mark.parametrize("operator", BUILT_IN, ids=lambda operator: operator.spec.name)
def test_the_first_parameter_is_the_one_that_needs_no_name(operator: AnyOperator) -> None:
    first = [*method_of(operator).parameters.values()][1]
    needs_no_name = first.kind is not inspect.Parameter.KEYWORD_ONLY
    assert (first.name if needs_no_name else None) == operator.spec.positional


def test_a_pipeline_reads_like_a_sentence() -> None:
    pipeline = Builder("alerts")
    telemetry = pipeline.topic(
        "telemetry", schema="drone STRING, battery DOUBLE, ts TIMESTAMP", event_time="ts", watermark="5 seconds"
    )
    telemetry.filter("battery < 20").select("drone", "battery").to_topic("alerts", key="drone")
    telemetry.tumbling_window("1 minute", time="ts", keys="drone", aggregates="count(*) AS n").preview(rows=5)
    expected = """
        topic telemetry schema="drone STRING, battery DOUBLE, ts TIMESTAMP" event_time=ts watermark="5 seconds"
          ! filter "battery < 20" ! select drone battery ! to-topic alerts key=drone
        @topic_1 ! tumbling-window "1 minute" time=ts keys=drone aggregates="count(*) AS n" ! preview rows=5
    """
    assert pipeline.document() == parse_text(expected, CATALOGUE, name="alerts")
    validate(pipeline.document(), CATALOGUE)


def test_ids_are_given_named_or_counted() -> None:
    pipeline = Builder("x")
    source = pipeline.generator(id="numbers")
    assert source.filter("a").named("cheap").id == "cheap"
    second = source.filter("b")
    assert second.id == "filter_2"
    assert repr(second) == "<Stream filter_2 of x>"
    assert isinstance(second.preview(), Sink)


def test_two_steps_of_one_id_are_refused() -> None:
    pipeline = Builder()
    pipeline.generator().filter("a", id="filter_2").filter("b")
    with pytest.raises(InvalidInput, match="2 steps have the id 'filter_2'"):
        pipeline.document()


def test_operators_of_plugins_and_other_ports() -> None:
    pipeline = Builder()
    left = pipeline.generator()
    join = pipeline.add("my-join", on="value")
    pipeline.connect(left, join, source_port="errors", target_port="left")
    join.then("my-sink", path="x")
    document = pipeline.document()
    assert document.node("my_join_1").config == {"on": "value"}
    assert set(document.edges) == {Edge("generator_1", "my_join_1", "errors", "left"), Edge("my_join_1", "my_sink_1")}
    assert run(to_python(document)) == document


def test_only_what_was_chosen_is_in_the_document() -> None:
    pipeline = Builder()
    pipeline.generator(10, columns=["value", "timestamp"], rows=None).to_topic("x", format="json")
    assert [dict(node.config) for node in pipeline.document().nodes] == [{}, {"topic": "x"}]


@given(documents())
def test_python_code_builds_the_same_document(document: Document) -> None:
    assert run(to_python(document)) == document


_SETTINGS = st.dictionaries(
    st.sampled_from(("rows", "keys", "columns", "condition", "from", "a b", "format")),
    st.sampled_from((None, True, 1, 100, 1.5, "json", 'it\'s "x"\n', [], ["a"], {"a": [None]})),
)
_OPERATORS = st.sampled_from(
    ("filter", "select", "topic", "preview", "to-file", "then", "add", "_end", "nobody", "class", "id")
)


@given(st.lists(st.tuples(_OPERATORS, _SETTINGS), min_size=1, max_size=4), st.data())
def test_even_a_document_that_cannot_run_has_its_code(nodes: list[tuple[str, Any]], data: st.DataObject) -> None:
    ids = [f"{operator}-{index}" for index, (operator, _) in enumerate(nodes)]
    pairs = st.tuples(st.sampled_from(ids), st.sampled_from(ids), st.sampled_from(("in", "left")))
    edges = {Edge(source, target, "out", port) for source, target, port in data.draw(st.lists(pairs, max_size=5))}
    placed = tuple(Node(node_id, operator, config) for node_id, (operator, config) in zip(ids, nodes, strict=True))
    document = Document("x", placed, tuple(edges))
    assert run(to_python(document)) == document


def test_long_chains_go_over_several_lines() -> None:
    pipeline = Builder("alerts")
    source = pipeline.generator(5, id="numbers")
    source.filter("value > 10", id="large").select("value", "value * 2 AS twice", "timestamp").to_topic(
        "x", key="value"
    )
    source.preview()
    assert to_python(pipeline.document(), builder="headrace.Pipeline") == (
        "from headrace import Pipeline\n"
        "\n"
        'pipeline = Pipeline("alerts")\n'
        'numbers = pipeline.generator(5, id="numbers")\n'
        "(\n"
        '    numbers.filter("value > 10", id="large")\n'
        '    .select("value", "value * 2 AS twice", "timestamp")\n'
        '    .to_topic("x", key="value")\n'
        ")\n"
        "numbers.preview()\n"
    )


def test_names_of_variables_are_free_and_legal() -> None:
    pipeline = Builder()
    for name in ("pipeline", "class", "Builder", "a-b", "a_b"):
        source = pipeline.generator(id=name)
        source.preview()
        source.preview()
    assert run(to_python(pipeline.document())) == pipeline.document()


def test_a_setting_named_id_cannot_be_written_in_python() -> None:
    with pytest.raises(InvalidInput, match="named 'id'"):
        to_python(Document("x", (Node("a", "nobody", {"id": 1}),)))
