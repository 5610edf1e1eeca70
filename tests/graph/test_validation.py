from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given

from headrace.errors import InvalidGraph, Problem
from headrace.graph import Document, Edge, Node, Schema, canonical, parse_text, validate
from headrace.graph.testing import documents
from headrace.operators import Catalogue

CATALOGUE = Catalogue()
TOPIC = Node("t", "topic", {"topic": "telemetry", "schema": "drone STRING, battery DOUBLE, ts TIMESTAMP"})
FILTER = Node("f", "filter", {"condition": "battery < 20"})
SINK = Node("s", "to-topic", {"topic": "alerts"})
EDGES = (Edge("t", "f"), Edge("f", "s"))


def problems_of(nodes: Iterable[Node], edges: Iterable[Edge] = EDGES) -> tuple[Problem, ...]:
    with pytest.raises(InvalidGraph) as caught:
        validate(Document("x", tuple(nodes), tuple(edges)), CATALOGUE)
    return caught.value.problems


def only(problems: tuple[Problem, ...], code: str) -> Problem:
    assert [problem.code for problem in problems] == [code], problems
    return problems[0]


def test_a_valid_document_has_an_order_configs_and_schemas() -> None:
    validated = validate(Document("x", (TOPIC, FILTER, SINK), EDGES), CATALOGUE)
    assert validated.order == ("t", "f", "s")
    assert validated.configs["f"].condition == "battery < 20"
    assert validated.schemas["s"] == Schema.parse("drone STRING, battery DOUBLE, ts TIMESTAMP")
    assert validated.document.name == "x"


@given(documents())
def test_every_node_comes_after_what_it_reads(document: Document) -> None:
    order = validate(document, CATALOGUE).order
    assert all(order.index(edge.source) < order.index(edge.target) for edge in document.edges)


def test_a_cycle_is_named() -> None:
    second = Node("g", "filter", {"condition": "battery > 1"})
    edges = (Edge("t", "s"), Edge("f", "g"), Edge("g", "f"))
    problem = only(problems_of((TOPIC, FILTER, second, SINK), edges), "cycle")
    assert problem.message in (
        "rows would go round in a circle: f → g → f",
        "rows would go round in a circle: g → f → g",
    )


def test_every_cycle_is_named() -> None:
    nodes = [Node(name, "filter", {"condition": "true"}) for name in "abcd"]
    edges = (Edge("a", "b"), Edge("b", "a"), Edge("c", "d"), Edge("d", "c"), Edge("t", "s"))
    assert [problem.code for problem in problems_of((TOPIC, *nodes, SINK), edges)] == ["cycle", "cycle"]


def test_an_unknown_operator_has_near_names() -> None:
    problem = only(problems_of((TOPIC, Node("f", "fliter"), SINK)), "unknown_operator")
    assert problem.node == "f"
    assert problem.hint is not None
    assert problem.hint.startswith("did you mean filter or file?; valid: topic, ")


def test_unconnected_ports() -> None:
    problems = problems_of((TOPIC, FILTER, SINK), (Edge("t", "s"),))
    assert [(problem.code, problem.node) for problem in problems] == [("unconnected_port", "f")] * 2
    assert "input port 'in'" in problems[0].message
    assert "output port 'out'" in problems[1].message


def test_unknown_ports_list_the_valid_ones() -> None:
    problems = problems_of((TOPIC, FILTER, SINK), (Edge("t", "f"), Edge("t", "f", "outt", "inn"), Edge("f", "s")))
    assert [problem.code for problem in problems] == ["unknown_port", "unknown_port"]
    assert [problem.hint for problem in problems] == ["valid: out", "valid: in"]


def test_two_edges_into_one_port() -> None:
    other = Node("u", "topic", dict(TOPIC.config))
    problem = only(problems_of((TOPIC, other, FILTER, SINK), (*EDGES, Edge("u", "f"))), "port_taken")
    assert problem.message == "2 edges lead into the input port 'in', which takes one"


def test_an_edge_of_an_unknown_node_has_near_names() -> None:
    sink = Node("alerts", "to-topic", SINK.config)
    problem = only(
        problems_of((TOPIC, FILTER, sink), (Edge("t", "f"), Edge("f", "alerts"), Edge("f", "alrts"))), "unknown_node"
    )
    assert (problem.node, problem.hint) == ("alrts", "did you mean alerts?")


