"""Declared streams and tables: the config of the source that one is, and of the sink that one is."""

from __future__ import annotations

from headrace.errors import InvalidSyntax
from headrace.graph.document import Json, Node
from headrace.graph.schema import Column, Schema
from headrace.operators.catalogue import AnyOperator, Catalogue
from headrace.operators.config import setting_names
from headrace.operators.table_keys import key_setting
from headrace.sql.analysis import Origin
from headrace.sql.connectors import TRIGGER_CONNECTOR, Connector
from headrace.sql.expressions import check_expression
from headrace.sql.language.parser import read_statements
from headrace.sql.language.script import Script
from headrace.sql.language.statement_tree import ColumnDefinition, Create, CreateTrigger, CreateView
from headrace.sql.language.tree import Name, Option
from headrace.sql.language.values import print_name
from headrace.sql.language.variables import expand
from headrace.sql.language.walk import names_read
from headrace.sql.late_options import split_late
from headrace.sql.steps import Piece
from headrace.sql.stream_options import in_settings


class Declaration:
    """`CREATE STREAM name (…) WITH (…)`, `CREATE TABLE name (…)`. Raises InvalidSyntax for an unknown connector.

    `late` is what becomes of late rows in windows over it, where that is not the default.
    """

    def __init__(self, script: Script, statement: Create, catalogue: Catalogue) -> None:
        self.late, self.statement = split_late(script, in_settings(script, statement))
        self._script = script
        self._connector = Connector(script, self.statement, catalogue)

    @property
    def origin(self) -> Origin:
        statement = self.statement
        pieces = [Piece(print_name(column.name.text), column.span) for column in statement.columns]
        pieces += [Piece(_item(column), column.span) for column in statement.columns if column.type is None]
        if statement.watermark is not None:
            pieces.insert(0, Piece(statement.watermark.column.text, statement.watermark.span))
        return Origin.of_options(statement.name.span, statement.options, pieces)

    def source(self, *, written: bool) -> tuple[str, dict[str, Json]]:
        """Operator and config of the source; the stream may be `written` as well.

        Raises InvalidSyntax if it cannot be read, or for an option that does not fit.
        """
        operator = self._connector.source
        name = self.statement.name
        if operator is None:
            raise self._script.error(f"a {self._connector.kind} can only be written", name.span)
        settings = self._connector.settings(operator, self._connector.sink if written else None)
        config = self._with_topic(operator, settings)
        config |= self._columns(operator, config) | self._event_time(operator, config)
        if self.statement.is_table:
            config |= self.required_key(config)
        if "schema" in setting_names(operator.config_type) and "schema" not in config:
            hint = f"list them: CREATE {'TABLE' if self.statement.is_table else 'STREAM'} {name.text} (name STRING, …)"
            raise self._script.error(f"{name.text} has no columns, so it cannot be read", name.span, hint=hint)
        return operator.spec.name, config

    def sink(self, *, read: bool) -> tuple[str, dict[str, Json]]:
        """Operator and config of the sink; the stream may be `read` as well.

        Raises InvalidSyntax if it cannot be written, or for an option that does not fit.
        """
        operator = self._connector.sink
        if operator is None:
            name = self.statement.name
            raise self._script.error(f"a {self._connector.kind} can only be read", name.span)
        settings = self._connector.settings(operator, self._connector.source if read else None)
        return operator.spec.name, self._key() | self._with_topic(operator, settings)

    def takes(self, setting: str) -> bool:
        """Whether what writes the stream has this setting."""
        return self._connector.sink is not None and setting in setting_names(self._connector.sink.config_type)

    def _key(self) -> dict[str, Json]:
        """`name TYPE PRIMARY KEY` among the columns."""
        keys = self.statement.keys
        if not keys:
            return {}
        if not self.takes("key"):
            raise self._script.error(f"the rows of a {self._connector.name} stream have no key", keys[0].span)
        if len(keys) > 1 and not self.statement.is_table:
            raise self._script.error("a stream has one key", keys[1].span, hint="only rows of a table may have several")
        return {"key": key_setting([key.text for key in keys])}

    def required_key(self, config: dict[str, Json]) -> dict[str, Json]:
        """The key of a table. Raises InvalidSyntax where neither its columns nor its options name one."""
        found = {**self._key(), **config}
        if "key" not in found:
            name = self.statement.name
            hint = "write PRIMARY KEY behind a column, or WITH (key = 'column')"
            raise self._script.error(f"the table {name.text} has no key", name.span, hint=hint)
        return {"key": found["key"]}

    def check_unused(self) -> None:
        """Raises InvalidSyntax for options that neither a source nor a sink has."""
        first, second = self._connector.source, self._connector.sink
        if end := first or second:
            self._connector.settings(end, second)

    def _with_topic(self, operator: AnyOperator, config: dict[str, Json]) -> dict[str, Json]:
        """A topic is named like the stream unless it is told otherwise."""
        if "topic" in setting_names(operator.config_type):
            return {"topic": self.statement.name.text, **config}
        return config

    def _columns(self, operator: AnyOperator, config: dict[str, Json]) -> dict[str, Json]:
        columns = self.statement.columns
        if not columns:
            return {}
        setting = "schema" if "schema" in setting_names(operator.config_type) else "columns"
        if setting in config:
            raise self._error(f"the columns stand here and in the option {setting!r}", columns[0])
        if setting == "columns":
            return {"columns": [self._computed(column) for column in columns]}
        return {"schema": str(Schema(tuple(self._typed(column) for column in columns)))}

    def _typed(self, column: ColumnDefinition) -> Column:
        if column.type is None:
            raise self._error(f"the column {column.name.text!r} of a {self._connector.kind} needs a type", column)
        return Column(column.name.text, column.type)

    def _computed(self, column: ColumnDefinition) -> str:
        if column.type is not None:
            hint = f"write {column.name.text} AS expression"
            raise self._error(f"the columns of a {self._connector.name} stream are computed", column, hint)
        if column.expression is not None:
            check_expression(self._script, column.expression)
        return _item(column)

    def _event_time(self, operator: AnyOperator, config: dict[str, Json]) -> dict[str, Json]:
        watermark = self.statement.watermark
        if watermark is None:
            return {}
        if self.statement.is_table:
            raise self._script.error("a table has no watermark: it is looked up as it is", watermark.span)
        if {"event_time", "watermark", "idle_timeout"} & config.keys():
            raise self._script.error("the watermark stands here and in the options", watermark.span)
        if watermark.idle_after is not None and "idle_timeout" not in setting_names(operator.config_type):
            message = f"IDLE AFTER is for topics: a {self._connector.name} stream has an end, or never falls quiet"
            raise self._script.error(message, watermark.span)
        told = {"watermark": watermark.delay, "idle_timeout": watermark.idle_after}
        return {
            "event_time": watermark.column.text,
            **{name: value for name, value in told.items() if value is not None},
        }

    def _error(self, message: str, column: ColumnDefinition, hint: str | None = None) -> InvalidSyntax:
        return self._script.error(message, column.span, hint=hint)


