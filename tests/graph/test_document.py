from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from hypothesis import given

from headrace.errors import InvalidInput
from headrace.graph import Document, Edge, Node
from headrace.graph.testing import documents


@given(documents())
def test_json_and_pickle_keep_the_document(document: Document) -> None:
    assert Document.from_json(document.to_json()) == document
    assert pickle.loads(pickle.dumps(document)) == document


@given(documents())
def test_the_order_of_nodes_and_edges_means_nothing(document: Document) -> None:
    turned = Document(document.name, document.nodes[::-1], document.edges[::-1])
    assert turned == document
    assert turned.content_hash == document.content_hash


def test_the_hash_is_of_the_meaning_and_not_of_the_name() -> None:
    one = Document("a", (Node("x", "preview", {"rows": 1}),))
    assert one.content_hash == Document("b", one.nodes).content_hash
    assert one.content_hash != Document("a", (Node("x", "preview", {"rows": 2}),)).content_hash


def test_a_node_keeps_its_own_copy_of_the_config() -> None:
    columns: list[Any] = ["a"]
    node = Node("x", "select", {"columns": columns})
    columns.append("b")
    assert node.config == {"columns": ["a"]}
    with pytest.raises(TypeError):
        node.config["columns"] = []  # type: ignore[index]


def test_numbers_and_booleans_are_different_values() -> None:
    assert Node("x", "preview", {"rows": 1}) != Node("x", "preview", {"rows": True})
    assert Node("x", "preview", {"rows": 1}) != "x"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, "\ud800"])
def test_a_setting_that_json_cannot_carry_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInput, match="no JSON value"):
        Node("x", "preview", {"rows": value})


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("{", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[]", "must be an object, not list"),
        ({"name": "x", "nodes": []}, "without the field 'edges'"),
        ({"nodes": [], "edges": []}, "without the field 'name'"),
        ({"name": 5, "nodes": [], "edges": []}, "name in a pipeline document must be a string, not int"),
        ({"name": "x", "nodes": {}, "edges": []}, "nodes in a pipeline document must be a list"),
        ({"name": "x", "nodes": [{"id": "a"}], "edges": []}, "without the field 'operator'"),
        ({"name": "x", "nodes": [{"id": None, "operator": "y"}], "edges": []}, "id in .* must be a string"),
        ({"name": "x", "nodes": [{"id": "a", "operator": "y", "confg": {}}], "edges": []}, "unknown field 'confg'"),
        ({"name": "x", "nodes": [{"id": "a", "operator": "y", "config": []}], "edges": []}, "config must be an object"),
        ({"name": "x", "nodes": [], "edges": [{"source": "a"}]}, "without the field 'target'"),
        ({"name": "x", "nodes": [], "edges": [{"source": "a", "target": "b", "port": "c"}]}, "unknown field 'port'"),
        ({"format": 2, "name": "x", "nodes": [], "edges": []}, "format 2; this version reads format 1"),
    ],
)
def test_a_broken_document_is_refused_with_the_field(written: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Document.from_json(written if isinstance(written, str) else json.dumps(written))


def test_edges_have_usual_ports() -> None:
    document = Document.from_dict({"name": "x", "nodes": [], "edges": [{"source": "a", "target": "b"}]})
    assert document.edges == (Edge("a", "b", "out", "in"),)
    assert document.inputs_of("b") == document.outputs_of("a") == document.edges
    with pytest.raises(KeyError):
        document.node("a")
