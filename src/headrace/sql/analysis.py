"""Checks a pipeline while it is put together, and tells every fault with its place in the SQL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from headrace.errors import InvalidGraph, InvalidInput, InvalidSyntax, Problem
from headrace.graph.document import Document, Json, Node
from headrace.graph.schema import UNKNOWN, Schema, is_numeric
from headrace.graph.structure import structure_problems
from headrace.operators.catalogue import Catalogue
from headrace.operators.expressions import unknown_column
from headrace.sql.connectors import setting_name
from headrace.sql.language.script import Script, Span
from headrace.sql.language.statement_tree import ColumnDefinition
from headrace.sql.language.tree import Name, Option
from headrace.sql.steps import Piece

_NO_END = "add INSERT INTO … SELECT or CREATE STREAM … AS SELECT"
_SETTING = re.compile(r"setting '(?P<name>\w+)")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a node comes from: the part of the script that names it, its texts, and its settings."""

    span: Span
    pieces: tuple[Piece, ...] = ()
    settings: Mapping[str, Span] = field(default_factory=dict)

    @classmethod
    def of_options(cls, span: Span, options: Iterable[Option], pieces: Iterable[Piece] = ()) -> Origin:
        """With the places of settings and of the texts in them."""
        settings = {setting_name(option.name.text): option.span for option in options}
        texts = [Piece(text, option.span) for option in options for text in _texts(option.value)]
        return cls(span, (*pieces, *texts), settings)


