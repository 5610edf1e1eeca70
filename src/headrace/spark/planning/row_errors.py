"""Rows that an expression fails for, taken out before it: by nodes that are put into the document.

    source ─► n     becomes     source ─► n__guard (NOT failed) ─► n
                                      └─► n__failed ─► n__letter (row, offset, reason) ─► n__errors, n__letters

`failed` is an expression like others (`operators/row_failures.py`), so the guard is computed wherever its node is: by a
topic's reader, in a chain, or in Spark's plan. The node keeps its text, its id and its state. Where the node is before
one with state, its failing rows are written by a query of their own, as bad records are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sqlglot import exp

from headrace.errors import InvalidInput
from headrace.graph.document import Document, Edge, Json, Node
from headrace.graph.schema import Schema, backquoted
from headrace.graph.validation import Validated, validate
from headrace.operators import Catalogue
from headrace.operators.expressions import MAX_EXPRESSION_CHARACTERS, aggregates, parse_expression, sql
from headrace.operators.projection import row_columns
from headrace.operators.row_failures import Derived, Failure, NotDerivable, derived, derived_items, reason_of
from headrace.operators.settings import RowErrorPolicy
from headrace.spark.planning.error_nodes import ERRORS_KEPT, errors_node, made_node
from headrace.spark.planning.queries import plan_queries

# Of a row in a dead letter.
ROW_CHARACTERS_MAX: Final = 64 * 1024
# Columns under which the place of a record travels through selects.
_PARTITION, _OFFSET = "error__partition", "error__offset"


def guarded(validated: Validated, catalogue: Catalogue) -> Validated:
    """With what its policies for failing rows need. Raises InvalidInput for a policy that cannot be kept."""
    if validated.written is not None:
        return validated
    found = _Rewriting(validated).done(catalogue)
    if found is None:
        return validated
    before, after = (_in_chain(one, catalogue) for one in (validated, found))
    if before - after:
        # State would have to move. Who asked for the policy gets it; by default things stay where they are.
        found = _Rewriting(validated, only_asked=True).done(catalogue)
    return found or validated


def probes(validated: Validated, catalogue: Catalogue) -> dict[str, Validated]:
    """For each node that rows reach straight from topics, and that may fail for some: what finds these rows.

    It ends in the preview `errors_node(node)`.
    """
    written = validate(validated.as_written, catalogue)
    found = _Rewriting(written, probing=True).done(catalogue)
    if found is None:
        return {}
    parts = {node: found.document.leading_to([errors_node(node)]) for node in dict.fromkeys(found.aside.values())}
    return {node: validate(part, catalogue) for node, part in parts.items() if _is_stateless(part, catalogue)}


def _is_stateless(document: Document, catalogue: Catalogue) -> bool:
    specs = [catalogue.get(node.operator).spec for node in document.nodes]
    return not any(spec.stateful or spec.kind == "serial" for spec in specs)


def _in_chain(validated: Validated, catalogue: Catalogue) -> set[str]:
    return {node for plan in plan_queries(validated, catalogue) for node in plan.in_chain}


@dataclass(frozen=True, slots=True)
class _Policy:
    action: RowErrorPolicy
    topic: str | None = None
    asked: bool = False
    """Whether the node itself says so."""


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows with what is known of the records that they were."""

    node: str
    partition: str = "CAST(NULL AS INT)"
    offset: str = "CAST(NULL AS BIGINT)"
    topic: str = "CAST(NULL AS STRING)"


