"""Every notation of a window, in one place.

    WINDOW TUMBLING(10s)              WINDOW TUMBLING(ts, 10 SECONDS)      WINDOW TUMBLING(SIZE 10 SECONDS)
    WINDOW('tumbling', 10 sec)        WINDOW('tumbling', ts, 10 sec)       WINDOW TUMBLING(PROCTIME(), 10s)
    FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND)            FROM TABLE(TUMBLE(…))

The first with a time column is the one that is printed.
"""

from __future__ import annotations

from typing import Final

from headrace.errors import InvalidSyntax, did_you_mean
from headrace.sql.language.cursor import Cursor
from headrace.sql.language.durations import read_duration
from headrace.sql.language.expression_parser import read_sort_keys
from headrace.sql.language.tree import Name, Reference, SortKey, Window, WindowValue
from headrace.sql.language.values import read_number
from headrace.sql.language.window_kinds import WINDOW_ALIASES, WINDOW_KINDS, Parameter, WindowKind, find_kind

WINDOW_BOUNDS = ("_window_start", "_window_end")

# Flink's table functions: the kind, and the order in which they take the kind's parameters.
_TABLE_FUNCTIONS: Final = {
    "TUMBLE": ("tumbling", ("size",)),
    "HOP": ("sliding", ("slide", "size")),
    "CUMULATE": ("cumulate", ("step", "size")),
    "SESSION": ("session", ("gap",)),
}


def read_window(cursor: Cursor) -> Window:
    """Called behind the word WINDOW. Raises InvalidSyntax for a kind that does not exist."""
    start = cursor.index - 1
    if cursor.accept("("):
        kind = _kind(cursor, _quoted_kind(cursor))
        cursor.expect(",")
    else:
        name = cursor.name("a kind of window such as TUMBLING")
        if cursor.at("AS"):
            hint = "write OVER (…) with the window itself"
            raise cursor.script.error("named windows are not supported", cursor.here(), hint=hint)
        kind = _kind(cursor, name)
        cursor.expect("(")
    by_clock = _accept_clock(cursor, kind)
    time = None if by_clock else _time_column(cursor, kind)
    settings = _settings(cursor, kind)
    cursor.expect(")")
    return Window(kind.name, time, settings, cursor.since(start), by_clock)


def at_table_function(cursor: Cursor) -> bool:
    """Whether a window stands where a stream is expected; Flink puts it into TABLE (…)."""
    return any(cursor.at(word, "(", "TABLE") or cursor.at("TABLE", "(", word, "(") for word in _TABLE_FUNCTIONS)


def read_table_function(cursor: Cursor) -> tuple[Reference, Window]:
    """`HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)`."""
    start = cursor.index
    is_wrapped = cursor.accept("TABLE", "(")
    kind, order = _TABLE_FUNCTIONS[cursor.label("a window").text.upper()]
    cursor.expect("(", "TABLE")
    reference = Reference(cursor.name("the name of a stream"))
    columns = _partition_columns(cursor) if kind == "session" and cursor.accept("PARTITION BY") else ()
    cursor.expect(",", "DESCRIPTOR", "(")
    by_clock = cursor.accept("PROCTIME", "(", ")")
    time = None if by_clock else cursor.name("the name of a time column")
    cursor.expect(")")
    given: dict[str, WindowValue] = {}
    for name in order:
        cursor.expect(",")
        given[name] = read_size(cursor)
    cursor.expect(")")
    if is_wrapped:
        cursor.expect(")")
    if columns:
        given["columns"] = columns
    names = [parameter.name for parameter in WINDOW_KINDS[kind].parameters]
    settings = tuple(sorted(given.items(), key=lambda pair: names.index(pair[0])))
    return reference, Window(kind, time, settings, cursor.since(start), by_clock)


def _partition_columns(cursor: Cursor) -> tuple[Name, ...]:
    """Up to the comma before DESCRIPTOR (…)."""
    names = [cursor.name("the name of a column")]
    while not cursor.at(",", "DESCRIPTOR", "(") and cursor.accept(","):
        names.append(cursor.name("the name of a column"))
    return tuple(names)


