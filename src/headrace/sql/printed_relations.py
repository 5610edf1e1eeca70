"""Unions and joins as queries: what stands behind FROM of a node with several inputs."""

from __future__ import annotations

import re
from itertools import pairwise

from headrace.errors import InvalidSyntax
from headrace.graph.document import Document, Edge, Node
from headrace.sql.fold import reference
from headrace.sql.language.print_expressions import printed_duration
from headrace.sql.language.script import read_script, span_of
from headrace.sql.language.values import print_name
from headrace.sql.steps import replace_spans

_SAME_NAME = re.compile(r"left\.(`?)(\w+)\1 = right\.(`?)(\w+)\3")


def union_lines(document: Document, node: Node) -> list[str] | None:
    """`SELECT * FROM a UNION ALL SELECT * FROM b`; None if the node is no union of several."""
    edges = sorted(document.inputs_of(node.id), key=lambda edge: (edge.target_port != "in", edge.target_port))
    if node.operator != "union" or len(edges) < 2:
        return None
    lines: list[str] = []
    for edge in edges:
        lines += [*(["UNION ALL"] if lines else []), "SELECT *", f"FROM {reference(edge)}"]
    return lines


def join_lines(document: Document, node: Node) -> list[str] | None:
    """`SELECT * FROM a JOIN b ON … WITHIN …`; None if the node is no join of two, or says more.

    Without a bound it is a lookup in a table.
    """
    sides = {edge.target_port: edge for edge in document.inputs_of(node.id)}
    if node.operator not in ("join", "lookup-join", "asof-join") or sides.keys() != {"left", "right"}:
        return None
    names = _names(sides["left"], sides["right"])
    if node.operator == "asof-join":
        return _asof_lines(node, *(_aliased(sides[side], names[side]) for side in ("left", "right")))
    condition = _condition(str(node.config.get("on", "")), str(node.config.get("kind", "inner")), names)
    bound = _bound(node) if node.operator == "join" else ""
    if condition is None or bound is None:
        return None
    window = f" {bound}" if bound.startswith("WINDOW") else ""
    left, right = (f"{_aliased(sides[side], names[side])}{window}" for side in ("left", "right"))
    kind = str(node.config.get("kind", "inner"))
    word = "JOIN" if kind == "inner" else f"{kind.upper()} JOIN"
    return ["SELECT *", f"FROM {left}", f"{word} {right} {condition}{'' if window or not bound else f' {bound}'}"]


def _asof_lines(node: Node, left: str, right: str) -> list[str]:
    keys, within = node.config.get("keys"), node.config.get("within")
    equal = f"USING ({', '.join(print_name(str(key)) for key in keys)})" if isinstance(keys, list) else "ON TRUE"
    word = "ASOF LEFT JOIN" if node.config.get("kind") == "left" else "ASOF JOIN"
    bound = "" if within is None else f" WITHIN {printed_duration(str(within))}"
    return ["SELECT *", f"FROM {left}", f"{word} {right} {equal}{bound}"]


def _names(left: Edge, right: Edge) -> dict[str, str]:
    """What the sides are called in the query: by their nodes, or a and b where both are the same one."""
    if left.source.lower() == right.source.lower():
        return {"left": "a", "right": "b"}
    return {"left": left.source, "right": right.source}


def _aliased(edge: Edge, name: str) -> str:
    return reference(edge) if edge.source == name else f"{reference(edge)} AS {print_name(name)}"


def _condition(on: str, kind: str, names: dict[str, str]) -> str | None:
    """ON, or USING where an outer join makes columns of one name equal: only that gives them out once."""
    parts = [_SAME_NAME.fullmatch(part.strip()) for part in on.split(" AND ")]
    same = [part[2] for part in parts if part is not None and part[2] == part[4]]
    if kind == "inner" or not same:
        return f"ON {_qualified(on, names)}"
    return f"USING ({', '.join(map(print_name, same))})" if len(same) == len(parts) else None


def _qualified(on: str, names: dict[str, str]) -> str:
    """The condition with the names of the streams instead of left and right."""
    try:
        tokens = read_script(on).tokens
    except InvalidSyntax:
        return on
    firsts = [token for token, after in pairwise(tokens) if after.text == "."]
    sides = [token for token in firsts if token.text.lower() in names]
    return replace_spans(on, 0, [(span_of(token), print_name(names[token.text.lower()])) for token in sides])


def _bound(node: Node) -> str | None:
    before, after, window, every = (node.config.get(name) for name in ("before", "after", "window", "every"))
    if isinstance(window, str) and before is None and after is None:
        if isinstance(every, str):
            return f"WINDOW SLIDING({printed_duration(window)}, {printed_duration(every)})"
        return f"WINDOW TUMBLING({printed_duration(window)})" if every is None else None
    if every is not None or not isinstance(before, str) or not isinstance(after, str):
        return None
    if before == after:
        return f"WITHIN {printed_duration(before)}"
    return f"WITHIN ({printed_duration(before)}, {printed_duration(after)})"