@dataclass(slots=True)
class _Rewriting:
    validated: Validated
    only_asked: bool = False
    probing: bool = False
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: set[Edge] = field(default_factory=set)
    aside: dict[str, str] = field(default_factory=dict)
    rewritten: bool = False

    def done(self, catalogue: Catalogue) -> Validated | None:
        """None where nothing has to be put in."""
        document = self.validated.document
        self.nodes = {node.id: node for node in document.nodes}
        self.edges = set(document.edges)
        for node_id in self.validated.order:
            policy = self._policy(node_id)
            if policy.action != "fail" and not (self.only_asked and not policy.asked):
                self._apply(document.node(node_id), policy)
        if not self.rewritten:
            return None
        made = Document(document.name, tuple(self.nodes.values()), tuple(self.edges))
        return replace(validate(made, catalogue), aside=self.aside, written=document)

    def _apply(self, node: Node, policy: _Policy) -> None:
        inputs = self.validated.document.inputs_of(node.id)
        if len(inputs) != 1:
            return
        schema = self.validated.schemas[inputs[0].source]
        try:
            if policy.action == "null":
                self._nulled(node, schema)
                return
            failures = self._failures(node, schema, asked=policy.asked)
            reason = reason_of(failures)
            if len(reason) > MAX_EXPRESSION_CHARACTERS // 2:
                raise NotDerivable("so much")
        except NotDerivable as error:
            if not policy.asked:
                return
            raise InvalidInput(
                f"on_error is {policy.action}, and {error} may fail: for which rows cannot be told beforehand",
                node=node.id,
                hint="put it into a node of its own with on_error=fail, or use a try_ function",
            ) from None
        if failures:
            self._guard(node, inputs[0], schema, failures, policy)

    def _failures(self, node: Node, schema: Schema, *, asked: bool) -> list[Failure]:
        """Raises NotDerivable, if somebody asked; else what cannot be told fails as before."""
        found: list[Failure] = []
        for one in _expressions(self.validated.configs[node.id], node, schema, skip=not asked):
            found += one.failures
        return list(dict.fromkeys(found))

    def _guard(self, node: Node, edge: Edge, schema: Schema, failures: Sequence[Failure], policy: _Policy) -> None:
        failed = Derived("", tuple(failures)).failed
        # Rows come from where earlier guards let them.
        edge = next(one for one in self.edges if one.target == node.id)
        guard = self._put(node, "guard", "filter", {"condition": f"NOT ({failed})"})
        self.edges.remove(edge)
        self.edges |= {replace(edge, target=guard, target_port="in"), Edge(guard, node.id, "out", edge.target_port)}
        rows = self._with_places(edge.source, node) or _Rows(edge.source)
        taken = self._put(node, "failed", "filter", {"condition": failed})
        letter = self._put(node, "letter", "select", {"columns": _letter(node, schema, failures, rows)})
        errors = self._put(node, "errors", "preview", {"rows": ERRORS_KEPT})
        port = edge.source_port if rows.node == edge.source else "out"
        self.edges |= {Edge(rows.node, taken, port), Edge(taken, letter), Edge(letter, errors)}
        if policy.action == "dead_letter" and policy.topic is not None:
            self.edges.add(Edge(letter, self._put(node, "letters", "to-topic", {"topic": policy.topic})))
        self.nodes[node.id] = Node(node.id, node.operator, _without_policy(node))
        self.rewritten = True

    def _nulled(self, node: Node, schema: Schema) -> None:
        """Expressions that are null where they failed. Raises NotDerivable."""
        config = self.validated.configs[node.id]
        plain: dict[str, Json] = _without_policy(node)
        if node.operator == "filter":
            found = derived(config.condition, schema)
            plain["condition"] = _or_null(found)
        else:
            items = row_columns(config.columns, schema)
            if items is None:
                raise NotDerivable("explode")
            made = zip(items, derived_items(items, schema), strict=True)
            plain["columns"] = [
                f"{_or_null(one)} AS {backquoted(name)}" if one.failures else _named(name, text)
                for (name, text), one in made
            ]
        self.nodes[node.id] = Node(node.id, node.operator, plain)
        self.rewritten = True

    def _with_places(self, source: str, owner: Node) -> _Rows | None:
        """The same rows with the places of their records: selects on the way are taken once more, and carry them."""
        node, schema = self.nodes[source], self._schema(source)
        if any(column.name == "_offset" for column in schema.hidden):
            return _Rows(source, "_partition", "_offset", _text(self._topic(source)))
        edges = [one for one in self.edges if one.target == source]
        if node.operator not in ("filter", "select") or len(edges) != 1:
            return None
        before = self._with_places(edges[0].source, owner)
        if before is None:
            return None
        config = dict(node.config)
        if node.operator == "select":
            items: list[Json] = [*node.config["columns"]]  # type: ignore[misc]
            config["columns"] = [*items, f"{before.partition} AS {_PARTITION}", f"{before.offset} AS {_OFFSET}"]
        copy = self._put(owner, f"on_{len(self.aside)}", node.operator, config)
        self.edges.add(replace(edges[0], source=before.node, target=copy))
        return _Rows(copy, _PARTITION, _OFFSET, before.topic)

    def _schema(self, node: str) -> Schema:
        """A guard has the columns of what it guards against."""
        if node in self.aside:
            (edge,) = (one for one in self.edges if one.target == node)
            return self._schema(edge.source)
        return self.validated.schemas[node]

    def _topic(self, node: str) -> str:
        while edges := [one for one in self.edges if one.target == node]:
            node = edges[0].source
        return str(self.nodes[node].config.get("topic", ""))

    def _put(self, node: Node, what: str, operator: str, config: dict[str, Json]) -> str:
        name = made_node(node.id, what)
        if name in self.nodes:
            raise InvalidInput(f"the node id {name!r} is taken for rows that {node.id!r} fails for", hint="rename it")
        self.nodes[name] = Node(name, operator, config)
        self.aside[name] = node.id
        return name

    def _policy(self, node_id: str) -> _Policy:
        """What the node says, else what the topics that its rows come from say, if they agree."""
        if self.probing:
            return _Policy("drop")
        own = self.validated.configs[node_id]
        declared = {
            (one.on_error, one.dead_letter)
            for source in self._sources(node_id)
            if (one := self.validated.configs[source]).on_error is not None
        }
        said = declared.pop() if len(declared) == 1 else (None, None)
        action = getattr(own, "on_error", None) if _has_policy(self.nodes[node_id]) else None
        if action is None:
            return _Policy(said[0], said[1]) if said[0] in ("drop", "dead_letter") else _Policy("fail")
        topic = own.dead_letter or said[1]
        if action == "dead_letter" and topic is None:
            message = "on_error is dead_letter and no topic is named"
            raise InvalidInput(
                message, node=node_id, hint="set dead_letter here, or on_error and dead_letter of the topic"
            )
        return _Policy(action, topic, asked=True)

    def _sources(self, node_id: str) -> list[str]:
        nodes = self.validated.document.leading_to([node_id]).nodes
        return [node.id for node in nodes if node.operator == "topic"]


