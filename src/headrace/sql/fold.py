"""Chains of nodes that one SELECT can say: filter → window or group → filter → select, as `steps` would make them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from headrace.errors import HeadraceError, InvalidSyntax
from headrace.graph.document import Config, Document, Edge, Json, Node
from headrace.operators.expressions import parse_expression
from headrace.sql.changes import changes_of
from headrace.sql.language.layout import listed
from headrace.sql.language.print_expressions import printed_duration
from headrace.sql.language.script import read_script, span_of
from headrace.sql.language.values import print_label, print_name
from headrace.sql.steps import Role, replace_spans
from headrace.sql.window_operators import GROUPS, WINDOW_OPERATORS, print_window_of

_OPERATORS: dict[Role, frozenset[str]] = {
    "filter": frozenset({"filter"}),
    "window": frozenset(WINDOW_OPERATORS),
    "group": frozenset({GROUPS.name}),
    "having": frozenset({"filter"}),
    "output": frozenset({"output-rate"}),
    "select": frozenset({"select"}),
}


@dataclass(frozen=True, slots=True)
class Chain:
    """Neighbouring nodes by their role in a SELECT, and the edge that leads into the first."""

    nodes: dict[Role, Node]
    entry: Edge

    @property
    def ids(self) -> set[str]:
        return {node.id for node in self.nodes.values()}


def chains_of_view(document: Document, last: Node) -> Iterator[Chain]:
    """Chains that end in a view's own node, the longest first."""
    for role, operators in _OPERATORS.items():
        if last.operator in operators and len(document.inputs_of(last.id)) == 1:
            yield from _longer_first(document, {role: last}, last.id)


def chains_into_sink(document: Document, sink: Node) -> Iterator[Chain]:
    """Chains that end right before a sink, the longest first; the last one has no nodes."""
    if len(document.inputs_of(sink.id)) == 1:
        yield from _longer_first(document, {}, sink.id)


def _longer_first(document: Document, nodes: dict[Role, Node], base: str) -> Iterator[Chain]:
    """Chains that reach further and further back, in reverse."""
    first = next(iter(nodes.values())).id if nodes else base
    entry = document.inputs_of(first)[0]
    before = _before(document, entry, base, nodes)
    if before is not None:
        role, node = before
        yield from _longer_first(document, {role: node, **nodes}, base)
    # Over changes GROUP BY means another operator.
    says_group = "group" in nodes and changes_of(document, entry.source) is not None
    if entry.target_port == "in" and not says_group:
        yield Chain(nodes, entry)


def _before(document: Document, entry: Edge, base: str, nodes: dict[Role, Node]) -> tuple[Role, Node] | None:
    """The node before a chain, if it has the id that the parser would give it there and nobody else reads it."""
    candidates = [node for node in document.nodes if node.id == entry.source]
    inner = (entry.source_port, entry.target_port) == ("out", "in")
    if not (candidates and inner and len(document.outputs_of(entry.source)) == 1):
        return None
    for role, operators in _OPERATORS.items():
        fits = candidates[0].id == f"{base}_{role}" and candidates[0].operator in operators
        if fits and role not in nodes and len(document.inputs_of(entry.source)) == 1:
            return role, candidates[0]
    return None


def select_lines(chain: Chain) -> list[str]:
    """The SELECT of a chain, a clause per line."""
    nodes = chain.nodes
    window = nodes.get("window") or nodes.get("group")
    aggregates = _aggregates(window) if window else {}
    columns = _strings(nodes["select"], "columns") if "select" in nodes else _all_columns(window, aggregates)
    hidden = {name: text for name, text in aggregates.items() if name not in columns}
    lines = listed("SELECT", [aggregates.get(column, column) for column in columns])
    lines.append(f"FROM {reference(chain.entry)}")
    if "filter" in nodes:
        lines.append(f"WHERE {_condition(nodes['filter'])}")
    if window:
        lines += _window_lines(window)
    if "having" in nodes:
        lines.append(f"HAVING {_with_calls(_condition(nodes['having']), hidden)}")
    if window and "emit" in window.config:
        lines.append(f"EMIT {str(window.config['emit']).upper()}")
    if "output" in nodes:
        lines.append(_output_line(nodes["output"].config))
    return lines


def reference(edge: Edge) -> str:
    """The source of an edge as it stands behind FROM."""
    name = print_name(edge.source)
    return name if edge.source_port == "out" else f"{name}.{print_label(edge.source_port)}"


def _output_line(config: Config) -> str:
    every = f"{config['rows']} EVENTS" if "rows" in config else printed_duration(str(config.get("every")))
    return f"OUTPUT {str(config.get('which')).upper()} EVERY {every}"


def _window_lines(window: Node) -> list[str]:
    keys = [print_name(key) for key in _strings(window, "keys")]
    groups = [f"GROUP BY {', '.join(keys)}"] if keys else []
    return groups if window.operator == GROUPS.name else [*groups, print_window_of(window)]


def _all_columns(window: Node | None, aggregates: dict[str, str]) -> list[str]:
    if window is None:
        return ["*"]
    operator = WINDOW_OPERATORS.get(window.operator, GROUPS)
    return [*operator.first_columns(_strings(window, "keys")), *aggregates]


def _aggregates(window: Node) -> dict[str, str]:
    """Name in the output → the aggregate as written, with its name."""
    named: dict[str, str] = {}
    for text in _strings(window, "aggregates"):
        try:
            name = parse_expression(text).name
        except HeadraceError:
            name = None
        named[print_name(name or text)] = text
    return named


def _with_calls(condition: str, hidden: dict[str, str]) -> str:
    """HAVING with the calls themselves where it names aggregates that the SELECT list does not hold."""
    calls = {name: text[: text.upper().rfind(" AS ")] for name, text in hidden.items()}
    try:
        tokens = read_script(condition).tokens if calls else ()
    except InvalidSyntax:
        return condition
    named = [token for token in tokens if print_name(token.text) in calls]
    return replace_spans(condition, 0, [(span_of(token), calls[print_name(token.text)]) for token in named])


def _condition(node: Node) -> str:
    return str(node.config.get("condition", ""))


def _strings(node: Node, setting: str) -> list[str]:
    values: Json = node.config.get(setting, [])
    return [str(value) for value in values] if isinstance(values, list) else []
