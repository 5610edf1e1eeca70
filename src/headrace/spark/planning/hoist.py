"""Expressions around aggregates, taken out of nodes with state: what stands around them is a row step behind the node.

    n: round(avg(x), 2) AS a     becomes     n: avg(x) AS hoisted__0 ─► n__hoisted: round(hoisted__0, 2) AS a

So no expression decides where the state of a node is. The node keeps its id, its state and its meaning: a version is
compared as it was written. Conditions of joins are done in `hoist_joins.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from headrace.errors import InvalidGraph
from headrace.graph.document import Document, Edge, Json, Node
from headrace.graph.schema import Schema, backquoted
from headrace.graph.validation import Validated, validate
from headrace.operators import Catalogue
from headrace.operators.expressions import Expression, aggregates, parse_expression, sql, whole_call
from headrace.spark.planning.error_nodes import made_node
from headrace.spark.planning.hoist_joins import without_computed_keys
from headrace.spark.planning.queries import plan_queries
from headrace.spark.planning.retractions import retraction_columns

_NAME = "hoisted__"
_BEHIND = "hoisted"


def hoisted(validated: Validated, catalogue: Catalogue) -> Validated:
    """The same pipeline with plain aggregates in every node that can run in a chain then; others stay as they are."""
    for node_id in validated.order:
        for taken_out in (_without_expressions, without_computed_keys):
            found = taken_out(node_id, validated, catalogue)
            if found is not None and node_id in _in_chain(found, catalogue):
                validated = found
    return validated


def rows_of(node_id: str, validated: Validated) -> str:
    """The node that makes the rows which a node makes as it is written: itself, or the step behind it."""
    behind = made_node(node_id, _BEHIND)
    return behind if validated.aside.get(behind) == node_id else node_id


def _in_chain(validated: Validated, catalogue: Catalogue) -> set[str]:
    return {node for plan in plan_queries(validated, catalogue) for node in plan.in_chain}


def _without_expressions(node_id: str, validated: Validated, catalogue: Catalogue) -> Validated | None:
    """None for a node that has no expression around an aggregate, or whose rows would not be just the same."""
    document, node = validated.document, validated.document.node(node_id)
    operator, config = catalogue.get(node.operator), validated.configs[node_id]
    items = _items(config)
    is_plain = all(map(_is_aggregate, (item.tree for item in items)))
    if is_plain or not operator.spec.stateful or operator.spec.kind == "serial" or retraction_columns(node, catalogue):
        return None
    split, behind = _Split(), made_node(node_id, _BEHIND)
    columns = {item.alias: split.around(item) for item in items}
    names = [column.name for column in validated.schemas[node_id].columns]
    select: list[Json] = [columns.get(name, backquoted(name)) for name in names]
    plain: list[Json] = [*split.inner]
    changed = {
        node_id: Node(node_id, node.operator, {**node.config, "aggregates": plain}),
        behind: Node(behind, "select", {"columns": select}),
    }
    edges = [replace(edge, source=behind) if edge.source == node_id else edge for edge in document.edges]
    kept = [one for one in document.nodes if one.id not in changed]
    made = Document(document.name, (*kept, *changed.values()), (*edges, Edge(node_id, behind)))
    try:
        found = validate(made, catalogue)
    except InvalidGraph:
        # A select drops an event time that can only be named, and a node behind reads it.
        return None
    if not _is_same(found.schemas[behind], validated.schemas[node_id], found, validated):
        return None
    return replace(found, aside={**validated.aside, behind: node_id}, written=validated.as_written)


def _items(config: Any) -> Sequence[Expression]:
    found = getattr(config, "aggregates", None)
    return [parse_expression(text) for text in found] if isinstance(found, list) else []


def _is_aggregate(tree: exp.Expr) -> bool:
    return any(whole_call(one) is tree for one in aggregates(tree))


def _is_same(behind: Schema, written: Schema, found: Validated, validated: Validated) -> bool:
    """Whether the same rows leave: these columns with these types, and for all other nodes the same event time."""
    others = [(schema, found.schemas[one]) for one, schema in validated.schemas.items() if schema is not written]
    return behind.columns == written.columns and all(
        before.columns == after.columns and before.event_time == after.event_time for before, after in others
    )


@dataclass(slots=True)
class _Split:
    """`inner` are the plain aggregates: each once, however often it stands in expressions."""

    inner: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)

    def around(self, item: Expression) -> str:
        """The item as a column of the select behind the node."""
        alias = backquoted(item.alias or "")
        if _is_aggregate(item.tree):
            self.inner.append(item.text)
            return alias
        tree = exp.alias_(item.tree.copy(), item.alias, quoted=True)
        for call in list(aggregates(tree)):
            whole = whole_call(call)
            whole.replace(exp.column(self._named(sql(whole)), quoted=True))
        return sql(tree)

    def _named(self, text: str) -> str:
        if text not in self.names:
            self.names[text] = f"{_NAME}{len(self.names)}"
            self.inner.append(f"{text} AS {self.names[text]}")
        return self.names[text]
