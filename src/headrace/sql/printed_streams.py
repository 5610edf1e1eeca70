"""CREATE STREAM statements of sources and sinks, in the most readable form that means exactly their config."""

from __future__ import annotations

from collections.abc import Iterator

from headrace.errors import HeadraceError
from headrace.graph.document import Config, Json, Node
from headrace.graph.schema import Schema
from headrace.operators.catalogue import Catalogue
from headrace.operators.expressions import parse_expression
from headrace.operators.table_keys import key_columns
from headrace.sql.connectors import DEFAULT_CONNECTOR, TABLE_CONNECTOR, TRIGGER_CONNECTOR, connector_of, option_name
from headrace.sql.declarations import Declaration
from headrace.sql.language.durations import print_duration, print_interval
from headrace.sql.language.layout import bracketed
from headrace.sql.language.parser import read_statements
from headrace.sql.language.statement_tree import Create
from headrace.sql.language.values import print_name, print_string, print_value


def source_lines(node: Node, catalogue: Catalogue, sink: Node | None = None) -> list[str] | None:
    """The declaration of a source, and of a sink with the same name if one is given; None if there is none."""
    if sink is not None and connector_of(sink.operator) != connector_of(node.operator):
        return None
    if sink is None and (trigger := _trigger(node)) is not None:
        return [trigger]
    settings = {**node.config, **(sink.config if sink else {})}
    for columns, rest in _readings(settings, is_table=printed_kind(node.operator) == "TABLE"):
        lines = _declaration(node.id, node.operator, columns, rest)
        declared = _declared("\n".join(lines), catalogue)
        if declared is None or not _is_source(declared, node, written=sink is not None):
            continue
        if sink is None or _is_sink(declared, sink, read=True):
            return lines
    return None


def sink_lines(name: str, node: Node, catalogue: Catalogue) -> list[str] | None:
    """The declaration of a sink; None if no declaration means exactly its config."""
    lines = _declaration(name, node.operator, [], node.config)
    declared = _declared("\n".join(lines), catalogue)
    return lines if declared is not None and _is_sink(declared, node, read=False) else None


def option_items(name: str, operator: str, settings: Config) -> list[str]:
    """What stands in WITH: the connector unless it is a topic, the topic unless it is named like the stream."""
    connector = connector_of(operator)
    items = [] if connector in (DEFAULT_CONNECTOR, TABLE_CONNECTOR) else [f"connector = {print_string(connector)}"]
    shown = [setting for setting in settings if setting != "topic" or settings[setting] != name]
    shown.sort(key=lambda setting: (setting not in ("topic", "path"), setting))
    return items + [f"{_option(setting)} = {print_value(settings[setting])}" for setting in shown]


def printed_kind(operator: str) -> str:
    """What CREATE makes of a source or a sink."""
    return "TABLE" if connector_of(operator) == TABLE_CONNECTOR else "STREAM"


def _trigger(node: Node) -> str | None:
    """CREATE TRIGGER for a node that is one; None if only WITH can say its settings as they are."""
    if connector_of(node.operator) != TRIGGER_CONNECTOR:
        return None
    match list(node.config.items()):
        case [("every", str(every))] if (duration := print_duration(every)) is not None:
            schedule = f"EVERY {duration}"
        case [("cron", str(cron))]:
            schedule = f"CRON {print_string(cron)}"
        case []:
            schedule = "START"
        case _:
            return None
    return f"CREATE TRIGGER {print_name(node.id)} AT {schedule}"


def _readings(settings: Config, *, is_table: bool) -> Iterator[tuple[list[str], Config]]:
    """Columns in brackets and what is left for WITH; at last everything in WITH."""
    columns, left = _columns(settings, is_table=is_table)
    watermark, left_over = _watermark(left)
    if columns or watermark:
        yield [*columns, *watermark], left_over
        yield columns, left
    yield [], settings


def _columns(settings: Config, *, is_table: bool) -> tuple[list[str], Config]:
    try:
        if isinstance(ddl := settings.get("schema"), str):
            key = settings.get("key") if is_table else None
            return _typed(Schema.parse(ddl), settings, key_columns(key) if isinstance(key, str) else ())
        if isinstance(items := settings.get("columns"), list):
            return [_computed(str(item)) for item in items], _without(settings, "columns")
    except HeadraceError:
        return [], settings
    return [], settings


def _typed(schema: Schema, settings: Config, keys: tuple[str, ...]) -> tuple[list[str], Config]:
    """Columns with their types, and the key beside them if it is made of these."""
    columns = [f"{print_name(column.name)} {column.type}" for column in schema]
    if not keys or not set(keys) <= set(schema.names):
        return columns, _without(settings, "schema")
    if len(keys) == 1:
        columns[schema.names.index(keys[0])] += " PRIMARY KEY"
    else:
        columns.append(f"PRIMARY KEY ({', '.join(map(print_name, keys))})")
    return columns, _without(settings, "schema", "key")


def _computed(item: str) -> str:
    """`value % 5 AS drone` → `drone AS value % 5`."""
    expression = parse_expression(item)
    if expression.alias is None:
        return item
    written = item[: item.upper().rfind(" AS ")]
    return f"{print_name(expression.alias)} AS {written}"


def _watermark(settings: Config) -> tuple[list[str], Config]:
    time = settings.get("event_time")
    if not isinstance(time, str):
        return [], settings
    column, rest = print_name(time), _without(settings, "event_time", "watermark", "idle_timeout")
    delay, idle = (_interval(settings.get(setting)) for setting in ("watermark", "idle_timeout"))
    if delay is None or idle is None:
        return [], settings
    words = [f"WATERMARK FOR {column} AS {column}", f"- {delay}" if delay else "", f"IDLE AFTER {idle}" if idle else ""]
    return [" ".join(word for word in words if word)], rest


def _interval(duration: Json) -> str | None:
    """A duration as SQL says it, nothing where there is none; None if it cannot be said."""
    return "" if duration is None else print_interval(str(duration))


def _declaration(name: str, operator: str, columns: list[str], settings: Config) -> list[str]:
    head = [f"CREATE {printed_kind(operator)} {print_name(name)}"]
    if columns:
        head = bracketed(head[0], columns, one_line=False)
    options = option_items(name, operator, settings)
    if not options:
        return head
    return [*head[:-1], *bracketed(f"{head[-1]} WITH", options, one_line=True)]


def _declared(text: str, catalogue: Catalogue) -> Declaration | None:
    try:
        script, statements = read_statements(text)
        if len(statements) == 1 and isinstance(statements[0], Create):
            return Declaration(script, statements[0], catalogue)
    except HeadraceError:
        pass
    return None


def _is_source(declaration: Declaration, node: Node, *, written: bool) -> bool:
    """Whether the declaration, where it is read, means exactly this node."""
    try:
        return Node(node.id, *declaration.source(written=written)) == node
    except HeadraceError:
        return False


def _is_sink(declaration: Declaration, node: Node, *, read: bool) -> bool:
    try:
        return Node(node.id, *declaration.sink(read=read)) == node
    except HeadraceError:
        return False


def _option(setting: str) -> str:
    name = option_name(setting)
    return print_name(name) if name.isidentifier() else print_string(name)


def _without(settings: Config, *names: str) -> dict[str, Json]:
    return {name: value for name, value in settings.items() if name not in names}
