"""Document → SQL. For every valid document, `parse(print_sql(document)) == document`.

Each statement is printed in the most readable form there is, read back, and kept if it means exactly the same nodes
and edges; else the next form is tried. The last one, a call of the operator by its name, can say everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter

from headrace.errors import HeadraceError, InvalidGraph
from headrace.graph.document import Document, Edge, Node
from headrace.graph.structure import cycles, structure_problems, topological_order
from headrace.operators.catalogue import Catalogue
from headrace.sql.annotations import print_annotation
from headrace.sql.fold import chains_into_sink, chains_of_view, select_lines
from headrace.sql.layout import bracketed, reference
from headrace.sql.printed_streams import option_items, sink_lines, source_lines
from headrace.sql.to_graph import translate
from headrace.sql.values import print_name, print_value

_PROBE = "__probe"


@dataclass(frozen=True, slots=True)
class _Statement:
    """Printed text, the node whose name it defines, and all nodes that it stands for."""

    name: str
    nodes: frozenset[str]
    text: str


def print_sql(document: Document, *, catalogue: Catalogue | None = None) -> str:
    """A script that `parse` reads back. Raises InvalidGraph for a document with a cycle, which SQL cannot say."""
    known = catalogue or Catalogue()
    if any(cycles(document)):
        raise InvalidGraph(problem for problem in structure_problems(document, known) if problem.code == "cycle")
    statements = list(_Printer(document, known).statements())
    texts = [statement.text for statement in _in_reading_order(statements, document)]
    return "\n\n".join([print_annotation("name", document.name), *texts]) + "\n"


class _Printer:
    def __init__(self, document: Document, catalogue: Catalogue) -> None:
        self._document = document
        self._catalogue = catalogue
        self._done: set[str] = set()
        # Sinks that share the declaration of a source.
        self._shared: dict[str, _Statement] = {}

    def statements(self) -> Iterator[_Statement]:
        """Sinks first: they may take the nodes before them into their own statement. Then views, the latest first."""
        ordered = [self._document.node(node_id) for node_id in reversed(topological_order(self._document))]
        for kind in ("source", "sink", ""):
            for node in ordered:
                if node.id not in self._done and kind in ("", self._kind(node)):
                    statement = self._statement(node, kind)
                    self._done |= statement.nodes
                    yield statement

    def _statement(self, node: Node, kind: str) -> _Statement:
        forms = {"source": self._source, "sink": self._sink}.get(kind, self._view)
        return next(forms(node), None) or self._call(node)

    def _source(self, node: Node) -> Iterator[_Statement]:
        sink = self._find(f"into_{node.id}")
        if sink is not None and self._kind(sink) == "sink":
            yield from self._source_and_sink(node, sink)
        lines = source_lines(node, self._catalogue)
        if lines is not None:
            yield _Statement(node.id, frozenset({node.id}), _ended(lines))

    def _source_and_sink(self, node: Node, sink: Node) -> Iterator[_Statement]:
        """One declaration for a stream that the pipeline both reads and writes."""
        lines = source_lines(node, self._catalogue, sink)
        if lines is None:
            return
        self._shared[sink.id] = _Statement(node.id, frozenset({node.id}), _ended(lines))
        if next(self._inserts(sink), None) is None:
            del self._shared[sink.id]
        else:
            yield self._shared[sink.id]

    def _sink(self, node: Node) -> Iterator[_Statement]:
        yield from self._stream_as(node)
        yield from self._inserts(node)

    def _inserts(self, node: Node) -> Iterator[_Statement]:
        """`INSERT INTO … SELECT`, after the declaration of its target unless a source has that already."""
        shared = self._shared.get(node.id)
        declared = [] if shared else sink_lines(node.id, node, self._catalogue)
        if declared is None:
            return
        for chain in chains_into_sink(self._document, node):
            insert = [f"INSERT INTO {print_name(shared.name if shared else node.id)}", *select_lines(chain)]
            text = "\n".join(_ended(lines) for lines in (declared, insert) if lines)
            statement = _Statement(node.id, frozenset({node.id, *chain.ids}), text)
            if self._means(statement, shared):
                yield statement

    def _stream_as(self, sink: Node) -> Iterator[_Statement]:
        """`CREATE STREAM s AS SELECT …` for the nodes s and into_s."""
        inputs = self._document.inputs_of(sink.id)
        last = self._find(inputs[0].source) if len(inputs) == 1 else None
        if last is None or sink.id != f"into_{last.id}" or self._kind(last) == "source":
            return
        options = option_items(last.id, sink.operator, sink.config)
        head = f"CREATE STREAM {print_name(last.id)}"
        lines = bracketed(f"{head} WITH", options, one_line=True) if options else [head]
        lines[-1] += " AS"
        for select, ids in self._selects(last):
            statement = _Statement(last.id, frozenset({sink.id, *ids}), _ended([*lines, *select]))
            if self._means(statement):
                yield statement

    def _view(self, node: Node) -> Iterator[_Statement]:
        for chain in chains_of_view(self._document, node):
            lines = [f"CREATE VIEW {print_name(node.id)} AS", *select_lines(chain)]
            statement = _Statement(node.id, frozenset(chain.ids), _ended(lines))
            if self._means(statement):
                yield statement

    def _selects(self, last: Node) -> Iterator[tuple[list[str], set[str]]]:
        for chain in chains_of_view(self._document, last):
            yield select_lines(chain), chain.ids
        yield self._call_lines(last), {last.id}

    def _call(self, node: Node) -> _Statement:
        lines = [f"CREATE VIEW {print_name(node.id)} AS", *self._call_lines(node)]
        return _Statement(node.id, frozenset({node.id}), _ended(lines))

    def _call_lines(self, node: Node) -> list[str]:
        arguments = [_input(edge) for edge in self._document.inputs_of(node.id)]
        arguments += [f"{print_name(name)} => {print_value(value)}" for name, value in sorted(node.config.items())]
        return bracketed(" ".join(("SELECT * FROM", print_name(node.operator))), arguments, one_line=True)

    def _means(self, statement: _Statement, declared: _Statement | None = None) -> bool:
        """Whether the text, read back, makes exactly these nodes and the edges into them.

        `declared` is a source that the text leans on; a probe reads it, because the whole script does.
        """
        text, more = statement.text, set[str]()
        if declared is not None:
            probe = f"CREATE VIEW {_PROBE} AS {' '.join(('SELECT * FROM', print_name(declared.name)))};"
            text, more = "\n".join((declared.text, statement.text, probe)), {declared.name, _PROBE}
        try:
            read = translate(text, self._catalogue)
        except HeadraceError:
            return False
        return _only(read, statement.nodes) == _only(self._document, statement.nodes) and (
            {node.id for node in read.nodes} <= statement.nodes | more
        )

    def _find(self, node_id: str) -> Node | None:
        return next((node for node in self._document.nodes if node.id == node_id), None)

    def _kind(self, node: Node) -> str:
        return self._catalogue.get(node.operator).spec.kind if node.operator in self._catalogue else ""


def _in_reading_order(statements: list[_Statement], document: Document) -> list[_Statement]:
    """Sources first; then, for one end of the pipeline after the other, what it reads and itself."""
    owner = {node_id: statement for statement in statements for node_id in statement.nodes}
    needs = {
        s: {owner[edge.source] for edge in _only(document, s.nodes)[1] if edge.source in owner} - {s}
        for s in statements
    }
    level: dict[_Statement, int] = {}
    for statement in TopologicalSorter(needs).static_order():
        level[statement] = 1 + max((level[needed] for needed in needs[statement]), default=-1)
    read = set().union(*needs.values())
    ordered = sorted((s for s in statements if not needs[s]), key=lambda s: s.name)
    for end in sorted((s for s in statements if s not in read), key=lambda s: s.name):
        missing = _all_needed(end, needs) - set(ordered)
        ordered += sorted(missing, key=lambda s: (level[s], s.name))
    return ordered


def _all_needed(end: _Statement, needs: Mapping[_Statement, set[_Statement]]) -> set[_Statement]:
    """A statement and everything that it reads, directly or not."""
    found, waiting = {end}, [end]
    while waiting:
        new = needs[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def _only(document: Document, ids: frozenset[str]) -> tuple[list[Node], list[Edge]]:
    """The nodes of these ids and the edges into them."""
    nodes = [node for node in document.nodes if node.id in ids]
    return nodes, [edge for edge in document.edges if edge.target in ids]


def _input(edge: Edge) -> str:
    table = f"TABLE {reference(edge)}"
    return table if edge.target_port == "in" else f"{print_name(edge.target_port)} => {table}"


def _ended(lines: Iterable[str]) -> str:
    return "\n".join(lines) + ";"
