from __future__ import annotations

from hypothesis import given

from headrace.graph import Document, Edge, Node
from headrace.graph.diff import (
    EdgeAdded,
    EdgeRemoved,
    NodeAdded,
    NodeRemoved,
    NodeRenamed,
    OperatorReplaced,
    SettingChanged,
    compare,
)
from headrace.graph.testing import documents

OLD = Document(
    "x",
    (Node("t", "topic", {"topic": "a"}), Node("f", "filter", {"condition": "x"}), Node("p", "preview", {"rows": 5})),
    (Edge("t", "f"), Edge("f", "p")),
)


@given(documents())
def test_a_document_does_not_differ_from_itself(document: Document) -> None:
    assert compare(document, Document("other", document.nodes, document.edges)).is_empty


@given(documents(), documents())
def test_a_diff_is_empty_exactly_when_the_hashes_are_equal(old: Document, new: Document) -> None:
    assert compare(old, new).is_empty == (old.content_hash == new.content_hash)


def test_settings_are_compared_one_by_one() -> None:
    new = OLD.with_nodes((*OLD.nodes[:1], Node("p", "preview", {"label": None}), OLD.nodes[2]))
    diff = compare(OLD, new)
    assert diff.changes == (SettingChanged("p", "label", None, "null"), SettingChanged("p", "rows", "5", None))
    assert str(diff) == "~ node p: label (not set) → null\n~ node p: rows 5 → (not set)"


def test_a_number_and_a_boolean_differ() -> None:
    old, new = (Document("x", (Node("p", "preview", {"rows": rows}),)) for rows in (1, True))
    assert compare(old, new).changes == (SettingChanged("p", "rows", "1", "true"),)


def test_nodes_and_edges_added_and_removed() -> None:
    select = Node("s", "select", {"columns": ["a"]})
    new = Document("x", (OLD.node("t"), select, OLD.node("p")), (Edge("t", "s"), Edge("s", "p")))
    assert compare(OLD, new).changes == (
        NodeRemoved(OLD.node("f")),
        NodeAdded(select),
        EdgeRemoved(Edge("f", "p")),
        EdgeRemoved(Edge("t", "f")),
        EdgeAdded(Edge("s", "p")),
        EdgeAdded(Edge("t", "s")),
    )


def test_another_operator_under_the_same_id() -> None:
    new = OLD.with_nodes((OLD.node("t"), Node("f", "select", {"columns": ["a"]}), OLD.node("p")))
    assert compare(OLD, new).changes == (
        OperatorReplaced("f", "filter", "select"),
        SettingChanged("f", "columns", None, '["a"]'),
        SettingChanged("f", "condition", '"x"', None),
    )


def test_a_new_id_is_a_rename_and_moves_no_edges() -> None:
    new = Document(
        "x",
        (OLD.node("t"), Node("low", "filter", {"condition": "x"}), OLD.node("p")),
        (Edge("t", "low"), Edge("low", "p")),
    )
    diff = compare(OLD, new)
    assert diff.changes == (NodeRenamed("f", "low"),)
    assert str(diff) == "~ node f: is now low"


def test_a_rename_that_could_be_two_is_none() -> None:
    twins = (Node("a", "preview"), Node("b", "preview"))
    changes = compare(Document("x", (Node("old", "preview"),)), Document("x", twins)).changes
    assert [type(change) for change in changes] == [NodeAdded, NodeAdded, NodeRemoved]


def test_ports_are_told_where_they_are_not_the_usual_ones() -> None:
    old, new = Document("x"), Document("x", (), (Edge("a", "b", "out", "left"),))
    assert str(compare(old, new)) == "+ edge a → b (out → left)"
    assert str(compare(old, old)) == "no change"