def read_size(cursor: Cursor) -> str:
    """A duration up to a comma or the closing bracket; one in quotes is kept as it is."""
    ends = cursor.at(")", ahead=1) or cursor.at(",", ahead=1)
    if ends and (quoted := cursor.string()) is not None:
        return quoted
    return read_duration(cursor, ")", ",")


def _settings(cursor: Cursor, kind: WindowKind) -> tuple[tuple[str, WindowValue], ...]:
    settings: list[tuple[str, WindowValue]] = []
    for parameter in kind.parameters:
        if parameter.is_optional and _is_left_out(cursor, parameter):
            continue
        if settings:
            if cursor.at(")"):
                raise cursor.failure(f", and the {parameter.name} of the window")
            cursor.expect(",")
        settings.append((parameter.name, _value(cursor, parameter)))
    return tuple(settings)


def _is_left_out(cursor: Cursor, parameter: Parameter) -> bool:
    """Called before the comma: `(0.1, symbol)` gives no error bound."""
    return cursor.at(")") or (parameter.type == "number" and cursor.part(cursor.index + 1, cursor.stop).at_name())


def _value(cursor: Cursor, parameter: Parameter) -> WindowValue:
    for words in parameter.words:
        if cursor.accept(*words.split()):
            break
    match parameter.type:
        case "duration":
            return read_size(cursor)
        case "count":
            return cursor.integer("a number of rows")
        case "number":
            return read_number(cursor)
        case "columns":
            return cursor.names("the name of a column")
        case "sort keys":
            return _sort_keys(cursor)
        case "text":
            text = cursor.string()
            if text is None:
                raise cursor.failure(f"the {parameter.name} in quotes")
            return text


def _sort_keys(cursor: Cursor) -> tuple[SortKey, ...]:
    """`price DESC, ts`; Siddhi's `price, 'desc'` too."""
    keys: list[SortKey] = []
    while True:
        key = read_sort_keys(cursor.part(cursor.index, _end_of_argument(cursor)))[0]
        cursor.index = _end_of_argument(cursor)
        if cursor.at(",") and cursor.peek(1) is not None:
            after = cursor.part(cursor.index + 1, cursor.stop)
            word = after.string()
            if word is not None and word.lower() in ("asc", "desc"):
                key = SortKey(key.expression, word.lower() == "desc", key.nulls)
                cursor.index = after.index
        keys.append(key)
        if not cursor.accept(","):
            return tuple(keys)


def _end_of_argument(cursor: Cursor) -> int:
    """The index of the comma or the bracket behind an argument."""
    depth, index = 0, cursor.index
    while index < cursor.stop:
        here = cursor.part(index, cursor.stop)
        if depth == 0 and (here.at(",") or here.at(")")):
            break
        depth += here.at("(") - here.at(")")
        index += 1
    return index


def _quoted_kind(cursor: Cursor) -> Name:
    start = cursor.index
    kind = cursor.string()
    if kind is None:
        raise cursor.failure("a kind of window such as 'tumbling'")
    return Name(kind, cursor.since(start))


def _kind(cursor: Cursor, name: Name) -> WindowKind:
    kind = find_kind(name.text)
    if kind is None:
        raise _unknown_kind(cursor, name)
    return kind


def _unknown_kind(cursor: Cursor, name: Name) -> InvalidSyntax:
    valid = tuple(kind.name for kind in WINDOW_KINDS.values())
    hint = did_you_mean(name.text.lower(), (*WINDOW_KINDS, *WINDOW_ALIASES))
    return cursor.script.error(f"unknown kind of window {name.text!r}", name.span, valid=valid, hint=hint)


def _accept_clock(cursor: Cursor, kind: WindowKind) -> bool:
    """`PROCTIME(),` before the size."""
    if kind.time != "may" or not cursor.accept("PROCTIME", "(", ")"):
        return False
    cursor.expect(",")
    return True


def _time_column(cursor: Cursor, kind: WindowKind) -> Name | None:
    """`ts,` before the size, if it is there."""
    is_there = kind.time != "cannot" and cursor.at_name() and cursor.at(",", ahead=1)
    if not is_there and kind.time != "must":
        return None
    time = cursor.name("the name of a time column")
    cursor.expect(",")
    return time
