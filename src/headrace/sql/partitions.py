"""PARTITION WITH (key OF stream) BEGIN … END: its statements, with the key in all that they keep between rows: windows,
groups, OVER, ROW_NUMBER() and OUTPUT."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from headrace.sql.language.dialect import plain_name
from headrace.sql.language.script import Script, Span
from headrace.sql.language.statement_tree import CreateAs, CreateView, Insert, Partition, Statement
from headrace.sql.language.tree import Derived, Expression, Over, Query, Reference, Relation, Select, Union, Windowed
from headrace.sql.over_calls import is_over
from headrace.sql.window_steps import is_grouped


def unfold(script: Script, statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """The statements without PARTITION. Raises InvalidSyntax where the key of what is kept is not known."""
    return tuple(one for statement in statements for one in _unfolded(script, statement))


def _unfolded(script: Script, statement: Statement) -> Iterator[Statement]:
    if not isinstance(statement, Partition):
        yield statement
        return
    block = _Block(script, {key.stream.text.lower(): key.expression for key in statement.keys})
    for inner in statement.statements:
        if isinstance(inner, Insert | CreateAs | CreateView):
            yield replace(inner, query=block.query(inner.query))
        else:
            yield inner


class _Block:
    """`keys` by the stream, in lower case."""

    def __init__(self, script: Script, keys: Mapping[str, Expression]) -> None:
        self._script = script
        self._keys = keys

    def query(self, query: Query) -> Query:
        tables = tuple(replace(table, query=self.query(table.query)) for table in query.tables)
        unions = tuple(Union(union.is_all, self._select(union.select)) for union in query.unions)
        return replace(query, tables=tables, first=self._select(query.first), unions=unions)

    def _select(self, select: Select) -> Select:
        select = replace(select, source=self._source(select.source))
        keeps = _keeps(select)
        if keeps is None:
            return select
        key = self._keys.get(select.source.name.text.lower()) if isinstance(select.source, Reference) else None
        if key is None:
            message = "the key of these rows is not known: PARTITION WITH names keys of streams"
            raise self._script.error(message, keeps, valid=tuple(self._keys))
        return self._keyed(select, key)

    def _keyed(self, select: Select, key: Expression) -> Select:
        """The key in everything that is kept between rows."""
        if select.is_distinct and not _has([item.expression for item in select.items], key):
            hint = f"add the key to the SELECT list: {key.text}"
            raise self._script.error("DISTINCT for each key needs the key among its columns", select.span, hint=hint)
        items = tuple(replace(item, expression=_over_key(item.expression, key)) for item in select.items)
        qualify = None if select.qualify is None else _over_key(select.qualify, key)
        output = None if select.output is None else replace(select.output, key=key)
        select = replace(select, items=items, qualify=qualify, output=output)
        is_aggregated = select.window is not None or (is_grouped(select) and not any(map(is_over, select.items)))
        return replace(select, keys=(key, *select.keys)) if is_aggregated and not _has(select.keys, key) else select

    def _source(self, source: Relation) -> Relation:
        match source:
            case Reference():
                return source
            case Derived():
                return replace(source, query=self.query(source.query))
            case _:
                hint = "write the statement outside of the block, with the key in it"
                span = source.window.span if isinstance(source, Windowed) else source.span
                raise self._script.error("only single streams can be partitioned", span, hint=hint)


def _keeps(select: Select) -> Span | None:
    """Where it says that something is kept between rows, if anything is."""
    overs = [over for item in select.items for over in item.expression.overs]
    clauses = (select.window, select.output, select.qualify, select.having, *select.keys, *overs)
    found = next((clause.span for clause in clauses if clause is not None), None)
    return select.span if found is None and (select.is_distinct or is_grouped(select)) else found


def _over_key(expression: Expression, key: Expression) -> Expression:
    """With the key among those of its OVER clauses."""
    pieces = [
        replace(piece, partition=(key, *piece.partition))
        if isinstance(piece, Over) and not _has(piece.partition, key)
        else piece
        for piece in expression.pieces
    ]
    return replace(expression, pieces=tuple(pieces))


def _has(keys: Iterable[Expression], key: Expression) -> bool:
    names = {name.text.lower() for one in keys if (name := plain_name(one)) is not None}
    own = plain_name(key)
    return own is not None and own.text.lower() in names
