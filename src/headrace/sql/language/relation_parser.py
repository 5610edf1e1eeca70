"""What stands behind FROM: streams, operator calls, queries in brackets, windows, joins and patterns."""

from __future__ import annotations

from dataclasses import replace

from headrace.sql.language.cursor import Cursor
from headrace.sql.language.durations import at_duration, read_duration, read_inline_duration
from headrace.sql.language.expression_parser import read_expression
from headrace.sql.language.match_parser import read_match
from headrace.sql.language.pattern_parser import read_pattern
from headrace.sql.language.tree import (
    Derived,
    Expression,
    Join,
    JoinKind,
    Name,
    OperatorCall,
    Option,
    Reference,
    Relation,
    Windowed,
    Within,
)
from headrace.sql.language.values import read_value
from headrace.sql.language.windows import at_table_function, read_table_function, read_window

_JOIN_WORDS = ("JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "ASOF")
_KINDS: tuple[JoinKind, ...] = ("inner", "left", "right", "full", "cross")
# Spark's joins that say only which rows of the left go on: LEFT may stand before them.
_CHOOSING: tuple[JoinKind, ...] = ("semi", "anti")
# Clauses that are refused, and no alias.
_CLAUSES_OF_OTHERS = (("TABLESAMPLE", "("), ("GRACE", "PERIOD"), ("FETCH", "FIRST"), ("FETCH", "NEXT"), ("OFFSET",))
JOINS_MAX = 32


def read_relation(cursor: Cursor) -> Relation:
    """A source and everything that is joined to it. Raises InvalidSyntax at the first thing that cannot be read."""
    relation = _single(cursor)
    for _ in range(JOINS_MAX):
        if cursor.at(","):
            relation = _cross(cursor, relation)
        elif any(cursor.at(word) for word in _JOIN_WORDS) or _at_choosing(cursor):
            relation = _join(cursor, relation)
        else:
            return relation
    raise cursor.script.error(f"more than {JOINS_MAX} joins", cursor.here())


def _single(cursor: Cursor) -> Relation:
    if cursor.at("PATTERN", "(") or cursor.at("SEQUENCE", "("):
        return read_pattern(cursor)
    if at_table_function(cursor):
        reference, window = read_table_function(cursor)
        return Windowed(replace(reference, alias=_alias(cursor)), window)
    if cursor.at("(", ahead=1) and not cursor.at("("):
        return _operator_call(cursor)
    source = _derived(cursor) if cursor.at("(") else _stream(cursor)
    if cursor.at("MATCH_RECOGNIZE"):
        return replace(read_match(cursor, source), alias=_alias(cursor))
    return _windowed(cursor, source)


def _windowed(cursor: Cursor, source: Reference | Derived) -> Relation:
    """The alias may stand before or behind the window."""
    if not cursor.accept("WINDOW"):
        return source
    window = read_window(cursor)
    if source.alias is None:
        source = replace(source, alias=_alias(cursor))
    return Windowed(source, window)


def _derived(cursor: Cursor) -> Derived:
    start = cursor.index
    if not (cursor.at("(", "SELECT") or cursor.at("(", "WITH")):
        cursor.index += 1
        raise cursor.failure("SELECT", "WITH")
    cursor.expect("(")
    stop = cursor.closing()
    query = cursor.part(cursor.index, stop).query()
    cursor.index = stop + 1
    span = cursor.since(start)
    return Derived(query, _alias(cursor), span)


def _stream(cursor: Cursor) -> Reference:
    reference = _reference(cursor)
    as_of = read_expression(cursor) if cursor.accept("FOR", "SYSTEM_TIME", "AS", "OF") else None
    return replace(reference, alias=_alias(cursor), as_of=as_of)


def read_reference(cursor: Cursor) -> Reference:
    """A stream with its alias, where nothing else can stand."""
    return replace(_reference(cursor), alias=_alias(cursor))


def _reference(cursor: Cursor) -> Reference:
    name = cursor.name("the name of a stream")
    port = cursor.label("the name of an output").text if cursor.accept(".") else "out"
    return Reference(name, port)


def _alias(cursor: Cursor) -> Name | None:
    if cursor.accept("AS"):
        return cursor.name("a name")
    goes_on = cursor.at("FOR", "SYSTEM_TIME") or (cursor.at("RETENTION") and at_duration(cursor, ahead=1))
    goes_on = goes_on or _at_choosing(cursor) or any(cursor.at(*words) for words in _CLAUSES_OF_OTHERS)
    return cursor.name("a name") if cursor.at_name() and not goes_on else None


def _at_choosing(cursor: Cursor) -> bool:
    return any(cursor.at(kind.upper(), "JOIN") for kind in _CHOOSING)


def _cross(cursor: Cursor, left: Relation) -> Join:
    start = cursor.index
    cursor.expect(",")
    return Join("cross", False, left, _single(cursor), None, (), None, None, cursor.since(start))


def _join(cursor: Cursor, left: Relation) -> Join:
    start = cursor.index
    is_asof = cursor.accept("ASOF")
    kind: JoinKind = next((kind for kind in _KINDS if cursor.accept(kind.upper())), "inner")
    if kind in ("inner", "left"):
        kind = next((choosing for choosing in _CHOOSING if cursor.accept(choosing.upper())), kind)
    cursor.accept("OUTER")
    is_asof = cursor.accept("ASOF") or is_asof
    cursor.expect("JOIN")
    span = cursor.since(start)
    right = _single(cursor)
    within = _within(cursor)
    condition, using = _condition(cursor, kind)
    within = within or _within(cursor)
    retention = read_inline_duration(cursor) if cursor.accept("RETENTION") else None
    return Join(kind, is_asof, left, right, condition, using, within, retention, span)


def _within(cursor: Cursor) -> Within | None:
    """`WITHIN 5 MINUTES`, or `WITHIN (before, after)`."""
    if not cursor.accept("WITHIN"):
        return None
    if not cursor.accept("("):
        both = read_inline_duration(cursor)
        return Within(both, both)
    before = read_duration(cursor, ",", ")")
    cursor.expect(",")
    after = read_duration(cursor, ")")
    cursor.expect(")")
    return Within(before, after)


def _condition(cursor: Cursor, kind: JoinKind) -> tuple[Expression | None, tuple[Name, ...]]:
    if cursor.accept("ON"):
        return read_expression(cursor), ()
    if cursor.accept("USING"):
        cursor.expect("(")
        names = cursor.names("the name of a column")
        cursor.expect(")")
        return None, names
    if kind != "cross":
        raise cursor.failure("ON", "USING")
    return None, ()


def _operator_call(cursor: Cursor) -> OperatorCall:
    """`operator(TABLE a, port => TABLE b, setting => value)`."""
    start = cursor.index
    if cursor.at("UNNEST"):
        raise cursor.script.error(
            "UNNEST is not supported", cursor.here(), hint="write explode(array) in a SELECT list"
        )
    operator = cursor.name("the name of an operator")
    cursor.expect("(")
    inputs: list[tuple[str, Reference]] = []
    settings: list[Option] = []
    while not cursor.accept(")"):
        if (inputs or settings) and not cursor.accept(","):
            raise cursor.failure(",", ")")
        _argument(cursor, inputs, settings)
    return OperatorCall(operator, tuple(inputs), tuple(settings), cursor.since(start))


def _argument(cursor: Cursor, inputs: list[tuple[str, Reference]], settings: list[Option]) -> None:
    start = cursor.index
    if cursor.accept("TABLE"):
        inputs.append(("in", _reference(cursor)))
        return
    name = cursor.label("TABLE or the name of a setting")
    cursor.expect("=>")
    if cursor.accept("TABLE"):
        inputs.append((name.text, _reference(cursor)))
        return
    if any(setting.name.text == name.text for setting in settings):
        raise cursor.script.error(f"the setting {name.text!r} is given twice", name.span)
    value, _ = read_value(cursor)
    settings.append(Option(name, value, True, cursor.since(start)))
