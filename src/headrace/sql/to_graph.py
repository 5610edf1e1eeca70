"""SQL → document. The ids of nodes come from the names of statements, so that they stay when others change:

CREATE STREAM t (…)             source t, where it is read; CREATE TRIGGER likewise
CREATE VIEW v AS SELECT …       v_filter, v_window, v_having, and v, the last of them
CREATE STREAM s AS SELECT …     the same, and the sink into_s; CREATE TABLE likewise
INSERT INTO t SELECT …          t_filter, t_window, t_having, t_select and the sink t
                                (into_t and into_t_… where the script reads t as well; t_2 for the second INSERT)
UPDATE t …, DELETE FROM t …     t_join, t_select and the sink into_t; t_select and the sink t
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from headrace.errors import InvalidSyntax
from headrace.graph.document import Document, Json
from headrace.operators.catalogue import Catalogue
from headrace.operators.table_keys import key_setting
from headrace.sql.analysis import Analysis
from headrace.sql.assembly import Assembly, Output
from headrace.sql.declarations import Declaration, trigger_stream
from headrace.sql.headers import COLUMN as HEADERS
from headrace.sql.headers import with_headers
from headrace.sql.language import read_annotations, read_statements
from headrace.sql.language.dialect import plain_name
from headrace.sql.language.script import Script
from headrace.sql.language.statement_tree import (
    Create,
    CreateAs,
    CreateFunction,
    CreateTrigger,
    CreateView,
    Delete,
    Insert,
    Statement,
    Update,
    Upsert,
)
from headrace.sql.language.tree import Item, Join, Name, Query, Reference
from headrace.sql.language.variables import expand
from headrace.sql.named_functions import read_with_functions
from headrace.sql.partitions import unfold
from headrace.sql.queries import Queries
from headrace.sql.refusals import refuse_events, refuse_statement
from headrace.sql.sink_names import free_name, sink_beside
from headrace.sql.streams import Streams
from headrace.sql.table_changes import read_match, require_filled

DEFAULT_NAME = "pipeline"


def parse(
    sql: str,
    name: str | None = None,
    *,
    catalogue: Catalogue | None = None,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> Document:
    """The pipeline that a script means, checked as a whole. `variables` are the values of `${NAME}` in it.

    The name is the argument, else that of a comment `-- @name …`, else "pipeline".
    Raises InvalidSyntax with the place, the cause and the valid words for the first fault.
    """
    known = catalogue or Catalogue()
    try:
        script, statements = read_script(sql, variables)
        analysis = Analysis(script, known)
        document = _Translation(script, statements, known, analysis).document(name or _name(expand(sql, variables)))
        analysis.check_whole(document)
    except RecursionError as error:
        raise InvalidSyntax("the SQL is nested too deeply") from error
    return document


def read_script(sql: str, variables: Mapping[str, str]) -> tuple[Script, tuple[Statement, ...]]:
    """The statements of a script as they are translated: variables replaced, functions by their places, no PARTITION.

    Raises InvalidSyntax.
    """
    script, written = read_with_functions(expand(sql, variables))
    return script, unfold(script, written)


def translated(script: Script, statements: tuple[Statement, ...], catalogue: Catalogue, name: str) -> Document:
    """The nodes and edges that statements make, each of them checked; that all of it is of use is not. Raises
    InvalidSyntax."""
    return _Translation(script, statements, catalogue, Analysis(script, catalogue)).document(name)


def translate(sql: str, catalogue: Catalogue) -> Document:
    """The nodes and edges that statements make, unchecked: streams that nothing declares count as nodes elsewhere."""
    script, written = read_statements(sql)
    return _Translation(script, unfold(script, written), catalogue, None).document(DEFAULT_NAME)


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
        self._streams = Streams(script, statements, catalogue, self._assembly)
        self._queries = Queries(script, self._streams, self._assembly, analysis)

    def document(self, name: str) -> Document:
        for statement in self._statements:
            self._add(statement)
        self._streams.check_unused()
        return self._assembly.document(name)

    def _add(self, statement: Statement) -> None:
        match statement:
            case CreateFunction():
                pass  # its calls name its place already
            case Create():
                self._streams.declare(statement)
            case CreateTrigger():
                self._streams.declare(trigger_stream(statement))
            case CreateView():
                self._streams.require_free(statement.name)
                self._streams.define(statement.name, self._queries.view(statement.name, statement.query))
            case CreateAs():
                self._create_as(statement)
            case Insert():
                self._insert(statement)
            case Upsert():
                self._upsert(statement)
            case Update(source=Reference() as source):
                self._update(statement, source)
            case Delete(source=Reference() as source):
                self._delete(statement, source)
            case _:
                raise refuse_statement(self._script, statement)

    def _create_as(self, statement: CreateAs) -> None:
        self._streams.require_free(statement.name)
        query = with_headers(self._script, statement.query)
        output = self._queries.view(statement.name, query)
        self._streams.define(statement.name, output)
        stream = Create(statement.is_table, statement.name, (), None, statement.options, statement.span)
        declaration = Declaration(self._script, stream, self._catalogue)
        self._sink(sink_beside(statement.name.text), declaration, output, query, read=False)

    def _insert(self, statement: Insert) -> None:
        refuse_events(self._script, statement)
        declaration = self._streams.target(statement.target)
        name = declaration.statement.name.text
        is_read = self._streams.is_read(name)
        sink_id = free_name(sink_beside(name) if is_read else name, self._assembly.__contains__)
        query = with_headers(self._script, statement.query)
        output = self._queries.chain(query, sink_id, statement.target)
        if self._analysis is not None:
            beside = (HEADERS,) if query.first.headers else ()
            self._analysis.check_target(output.node, declaration.statement.columns, statement.target.span, beside)
        self._sink(sink_id, declaration, output, query, read=is_read)

    def _upsert(self, statement: Upsert) -> None:
        """An INSERT into a table takes the place of the row with its key anyway."""
        declaration = self._table(statement.target)
        source = statement.query.first.source
        if statement.condition is not None and isinstance(source, Reference):
            matches = read_match(self._script, statement.condition, declaration, (source.alias or source.name).text)
            require_filled(self._script, statement.query.first.items, matches)
        self._insert(Insert(statement.target, None, statement.query, statement.span))

    def _update(self, statement: Update, source: Reference) -> None:
        declaration = self._table(statement.target)
        name = declaration.statement.name.text
        read_match(self._script, statement.condition, declaration, (source.alias or source.name).text)
        sink_id = free_name(sink_beside(name), self._assembly.__contains__)
        join = Join(
            "inner", False, source, Reference(statement.target), statement.condition, (), None, None, statement.span
        )
        columns = [column.name.text for column in declaration.statement.columns]
        output = self._queries.updated(join, statement, columns, sink_id)
        self._changing_sink(sink_id, declaration, output, {}, read=True)

    def _delete(self, statement: Delete, source: Reference) -> None:
        declaration = self._table(statement.target)
        name = declaration.statement.name.text
        matches = read_match(self._script, statement.condition, declaration, (source.alias or source.name).text)
        is_read = self._streams.is_read(name)
        sink_id = free_name(sink_beside(name) if is_read else name, self._assembly.__contains__)
        output = self._queries.renamed(source, matches, sink_id, statement.target)
        self._changing_sink(sink_id, declaration, output, {"mode": "delete"}, read=is_read)

    def _table(self, target: Name) -> Declaration:
        declaration = self._streams.target(target)
        if not declaration.statement.is_table:
            hint = f"declare it with CREATE TABLE {target.text} (… PRIMARY KEY, …)"
            raise self._script.error(f"{target.text} is a stream: only rows of a table change", target.span, hint=hint)
        return declaration

    def _changing_sink(
        self, node_id: str, declaration: Declaration, output: Output, settings: dict[str, Json], *, read: bool
    ) -> None:
        operator, config = declaration.sink(read=read)
        config = {**config, **declaration.required_key(config), **settings}
        self._assembly.add(node_id, operator, config, [("in", output)], declaration.origin)

    def _sink(self, node_id: str, declaration: Declaration, output: Output, query: Query, *, read: bool) -> None:
        operator, config = declaration.sink(read=read)
        keys = self._keys(query, is_table=declaration.statement.is_table)
        if keys:
            config = self._with_key(declaration, config, keys)
        if declaration.statement.is_table:
            config |= declaration.required_key(config)
        if query.first.headers:
            config = self._with_headers(declaration, config, query.first.headers[0])
        self._assembly.add(node_id, operator, config, [("in", output)], declaration.origin)

    def _with_headers(self, declaration: Declaration, config: dict[str, Json], item: Item) -> dict[str, Json]:
        if not declaration.takes(HEADERS):
            raise self._script.error("only the records of a topic that is a stream have headers", item.span)
        if HEADERS in config:
            raise self._script.error("the headers stand here and in the options", item.span)
        return {**config, HEADERS: HEADERS}

    def _keys(self, query: Query, *, is_table: bool) -> list[Name]:
        """What `SELECT x PRIMARY KEY` says; of a UNION the first SELECT tells."""
        keys = [item for item in query.first.items if item.is_key]
        if len(keys) > 1 and not is_table:
            hint = "make one column of both with concat"
            raise self._script.error("a stream has one key", keys[1].span, hint=hint)
        return [self._key_name(item) for item in keys]

    def _key_name(self, item: Item) -> Name:
        name = item.alias or plain_name(item.expression)
        if name is None:
            hint = f"write {item.text} AS name PRIMARY KEY"
            raise self._script.error("the key needs a name", item.span, hint=hint)
        return name

    def _with_key(self, declaration: Declaration, config: dict[str, Json], keys: list[Name]) -> dict[str, Json]:
        if not declaration.takes("key"):
            raise self._script.error("only the rows of a topic have a key", keys[0].span)
        if "key" in config:
            raise self._script.error("the key stands here and in the options", keys[0].span)
        return {**config, "key": key_setting([key.text for key in keys])}