def test_duplicate_and_bad_ids() -> None:
    assert only(problems_of((TOPIC, FILTER, SINK, SINK)), "duplicate_id").node == "s"
    bad = Node("to alerts", "to-topic", SINK.config)
    assert only(problems_of((TOPIC, FILTER, bad), (Edge("t", "f"), Edge("f", "to alerts"))), "bad_id").hint


def test_a_pipeline_needs_a_source_and_a_sink() -> None:
    assert [problem.code for problem in problems_of((), ())] == ["no_source", "no_sink"]


def test_nothing_follows_a_sink_and_nothing_comes_before_a_source() -> None:
    more = Node("p", "preview")
    assert only(problems_of((TOPIC, FILTER, SINK, more), (*EDGES, Edge("s", "p"))), "sink_output").node == "s"
    problems = problems_of((TOPIC, FILTER, SINK), (*EDGES, Edge("f", "t")))
    assert [problem.code for problem in problems] == ["source_input", "cycle"]


def test_wrong_settings_are_told_one_by_one() -> None:
    broken = Node("t", "topic", {"topic": "a b", "shema": "x", "format": "xml", "max_rows_per_batch": "7"})
    found = {problem.message: problem.hint for problem in problems_of((broken, FILTER, SINK))}
    assert found["the setting 'format' cannot be 'xml'"] == "valid: 'json', 'csv', 'arrow', 'raw', 'avro' or 'protobuf'"
    assert str(found["unknown setting 'shema'"]).startswith("did you mean schema?; valid: topic, schema")
    assert "the setting 'schema' is missing" in found
    assert "the setting 'topic': 'a b' is no topic name" in found
    assert "the setting 'max_rows_per_batch' should be a valid integer, not '7'" in found


def test_an_unknown_column_is_marked_and_has_near_names() -> None:
    broken = Node("f", "filter", {"condition": "drone IS NULL OR batery < 20"})
    problem = only(problems_of((TOPIC, broken, SINK)), "type_mismatch")
    assert "unknown column 'batery' (line 1, column 18)" in problem.message
    assert "drone IS NULL OR batery < 20\n                 ^^^^^^\n" in problem.message
    assert problem.hint == "did you mean battery?; valid: drone, battery, ts"


def test_a_wrong_type_and_a_broken_expression() -> None:
    broken = Node("f", "filter", {"condition": "battery + 1"})
    assert "is DOUBLE, not BOOLEAN" in only(problems_of((TOPIC, broken, SINK)), "type_mismatch").message
    broken = Node("f", "filter", {"condition": "battery <"})
    assert only(problems_of((TOPIC, broken, SINK)), "bad_expression").node == "f"


def test_all_problems_are_found_at_once_and_followers_of_a_faulty_node_are_passed_over() -> None:
    other = Node("o", "select", {"columns": ["nothing"]})
    nodes = (TOPIC, Node("f", "filter", {"condition": "x"}), SINK, other, Node("p", "preview", {"rows": 0}))
    problems = problems_of(nodes, (*EDGES, Edge("t", "o"), Edge("o", "p")))
    assert sorted((problem.node, problem.code) for problem in problems) == [
        ("f", "type_mismatch"), ("o", "type_mismatch"), ("p", "bad_config"),
    ]  # fmt: skip


def test_notations_of_one_pipeline_have_one_canonical_document() -> None:
    long = 'topic a schema="x integer, ts timestamp" event_time=ts format=json watermark="60s" ! preview rows=100'
    short = 'topic a schema="x INT, ts TIMESTAMP" event_time=ts watermark="1 minute" ! preview'
    written, other = parse_text(long, CATALOGUE), parse_text(short, CATALOGUE)
    assert written.content_hash != other.content_hash
    assert canonical(written, CATALOGUE) == canonical(other, CATALOGUE) == other


def test_canonical_leaves_what_it_does_not_understand() -> None:
    document = Document("x", (Node("a", "nobody", {"x": 1}), Node("b", "preview", {"rows": "many"})))
    assert canonical(document, CATALOGUE) == document
