"""Whatever a document says, SQL says it too: printed and read back it is the same document."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.errors import HeadraceError, InvalidGraph
from headrace.graph.document import Document, Edge, Json, Node
from headrace.graph.testing import documents
from headrace.graph.validation import validate
from headrace.operators.catalogue import Catalogue
from headrace.sql import expand, parse, print_sql
from headrace.sql.to_graph import translate

CATALOGUE = Catalogue()
_SUFFIXES = {"filter": ("filter", "having"), "tumbling-window": ("window",), "select": ("select",)}


_mostly = st.sampled_from((True, True, True, False))


@st.composite
def foldable_documents(draw: st.DrawFn) -> Document:
    """Documents whose ids look like the parser's own, so that neighbours may be said in one SELECT."""
    document = draw(documents())
    names = {node.id: node.id for node in document.nodes}
    for node in document.nodes:
        for edge in document.inputs_of(node.id):
            before = document.node(edge.source)
            base = (
                names[node.id]
                if node.operator in ("to-topic", "to-table", "to-file", "preview")
                else _base(names[node.id])
            )
            choices = [f"{base}_{suffix}" for suffix in _SUFFIXES.get(before.operator, ())]
            if node.operator in ("to-topic", "to-table") and draw(st.booleans()):
                _rename(names, node.id, f"into_{names[before.id]}")
            elif len(choices) > 0 and draw(_mostly):
                _rename(names, before.id, draw(st.sampled_from(choices)))
    nodes = [replace(node, id=names[node.id]) for node in document.nodes]
    edges = [replace(edge, source=names[edge.source], target=names[edge.target]) for edge in document.edges]
    return Document(document.name, tuple(nodes), tuple(edges))


def _base(name: str) -> str:
    head, _, tail = name.rpartition("_")
    return head if head and tail in ("filter", "having", "window", "select") else name


def _rename(names: dict[str, str], node_id: str, name: str) -> None:
    if name not in names.values() and len(name) <= 63:
        names[node_id] = name


@given(documents())
@settings(max_examples=40, deadline=None)
def test_every_document_survives(document: Document) -> None:
    printed = print_sql(document)
    assert parse(printed) == document
    # NOT IN has no notation for a node of any name: it is what a WHERE makes.
    if all(node.config.get("kind") != "not_in" for node in document.nodes):
        assert " => " not in printed, "documents over the built-in operators read as plain SQL"


@given(foldable_documents())
@settings(max_examples=40, deadline=None)
def test_documents_with_the_ids_of_the_parser_survive(document: Document) -> None:
    printed = print_sql(document)
    assert parse(printed) == document
    assert print_sql(parse(printed)) == printed


_texts = st.text(st.characters(codec="utf-8"), max_size=12)
_values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=6,
)
_settings = st.sampled_from(("condition", "columns", "topic", "schema", "keys", "size", "aggregates", "table", "x y"))
_operators = st.sampled_from(("topic", "filter", "select", "tumbling-window", "to-topic", "preview", "a plugin's"))


@st.composite
def wild_nodes(draw: st.DrawFn) -> list[Node]:
    ids = draw(
        st.lists(st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,6}", fullmatch=True), min_size=1, max_size=6, unique=True)
    )
    return [Node(id_, draw(_operators), draw(st.dictionaries(_settings, _values, max_size=3))) for id_ in ids]


@given(wild_nodes(), st.data())
@settings(max_examples=40, deadline=None)
def test_what_no_operator_accepts_is_still_printed_exactly(nodes: list[Node], data: st.DataObject) -> None:
    """Broken configs, operators of absent plugins, ports of any name: an editor may show them all as SQL."""
    edges = []
    for index, node in enumerate(nodes[1:], start=1):
        for before in data.draw(st.lists(st.sampled_from(nodes[:index]), max_size=2, unique_by=lambda node: node.id)):
            ports = st.sampled_from(("out", "late", "a b"))
            edges.append(
                Edge(before.id, node.id, data.draw(ports), data.draw(st.sampled_from(("in", "left", "table", "a b"))))
            )
    document = Document("wild", tuple(nodes), tuple(edges))
    read = translate(expand(print_sql(document), {}), CATALOGUE)
    unread_sources = {node.id for node in nodes if node.operator == "topic" and not document.outputs_of(node.id)}
    assert {*document.nodes} - {*read.nodes} <= {node for node in nodes if node.id in unread_sources}
    assert read.edges == document.edges


def test_sinks_of_one_stream_share_its_declaration_only_in_their_order() -> None:
    """look, look_2 and look_3 are three INSERT INTO look; far_2 and far_3 without a far are streams of their own."""
    ids = ("look", "look_2", "look_3", "look_5", "far_2", "far_3")
    nodes = [
        Node("made", "generator"),
        *(Node(sink, "preview", {"rows": 5}) for sink in ids),
        Node("look_4", "preview"),
    ]
    document = Document("many", tuple(nodes), tuple(Edge("made", node.id) for node in nodes[1:]))
    printed = print_sql(document)
    assert parse(printed) == document
    assert printed.count("INSERT INTO look\n") == 3
    assert [name for name in (*ids, "look_4") if f"CREATE STREAM {name} " in printed] == [
        "look",
        "look_5",
        "far_2",
        "far_3",
        "look_4",
    ]


def test_a_cycle_is_refused() -> None:
    nodes = (Node("a", "filter", {"condition": "true"}), Node("b", "filter", {"condition": "true"}))
    with pytest.raises(InvalidGraph, match="circle"):
        print_sql(Document("round", nodes, (Edge("a", "b"), Edge("b", "a"))))


@given(documents())
@settings(max_examples=10, deadline=None)
def test_parsed_documents_are_valid(document: Document) -> None:
    try:
        validate(parse(print_sql(document)), CATALOGUE)
    except HeadraceError as error:
        pytest.fail(str(error))