class Analysis:
    """Follows the columns from node to node. Called once per node, sources first."""

    def __init__(self, script: Script, catalogue: Catalogue) -> None:
        self._script = script
        self._catalogue = catalogue
        self._schemas: dict[str, Schema] = {}
        self._origins: dict[str, Origin] = {}

    def check(self, node: Node, inputs: Iterable[tuple[str, str]], origin: Origin) -> None:
        """Raises InvalidSyntax where settings, columns or types do not fit. `inputs` is (port, node id)."""
        self._origins[node.id] = origin
        wires = list(inputs)
        schemas = {port: self._schemas[source] for port, source in wires if source in self._schemas}
        try:
            operator = self._catalogue.get(node.operator)
            config = operator.configure(node.config)
            required = {port.name for port in operator.spec.inputs if port.required}
            if required <= schemas.keys() and len(schemas) == len(wires):
                self._schemas[node.id] = operator.output_schema(config, schemas)
        except InvalidGraph as error:
            raise self._misconfigured(error.problems, origin) from error
        except InvalidInput as error:
            raise self._misfit(error, origin) from error

    def origin(self, node_id: str) -> Origin:
        """Where a node that was checked comes from."""
        return self._origins[node_id]

    def knows(self, operator: str) -> bool:
        return operator in self._catalogue

    def is_unordered(self, operator: str) -> bool:
        """Whether the rows that an operator puts out together come in any order: Spark brings them together by key."""
        spec = self._catalogue.get(operator).spec
        return spec.kind == "relational" and spec.stateful

    def schema(self, node_id: str) -> Schema | None:
        """The columns of a node's rows, if they are known."""
        return self._schemas.get(node_id)

    def check_columns(self, node_id: str, columns: Iterable[tuple[str, Span]]) -> None:
        """Raises InvalidSyntax for the first column that a node's rows do not have."""
        schema = self._schemas.get(node_id)
        for name, span in columns:
            if schema is not None and schema.find(name) is None:
                has_part = self._script.text.startswith(".", span.end)
                message, hint = unknown_column(name, schema, has_part=has_part)
                raise self._script.error(message, span, valid=schema.names, hint=hint)

    def event_time_of(self, node_id: str, span: Span) -> Name:
        """The event-time column of a node's rows. Raises InvalidSyntax if they have none."""
        schema = self._schemas.get(node_id)
        if schema is None or schema.event_time is None:
            hint = "declare it where the stream is created: WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
            raise self._script.error(
                f"the window has no time: the rows of {node_id} have no event time", span, hint=hint
            )
        return Name(schema.event_time, span)

    def check_target(
        self, source: str, columns: tuple[ColumnDefinition, ...], span: Span, beside: tuple[str, ...] = ()
    ) -> None:
        """Raises InvalidSyntax unless the rows have exactly the columns that the target was declared with, and those
        `beside` them."""
        schema = self._schemas.get(source)
        if schema is None or not columns:
            return
        schema = Schema(tuple(column for column in schema if column.name not in beside))
        wanted = {column.name.text.lower(): column for column in columns}
        extra = [name for name in schema.names if name.lower() not in wanted]
        missing = [column.name.text for name, column in wanted.items() if name not in map(str.lower, schema.names)]
        if extra or missing:
            message = "; ".join(_complaints(extra, missing))
            raise self._script.error(message, span, valid=tuple(column.name.text for column in columns))
        for column in schema:
            declared = wanted[column.name.lower()].type or UNKNOWN
            if not _fits(column.type, declared):
                message = f"the column {column.name!r} is {column.type}, and the target wants {declared}"
                raise self._script.error(message, span)

    def check_whole(self, document: Document) -> None:
        """Raises InvalidSyntax for the first fault that only the whole graph shows, such as a view nobody reads."""
        if not document.nodes:
            raise self._script.error("there is nothing to run", Span(0, 1), hint=_NO_END)
        for problem in structure_problems(document, self._catalogue):
            origin = self._origins.get(problem.node or "", Origin(Span(0, 1)))
            message = f"nobody reads {problem.node!r}" if _is_unread(problem) else problem.message
            raise self._script.error(message, origin.span, hint=_hint(problem))

    def _misconfigured(self, problems: tuple[Problem, ...], origin: Origin) -> InvalidSyntax:
        """The first problem that stands in the script, else the first."""
        for problem in problems:
            setting = _SETTING.search(problem.message)
            if setting and setting["name"] in origin.settings:
                return self._script.error(problem.message, origin.settings[setting["name"]], hint=problem.hint)
        return self._script.error(problems[0].message, origin.span, hint=problems[0].hint)

    def _misfit(self, error: InvalidInput, origin: Origin) -> InvalidSyntax:
        return self._script.error(error.message, self._locate(error, origin), valid=error.valid, hint=error.hint)

    def _locate(self, error: InvalidInput, origin: Origin) -> Span:
        """The spot in the script that an error within a text of the config means."""
        for piece in origin.pieces:
            if error.place is not None and piece.text == error.place.text:
                return self._shifted(piece, error)
        quoted = re.search(r"'([^']+)'", error.message)
        for piece in origin.pieces:
            if quoted and piece.text == quoted[1]:
                return piece.span
        return origin.span

    def _shifted(self, piece: Piece, error: InvalidInput) -> Span:
        if error.place is None or self._script.slice(piece.span) != piece.text:
            return piece.span
        lines_before = piece.text.splitlines(keepends=True)[: error.place.line - 1]
        start = piece.span.start + sum(map(len, lines_before)) + error.place.column - 1
        return Span(start, min(piece.span.end, start + error.place.length))


def _texts(value: Json) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [text for text in values if isinstance(text, str)]


def _complaints(extra: list[str], missing: list[str]) -> Iterable[str]:
    if extra:
        yield f"the target has no column {', '.join(map(repr, extra))}"
    if missing:
        yield f"the SELECT gives no column {', '.join(map(repr, missing))}"


def _fits(given: str, wanted: str) -> bool:
    return given == wanted or UNKNOWN in (given, wanted) or (is_numeric(given) and is_numeric(wanted))


def _is_unread(problem: Problem) -> bool:
    return problem.code == "unconnected_port" and "output port" in problem.message


def _hint(problem: Problem) -> str | None:
    if _is_unread(problem):
        return "read it in an INSERT INTO … SELECT, or remove it"
    if problem.code == "no_sink":
        return _NO_END
    return problem.hint
