"""Statements that stand for the nodes of a document.

Each is printed in the most readable form there is, read back, and kept if it means exactly the same nodes and edges;
else the next form is tried. The last one, a call of the operator by its name, can say everything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from headrace.errors import HeadraceError
from headrace.graph.document import Document, Edge, Node
from headrace.operators.catalogue import Catalogue
from headrace.sql.fold import chains_into_sink, chains_of_view, reference, select_lines
from headrace.sql.language.layout import bracketed, called
from headrace.sql.language.values import print_label, print_name, print_value
from headrace.sql.printed_relations import join_lines, union_lines
from headrace.sql.printed_streams import option_items, printed_kind, sink_lines, source_lines
from headrace.sql.reading_order import Printed
from headrace.sql.sink_names import sink_beside
from headrace.sql.to_graph import translate

# Names for statements that are read back with a printed one and belong to none.
_PROBE, _ELSEWHERE = "__probe", "__elsewhere"

_Forms: TypeAlias = Callable[[Node], Iterator[Printed]]


@dataclass(frozen=True, slots=True)
class _Target:
    """A stream that INSERT INTO may name.

    `latest` is the node whose statement has to come before the next INSERT; `before` and `behind` are what stands
    around that INSERT in the whole script, and `makes` the nodes of it.
    """

    stream: str
    first_sink: str
    latest: str | None
    before: str
    behind: str = ""
    makes: frozenset[str] = frozenset()

    def behind_insert(self, sink_id: str) -> _Target:
        """The same stream after one more INSERT INTO, which made a sink: the next one makes the next."""
        insert = f"INSERT INTO {print_name(self.stream)} {_everything_from(_ELSEWHERE)};"
        return replace(self, latest=sink_id, before=f"{self.before}\n{insert}", makes=self.makes | {sink_id})


class Printer:
    """The statements of one document without cycles."""

    def __init__(self, document: Document, catalogue: Catalogue) -> None:
        self._document = document
        self._catalogue = catalogue
        self._done: set[str] = set()
        # Sinks that need no declaration of their own, by their ids.
        self._targets: dict[str, _Target] = {}

    def statements(self) -> list[Printed]:
        """Sinks before views: they may take the nodes before them into their own statement."""
        forms: dict[str, _Forms] = {"source": self._source, "sink": self._sink, "": self._view}
        return [statement for kind, form in forms.items() for statement in self._of_kind(kind, form)]

    def _of_kind(self, kind: str, forms: _Forms) -> Iterator[Printed]:
        """Short ids first: `alerts` before `alerts_2`, and a view before the parts that are named after it."""
        for node in sorted(self._document.nodes, key=lambda node: (len(node.id), node.id)):
            if kind in ("", self._kind(node)) and node.id not in self._done:
                statement = next(forms(node), None) or self._call(node)
                self._done |= statement.nodes
                yield statement

    def _source(self, node: Node) -> Iterator[Printed]:
        if self._document.inputs_of(node.id):
            return
        sink = self._find(sink_beside(node.id))
        if sink is not None and self._kind(sink) == "sink":
            yield from self._source_and_sink(node, sink)
        lines = source_lines(node, self._catalogue)
        if lines is not None:
            yield Printed(node.id, frozenset({node.id}), _ended(lines))

    def _source_and_sink(self, node: Node, sink: Node) -> Iterator[Printed]:
        """One declaration for a stream that the pipeline both reads and writes."""
        lines = source_lines(node, self._catalogue, sink)
        if lines is None:
            return
        # The probe reads the stream, as the whole script does.
        probe = f"CREATE VIEW {_PROBE} AS {_everything_from(node.id)};"
        target = _Target(node.id, sink.id, node.id, _ended(lines), probe, frozenset({node.id}))
        if any(self._inserts_into(target, sink, "")):
            self._targets[sink.id] = target
            yield Printed(node.id, frozenset({node.id}), _ended(lines))

    def _sink(self, node: Node) -> Iterator[Printed]:
        if self._document.outputs_of(node.id):
            return
        yield from self._stream_as(node)
        yield from self._inserts(node)

    def _stream_as(self, sink: Node) -> Iterator[Printed]:
        """`CREATE STREAM s AS SELECT …` for the nodes s and into_s."""
        inputs = self._document.inputs_of(sink.id)
        last = self._find(inputs[0].source) if len(inputs) == 1 else None
        if last is None or sink.id != sink_beside(last.id) or self._kind(last) == "source":
            return
        options = option_items(last.id, sink.operator, sink.config)
        head = f"CREATE {printed_kind(sink.operator)} {print_name(last.id)}"
        lines = bracketed(f"{head} WITH", options, one_line=True) if options else [head]
        lines[-1] += " AS"
        for select, ids in self._selects(last):
            statement = Printed(last.id, frozenset({sink.id, *ids}), _ended([*lines, *select]))
            if self._means(statement):
                yield statement

    def _selects(self, last: Node) -> Iterator[tuple[list[str], set[str]]]:
        """Forms of the SELECT that ends in a node, with the ids that each takes in."""
        for chain in chains_of_view(self._document, last):
            yield select_lines(chain), chain.ids
        for lines in (union_lines(self._document, last), join_lines(self._document, last)):
            if lines is not None:
                yield lines, {last.id}
        yield self._call_lines(last), {last.id}

    def _shared_target(self, sink: Node) -> _Target | None:
        """Where a sink is the second one of a stream, alerts_2 behind alerts: that stream, declared already."""
        match = re.fullmatch(r"(?P<first>.+)_(?P<number>[2-9]|[1-9]\d+)", sink.id)
        if match is None:
            return None
        number = int(match["number"])
        earlier = match["first"] if number == 2 else f"{match['first']}_{number - 1}"
        target, before = self._targets.get(earlier), self._find(earlier)
        if target is None or before is None or target.first_sink != match["first"]:
            return None
        same = (before.operator, before.config) == (sink.operator, sink.config)
        return target.behind_insert(earlier) if same else None

    def _inserts(self, sink: Node) -> Iterator[Printed]:
        """`INSERT INTO … SELECT`, into a stream that is declared already or else right here."""
        shared = self._targets.get(sink.id) or self._shared_target(sink)
        if shared is not None:
            for statement in self._inserts_into(shared, sink, ""):
                self._targets[sink.id] = shared
                yield statement
        declared = sink_lines(sink.id, sink, self._catalogue)
        if declared is not None:
            target = _Target(sink.id, sink.id, None, _ended(declared))
            for statement in self._inserts_into(replace(target, before=""), sink, _ended(declared)):
                self._targets[sink.id] = target
                yield statement

    def _inserts_into(self, target: _Target, sink: Node, declaration: str) -> Iterator[Printed]:
        for chain in chains_into_sink(self._document, sink):
            insert = _ended([f"INSERT INTO {print_name(target.stream)}", *select_lines(chain)])
            text = f"{declaration}\n{insert}" if declaration else insert
            statement = Printed(sink.id, frozenset({sink.id, *chain.ids}), text, target.latest)
            if self._means(statement, target):
                yield statement

    def _view(self, node: Node) -> Iterator[Printed]:
        for lines, ids in self._selects(node):
            statement = Printed(node.id, frozenset(ids), _ended([f"CREATE VIEW {print_name(node.id)} AS", *lines]))
            if self._means(statement):
                yield statement

    def _call(self, node: Node) -> Printed:
        lines = [f"CREATE VIEW {print_name(node.id)} AS", *self._call_lines(node)]
        return Printed(node.id, frozenset({node.id}), _ended(lines))

    def _call_lines(self, node: Node) -> list[str]:
        arguments = [_input(edge) for edge in self._document.inputs_of(node.id)]
        arguments += [f"{print_label(name)} => {print_value(value)}" for name, value in sorted(node.config.items())]
        return ["SELECT *", *called(f"FROM {print_name(node.operator)}", arguments)]

    def _means(self, statement: Printed, target: _Target | None = None) -> bool:
        """Whether the text, read back where it stands, makes exactly these nodes and the edges into them."""
        around = target or _Target("", "", None, "")
        try:
            read = translate("\n".join((around.before, statement.text, around.behind)), self._catalogue)
        except HeadraceError:
            return False
        known = {*statement.nodes, _PROBE, *around.makes}
        same = _only(read, statement.nodes) == _only(self._document, statement.nodes)
        return same and {node.id for node in read.nodes} <= known

    def _find(self, node_id: str) -> Node | None:
        return next((node for node in self._document.nodes if node.id == node_id), None)

    def _kind(self, node: Node) -> str:
        return self._catalogue.get(node.operator).spec.kind if node.operator in self._catalogue else ""


def _only(document: Document, ids: frozenset[str]) -> tuple[list[Node], list[Edge]]:
    """The nodes of these ids and the edges into them."""
    nodes = [node for node in document.nodes if node.id in ids]
    return nodes, [edge for edge in document.edges if edge.target in ids]


def _input(edge: Edge) -> str:
    table = f"TABLE {reference(edge)}"
    return table if edge.target_port == "in" else f"{print_label(edge.target_port)} => {table}"


def _everything_from(name: str) -> str:
    return " ".join(("SELECT * FROM", print_name(name)))


def _ended(lines: Iterable[str]) -> str:
    return "\n".join(lines) + ";"
