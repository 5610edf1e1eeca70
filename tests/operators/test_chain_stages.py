"""Which nodes of a chain can have their rows in the same lanes, and by which columns."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from headrace.graph.document import Edge, Node
from headrace.operators.chain_stages import Layout, Stage
from headrace.serial import Partitioning


def by(*keys: str) -> Partitioning:
    return Partitioning("by_key", keys)


def paired(left: tuple[str, ...], right: tuple[str, ...]) -> Partitioning:
    return Partitioning("by_key", left, by_port=(("left", left), ("right", right)))


def stages(
    edges: str, wanted: Mapping[str, Partitioning], kept: Mapping[str, Mapping[str, Mapping[str, str]]] | None = None
) -> tuple[Stage, ...]:
    """`edges` as `source>node:port`; nodes are in the order in which they are led to. What is not told they keep."""
    found = []
    for text in edges.split():
        source, _, target = text.partition(">")
        node, _, port = target.partition(":")
        found.append(Edge(source, node, target_port=port or "in"))
    nodes = [Node(name, "any") for name in dict.fromkeys(edge.target for edge in found)]
    same = {port: {name: name for name in "abcd"} for port in ("in", "left", "right")}
    wants = {node.id: wanted.get(node.id) for node in nodes}
    return Layout(nodes, found, wants, lambda node: (kept or {}).get(node.id, same)).stages()


def told(found: tuple[Stage, ...]) -> list[tuple[tuple[str, ...], dict[str, tuple[str, ...]]]]:
    """The nodes of each stage, and the keys of the rows that come into it, by where these are from."""
    return [(stage.nodes, {f"{edge.source}>{edge.target}": keys for edge, keys in stage.keys}) for stage in found]


def test_the_same_keys_are_one_stage() -> None:
    found = stages("t>x x>y", {"x": by("a", "b"), "y": by("a", "b")})
    assert told(found) == [(("x", "y"), {"t>x": ("a", "b")})]


def test_fewer_keys_behind_more_are_what_lanes_are_by() -> None:
    found = stages("t>x x>y", {"x": by("a", "b"), "y": by("b")})
    assert told(found) == [(("x", "y"), {"t>x": ("b",)})]
    assert [str(found[0].lanes_of(node)) for node in "xy"] == ["b", "b"]


def test_more_keys_behind_fewer_need_no_other_lanes() -> None:
    found = stages("t>x x>y", {"x": by("b"), "y": by("a", "b")})
    assert told(found) == [(("x", "y"), {"t>x": ("b",)})]


def test_other_keys_are_another_stage() -> None:
    found = stages("t>x x>y y>z", {"x": by("a"), "y": by("b"), "z": by("b", "a")})
    assert told(found) == [(("x",), {"t>x": ("a",)}), (("y", "z"), {"x>y": ("b",)})]


def test_no_key_is_a_stage_of_its_own() -> None:
    found = stages("t>x x>y", {"x": by("a"), "y": by()})
    assert told(found) == [(("x",), {"t>x": ("a",)}), (("y",), {"x>y": ()})]


def test_a_key_is_followed_through_its_names() -> None:
    found = stages("t>r r>x", {"x": by("b")}, {"r": {"in": {"b": "a"}}})
    assert told(found) == [(("r", "x"), {"t>r": ("a",)})]


def test_a_key_that_is_made_on_the_way_is_another_stage() -> None:
    found = stages("t>x x>r r>y", {"x": by("a"), "y": by("b")}, {"r": {"in": {"a": "a"}}})
    assert told(found) == [(("x", "r"), {"t>x": ("a",)}), (("y",), {"r>y": ("b",)})]


def test_sides_of_a_join_have_keys_of_their_own() -> None:
    wanted = {"w": by("a", "b"), "v": by("c"), "j": paired(("a",), ("c",)), "y": by("a", "d")}
    kept = {"j": {"left": {"a": "a"}, "right": {"a": "c"}}}
    found = stages("t>w s>v w>j:left v>j:right j>y", wanted, kept)
    assert told(found) == [(("w", "v", "j", "y"), {"t>w": ("a",), "s>v": ("c",)})]


def test_a_key_of_one_side_alone_is_another_stage() -> None:
    wanted = {"j": paired(("a",), ("c",)), "y": by("d")}
    kept = {"j": {"left": {"a": "a", "d": "d"}, "right": {"a": "c"}}}
    found = stages("t>j:left s>j:right j>y", wanted, kept)
    assert told(found) == [(("j",), {"t>j": ("a",), "s>j": ("c",)}), (("y",), {"j>y": ("d",)})]


def test_rows_may_come_around_a_stage() -> None:
    """As the highest bid of a window does, beside all bids."""
    found = stages("t>w w>j:right t>j:left", {"w": by(), "j": paired(("a",), ("b",))})
    assert told(found) == [(("w",), {"t>w": ()}), (("j",), {"w>j": ("b",), "t>j": ("a",)})]


def test_branches_without_a_node_in_common_have_lanes_of_their_own() -> None:
    found = stages("t>x s>y x>u:left y>u:right", {"x": by("a"), "y": by("b")})
    assert told(found) == [(("x", "y", "u"), {"t>x": ("a",), "s>y": ("b",)})]


@pytest.mark.parametrize(("second", "count"), [("f:one", 1), ("f:two", 2)])
def test_functions_that_choose_lanes_must_be_the_same(second: str, count: int) -> None:
    wanted = {"x": Partitioning("custom", function="f:one"), "y": Partitioning("custom", function=second)}
    assert len(stages("t>x x>y", wanted)) == count


def test_what_wants_nothing_goes_with_the_others() -> None:
    found = stages("t>n n>x x>m", {"x": by("a")})
    assert told(found) == [(("n", "x", "m"), {"t>n": ("a",)})]