def trigger_stream(trigger: CreateTrigger) -> Create:
    """The stream that a trigger is: `WITH (connector = 'trigger', …)`."""
    told = {"connector": TRIGGER_CONNECTOR, "every": trigger.every, "cron": trigger.cron}
    span = trigger.span
    options = tuple(Option(Name(name, span), value, False, span) for name, value in told.items() if value is not None)
    return Create(False, trigger.name, (), None, options, span)


def declared_tables(sql: str, catalogue: Catalogue) -> tuple[Node, ...]:
    """The tables that a script declares with columns, as sources; its other statements are passed over.

    Raises InvalidSyntax.
    """
    script, statements = read_statements(sql)
    tables = [one for one in statements if isinstance(one, Create) and one.is_table and one.columns]
    found = [(table.name.text, Declaration(script, table, catalogue).source(written=True)) for table in tables]
    return tuple(Node(name, operator, config) for name, (operator, config) in found)


def declared_streams(sql: str) -> frozenset[str]:
    """The names of the streams, tables and triggers that a script declares. Raises InvalidSyntax."""
    _, statements = read_statements(expand(sql, {}))
    return frozenset(one.name.text for one in statements if isinstance(one, Create | CreateTrigger))


def unread_views(sql: str) -> frozenset[str]:
    """The names of the views that a script declares and does not read. Raises InvalidSyntax."""
    _, statements = read_statements(expand(sql, {}))
    read = {name.text.lower() for statement in statements for name in names_read(statement)}
    views = (one.name.text for one in statements if isinstance(one, CreateView))
    return frozenset(name for name in views if name.lower() not in read)


def _item(column: ColumnDefinition) -> str:
    """A computed column as a select item."""
    name = print_name(column.name.text)
    return name if column.expression is None else f"{column.expression.text} AS {name}"
