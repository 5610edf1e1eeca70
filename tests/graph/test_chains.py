from __future__ import annotations

from itertools import pairwise

from hypothesis import given

from headrace.graph import Document, Edge, Node
from headrace.graph.chains import natural_order, take_apart
from headrace.graph.testing import documents


@given(documents())
def test_every_node_and_every_edge_is_taken_exactly_once(document: Document) -> None:
    chains = take_apart(document)
    nodes = [node.id for chain in chains.chains for node in chain.nodes]
    edges = list(chains.links)
    for chain in chains.chains:
        ids = [*([chain.head] if chain.head else []), *(node.id for node in chain.nodes)]
        edges += [Edge(source, target) for source, target in pairwise(ids)]
    assert sorted(nodes) == [node.id for node in document.nodes]
    assert sorted(edges) == list(document.edges)


@given(documents())
def test_a_branch_comes_after_the_node_it_leaves(document: Document) -> None:
    placed: set[str] = set()
    for chain in take_apart(document).chains:
        assert chain.head is None or chain.head in placed
        placed |= {node.id for node in chain.nodes}


def test_a_second_edge_into_a_node_is_a_link() -> None:
    nodes = tuple(Node(node_id, "filter") for node_id in ("a", "b", "c"))
    chains = take_apart(Document("x", nodes, (Edge("a", "c"), Edge("b", "c"))))
    assert [[node.id for node in chain.nodes] for chain in chains.chains] == [["a", "c"], ["b"]]
    assert chains.links == (Edge("b", "c"),)


def test_numbers_in_ids_count() -> None:
    assert sorted(["filter_10", "filter_2", "a", "2"], key=natural_order) == ["2", "a", "filter_2", "filter_10"]
