"""PARTITION WITH (key OF stream) BEGIN … END: its statements, with the key in each window that they open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from headrace.sql.language.dialect import plain_name
from headrace.sql.language.script import Script
from headrace.sql.language.statement_tree import CreateAs, CreateView, Insert, Partition, Statement
from headrace.sql.language.tree import Derived, Expression, Query, Reference, Relation, Select, Union, Windowed


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
        if select.output is not None:
            hint = "call its operator: FROM `output-rate`(TABLE stream, keys => ARRAY['key'], …)"
            raise self._script.error("OUTPUT cannot run for each key of a PARTITION", select.output.span, hint=hint)
        if select.window is None:
            return select
        key = self._keys.get(select.source.name.text.lower()) if isinstance(select.source, Reference) else None
        if key is None:
            message = "the key of these rows is not known: PARTITION WITH names keys of streams"
            raise self._script.error(message, select.window.span, valid=tuple(self._keys))
        return select if _has(select.keys, key) else replace(select, keys=(key, *select.keys))

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


def _has(keys: tuple[Expression, ...], key: Expression) -> bool:
    names = {name.text.lower() for one in keys if (name := plain_name(one)) is not None}
    own = plain_name(key)
    return own is not None and own.text.lower() in names