def _has_policy(node: Node) -> bool:
    return node.operator in ("select", "filter")


def _without_policy(node: Node) -> dict[str, Json]:
    return {name: value for name, value in node.config.items() if name not in ("on_error", "dead_letter")}


def _expressions(config: Any, node: Node, schema: Schema, *, skip: bool) -> Iterator[Derived]:
    """What a node computes of each of its input rows. Raises NotDerivable, or passes over such parts with `skip`."""
    if node.operator == "filter":
        yield from _tried(lambda: [derived(config.condition, schema)], skip=skip)
    elif node.operator == "select":
        items = [(one.name or one.text, one.text) for one in map(parse_expression, config.columns) if not one.is_star]
        yield from derived_items(items, schema, skip=skip)
    elif isinstance(getattr(config, "aggregates", None), list):
        for item in config.aggregates:
            yield from _aggregated(parse_expression(item).tree, schema)


def _tried(found: Any, *, skip: bool) -> Sequence[Derived]:
    try:
        made: Sequence[Derived] = found()
    except NotDerivable:
        if not skip:
            raise
        return ()
    return made


def _aggregated(tree: exp.Expr, schema: Schema) -> Iterator[Derived]:
    """The arguments of aggregates, and their FILTER conditions, which are looked at first."""
    for call in aggregates(tree):
        scope = call.parent if isinstance(call.parent, exp.Filter) else None
        wanted: Derived | None = None
        if scope is not None:
            condition = scope.expression.this if isinstance(scope.expression, exp.Where) else scope.expression
            for wanted in _tried(lambda condition=condition: [derived(sql(condition), schema)], skip=True):
                yield wanted
            if wanted is None:
                continue
        for part in _arguments(call):
            for one in _tried(lambda part=part: [derived(sql(part), schema)], skip=True):
                only = () if wanted is None else (f"coalesce({wanted.safe}, false)",)
                yield replace(one, failures=tuple(failure.only_if(*only) for failure in one.failures))


def _arguments(call: exp.Expr) -> Iterator[exp.Expr]:
    for part in call.iter_expressions():
        if isinstance(part, exp.Distinct):
            yield from part.expressions
        elif not isinstance(part, exp.Star):
            yield part


def _letter(node: Node, schema: Schema, failures: Sequence[Failure], rows: _Rows) -> list[Json]:
    fields = ", ".join(f"{_text(name)}, {backquoted(name)}" for name in schema.names)
    return [
        f"{_text(node.id)} AS node",
        f"{reason_of(failures)} AS reason",
        f"{rows.topic} AS topic",
        f"{rows.partition} AS partition",
        f"{rows.offset} AS offset",
        f"substring(to_json(named_struct({fields})), 1, {ROW_CHARACTERS_MAX}) AS row",
    ]


def _or_null(found: Derived) -> str:
    return f"CASE WHEN NOT ({found.failed}) THEN {found.safe} END"


def _named(name: str, text: str) -> str:
    expression = parse_expression(text)
    return text if expression.name == name else f"{text} AS {backquoted(name)}"


def _text(text: str) -> str:
    return sql(exp.Literal.string(text))
