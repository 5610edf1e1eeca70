"""SQL → document. The ids of nodes come from the names of statements, so that they stay when others change:

CREATE STREAM t (…)             source t, where it is read
CREATE VIEW v AS SELECT …       v_filter, v_window, v_having, and v, the last of them
CREATE STREAM s AS SELECT …     the same, and the sink into_s
INSERT INTO t SELECT …          t_filter, t_window, t_having, t_select and the sink t
                                (into_t and into_t_… where the script reads t as well; t_2 for the second INSERT)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from headrace.errors import InvalidSyntax, did_you_mean
from headrace.graph.document import Document, Json
from headrace.operators.catalogue import Catalogue
from headrace.sql.analysis import Analysis, Origin
from headrace.sql.annotations import read_annotations
from headrace.sql.assembly import Assembly, Output
from headrace.sql.declarations import Declaration
from headrace.sql.dialect import columns_in
from headrace.sql.parser import read_statements
from headrace.sql.script import Script, Span
from headrace.sql.steps import Step, node_ids, plain_steps, qualifiers_of
from headrace.sql.tree import (
    CreateStream,
    CreateStreamAs,
    CreateView,
    Insert,
    Name,
    OperatorCall,
    Reference,
    Select,
    Statement,
)
from headrace.sql.window_steps import is_bound, window_steps

DEFAULT_NAME = "pipeline"


def parse(sql: str, name: str | None = None, *, catalogue: Catalogue | None = None) -> Document:
    """The pipeline that a script means, checked as a whole.

    The name is the argument, else that of a comment `-- @name …`, else "pipeline".
    Raises InvalidSyntax with the place, the cause and the valid words for the first fault.
    """
    known = catalogue or Catalogue()
    try:
        script, statements = read_statements(sql)
        analysis = Analysis(script, known)
        document = _Translation(script, statements, known, analysis).document(name or _name(sql))
        analysis.check_whole(document)
    except RecursionError as error:
        raise InvalidSyntax("the SQL is nested too deeply") from error
    return document


def translate(sql: str, catalogue: Catalogue) -> Document:
    """The nodes and edges that statements make, unchecked: streams that nothing declares count as nodes elsewhere."""
    script, statements = read_statements(sql)
    return _Translation(script, statements, catalogue, None).document(DEFAULT_NAME)


def _name(sql: str) -> str:
    return read_annotations(sql).get("name", DEFAULT_NAME)


class _Translation:
    def __init__(
        self, script: Script, statements: tuple[Statement, ...], catalogue: Catalogue, analysis: Analysis | None
    ) -> None:
        self._script = script
        self._statements = statements
        self._catalogue = catalogue
        self._analysis = analysis
        self._assembly = Assembly(script, analysis)
        self._declared: dict[str, Declaration] = {}
        self._views: dict[str, Output] = {}

    def document(self, name: str) -> Document:
        for statement in self._statements:
            match statement:
                case CreateStream():
                    self._define(statement.name)
                    self._declared[statement.name.text] = Declaration(self._script, statement, self._catalogue)
                case CreateView():
                    self._define(statement.name)
                    self._views[statement.name.text] = self._named(statement.name, statement.select)
                case CreateStreamAs():
                    self._create_stream_as(statement)
                case Insert():
                    self._insert(statement)
        for declared, declaration in self._declared.items():
            if not self._is_written(declared) and declared not in self._assembly:
                declaration.check_unused()
        return self._assembly.document(name)

    def _define(self, name: Name) -> None:
        if name.text in self._declared or name.text in self._views:
            raise self._script.error(f"{name.text!r} is defined twice", name.span)

    def _create_stream_as(self, statement: CreateStreamAs) -> None:
        self._define(statement.name)
        output = self._named(statement.name, statement.select)
        self._views[statement.name.text] = output
        stream = CreateStream(statement.name, (), None, statement.options, statement.span)
        declaration = Declaration(self._script, stream, self._catalogue)
        self._sink(f"into_{statement.name.text}", declaration, output, read=False)

    def _insert(self, statement: Insert) -> None:
        declaration = self._target(statement.target)
        name = declaration.statement.name.text
        sink_id = self._free(f"into_{name}" if self._is_read(name) else name)
        output = self._chain(statement.select, sink_id, statement.target, last_takes_base=False)
        if self._analysis is not None:
            self._analysis.check_target(output.node, declaration.statement.columns, statement.target.span)
        self._sink(sink_id, declaration, output, read=self._is_read(name))

    def _sink(self, node_id: str, declaration: Declaration, output: Output, *, read: bool) -> None:
        operator, config = declaration.sink(read=read)
        self._assembly.add(node_id, operator, config, [("in", output)], declaration.origin)

    def _is_read(self, name: str) -> bool:
        """Whether any statement reads the stream, also one further down."""
        return self._is_among(name, {read.text for statement in self._statements for read in _names_read(statement)})

    def _is_written(self, name: str) -> bool:
        return self._is_among(name, {s.target.text for s in self._statements if isinstance(s, Insert)})

    def _is_among(self, name: str, names: set[str]) -> bool:
        """Whether names mean this one: exactly, or in another case if nothing has exactly that name."""
        defined = {statement.name.text for statement in self._statements if not isinstance(statement, Insert)}
        return name in names or name.lower() in {other.lower() for other in names - defined}

    def _free(self, node_id: str) -> str:
        """The id of one more sink of the same stream: `alerts`, `alerts_2`, …"""
        number, free = 1, node_id
        while free in self._assembly:
            number += 1
            free = f"{node_id}_{number}"
        return free

    def _named(self, name: Name, select: Select) -> Output:
        return self._chain(select, name.text, name, last_takes_base=True)

    def _chain(self, select: Select, base: str, name: Name, *, last_takes_base: bool) -> Output:
        """The nodes of a SELECT. A view has at least one, its own."""
        if isinstance(select.source, OperatorCall):
            return self._call(select, select.source, base, last_takes_base=last_takes_base)
        output = self._output(select.source)
        steps = self._steps(select, output)
        if last_takes_base and not steps:
            steps = [Step("select", "select", {"columns": ["*"]}, ())]
        for step, node_id in zip(steps, node_ids(base, steps, last_takes_base=last_takes_base), strict=True):
            origin = Origin(name.span, step.pieces)
            output = self._assembly.add(node_id, step.operator, step.config, [("in", output)], origin)
        return output

    def _steps(self, select: Select, output: Output) -> list[Step]:
        window = select.window
        if window is None:
            return plain_steps(self._script, select)
        if self._analysis is not None:
            self._analysis.check_columns(output.node, _key_columns(select))
            time = window.time or self._analysis.event_time_of(output.node, window.span)
            window = replace(window, time=time)
        return window_steps(self._script, select, window)

    def _call(self, select: Select, call: OperatorCall, base: str, *, last_takes_base: bool) -> Output:
        """`SELECT * FROM operator(…)`: one node."""
        clauses = (select.condition, select.window, select.having, select.emit, *select.keys)
        if [item.text for item in select.items] != ["*"] or any(clause is not None for clause in clauses):
            hint = "write a CREATE VIEW for it and read the view"
            raise self._script.error("an operator call stands alone: SELECT * FROM operator(…)", call.span, hint=hint)
        node_id = base if last_takes_base else f"{base}_{call.operator.text.replace('-', '_')}"
        inputs = [(port, self._output(reference)) for port, reference in call.inputs]
        config: dict[str, Json] = {setting.name.text: setting.value for setting in call.settings}
        origin = Origin.of_options(call.operator.span, call.settings)
        return self._assembly.add(node_id, call.operator.text, config, inputs, origin)

    def _output(self, reference: Reference) -> Output:
        """The node that a name means. A declared stream becomes a source when it is first read."""
        name = self._resolve(reference.name)
        if name is None:
            if self._analysis is not None:
                raise self._unknown(reference.name)
            return Output(reference.name.text, reference.port)
        if name in self._views:
            return Output(self._views[name].node, reference.port)
        if name not in self._assembly:
            declaration = self._declared[name]
            operator, config = declaration.source(written=self._is_written(name))
            self._assembly.add(name, operator, config, [], declaration.origin)
        return Output(name, reference.port)

    def _target(self, target: Name) -> Declaration:
        name = self._resolve(target)
        if name in self._views:
            hint = "declare it with CREATE STREAM and without AS, and write two INSERT INTO"
            raise self._script.error(f"{name} has its rows from its own SELECT", target.span, hint=hint)
        if name is None:
            raise self._unknown(target, f"declare it first: CREATE STREAM {target.text} WITH (topic = '{target.text}')")
        return self._declared[name]

    def _resolve(self, name: Name) -> str | None:
        """By exact name, else by the only one that differs in case."""
        known = [*self._declared, *self._views]
        if name.text in known:
            return name.text
        folded = [other for other in known if other.lower() == name.text.lower()]
        return folded[0] if len(folded) == 1 else None

    def _unknown(self, name: Name, otherwise: str | None = None) -> InvalidSyntax:
        known = (*self._declared, *self._views)
        later = [s.name for s in self._statements if not isinstance(s, Insert) and s.name.text == name.text]
        hint = did_you_mean(name.text, known) or otherwise
        if later:
            hint = f"it is defined further down, in line {self._script.place(later[0].span).line}: move it up"
        return self._script.error(f"unknown stream {name.text!r}", name.span, valid=known, hint=hint)


def _key_columns(select: Select) -> list[tuple[str, Span]]:
    """The columns that GROUP BY names, without the window's own."""
    qualifiers = qualifiers_of(select)
    return [pair for key in select.keys if not is_bound(key) for pair in columns_in(key.tree, qualifiers)]


def _names_read(statement: Statement) -> Iterator[Name]:
    if isinstance(statement, CreateStream):
        return
    source = statement.select.source
    if isinstance(source, Reference):
        yield source.name
    else:
        yield from (reference.name for _, reference in source.inputs)
