from __future__ import annotations

from collections.abc import Iterator

import pytest

import headrace
from headrace.graph import Document, Node, validate
from headrace.operators import Catalogue
from headrace.sql import parse, print_sql
from headrace.templates import Template, load_templates

TEMPLATES = load_templates()
ROWS = 2_400


@pytest.fixture(scope="module")
def h() -> Iterator[headrace.Local]:
    with headrace.local() as made:
        yield made


def of_each() -> pytest.MarkDecorator:
    return pytest.mark.parametrize("template", TEMPLATES, ids=[template.name for template in TEMPLATES])


def with_an_end(document: Document) -> Document:
    """The same pipeline with generators that stop, as a batch needs it."""
    nodes = [
        Node(node.id, node.operator, {**node.config, "rows": ROWS}) if node.operator == "generator" else node
        for node in document.nodes
    ]
    return Document(document.name, tuple(nodes), document.edges)


def topics_of(document: Document) -> list[str]:
    return [str(node.config["topic"]) for node in document.nodes if node.operator == "to-topic"]


def test_there_are_five() -> None:
    names = ["clickstream-sessions", "drone-telemetry", "iot-anomaly", "log-triage", "trades"]
    assert [template.name for template in TEMPLATES] == names
    assert all(template.document.name == template.name for template in TEMPLATES)


@of_each()
def test_it_is_valid_and_needs_no_topic_that_is_not_there(template: Template) -> None:
    validate(template.document, Catalogue())
    sources = [node for node in template.document.nodes if not template.document.inputs_of(node.id)]
    assert {node.operator for node in sources} == {"generator"}


@of_each()
def test_every_node_has_a_place_of_its_own(template: Template) -> None:
    assert template.layout.positions.keys() == {node.id for node in template.document.nodes}
    assert len(set(template.layout.positions.values())) == len(template.document.nodes)


@of_each()
def test_what_is_made_has_known_types(template: Template) -> None:
    schemas = validate(template.document, Catalogue()).schemas
    made = [str(schemas[node.id]) for node in template.document.nodes if node.operator == "generator"]
    assert [schema for schema in made if "UNKNOWN" in schema] == []


@of_each()
def test_it_can_be_read_and_written_as_sql(template: Template) -> None:
    assert parse(print_sql(template.document)).content_hash == template.document.content_hash


def test_titles_and_topics_do_not_collide() -> None:
    topics = [topic for template in TEMPLATES for topic in topics_of(template.document)]
    assert len(topics) == len(set(topics))
    assert all(0 < len(template.summary) <= 120 and template.title for template in TEMPLATES)


@pytest.mark.slow
@pytest.mark.spark
@of_each()
def test_rows_come_out_of_every_branch(h: headrace.Local, template: Template) -> None:
    h.run_batch(with_an_end(template.document))
    counts = {topic: len(h.rows(topic)) for topic in topics_of(template.document)}
    assert all(0 < count <= ROWS for count in counts.values()), counts
