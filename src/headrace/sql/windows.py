"""Every notation of a window, in one place.

    WINDOW TUMBLING(10s)              WINDOW TUMBLING(ts, 10 SECONDS)      WINDOW TUMBLING(SIZE 10 SECONDS)
    WINDOW('tumbling', 10 sec)        WINDOW('tumbling', ts, 10 sec)
    FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND)

The first with a time column is the one that is printed.
"""

from __future__ import annotations

from headrace.errors import did_you_mean
from headrace.sql.cursor import Cursor
from headrace.sql.durations import print_duration, read_duration
from headrace.sql.tree import Name, Reference, Window
from headrace.sql.values import print_name, print_string

WINDOW_BOUNDS = ("_window_start", "_window_end")

_KINDS = ("tumbling",)
_OTHER_KINDS = (
    "sliding", "hop", "hopping", "session", "length", "lengthbatch", "time", "timebatch", "externaltime",
    "externaltimebatch", "delay", "cumulate", "sort", "unique", "firstunique", "expression", "frequent",
    "lossyfrequent", "cron",
)  # fmt: skip
_TABLE_FUNCTIONS = ("HOP", "CUMULATE", "SESSION")


def read_window(cursor: Cursor) -> Window:
    """Called behind the word WINDOW. Raises InvalidSyntax for a kind that cannot run."""
    start = cursor.index - 1
    if cursor.accept("("):
        _require_kind(cursor, _quoted_kind(cursor))
        cursor.expect(",")
    else:
        _require_kind(cursor, cursor.name("a kind of window such as TUMBLING"))
        cursor.expect("(")
        cursor.accept("SIZE")
    time = _time_column(cursor)
    size = read_size(cursor)
    cursor.expect(")")
    return Window(size, time, cursor.since(start))


def at_table_function(cursor: Cursor) -> bool:
    """Whether a window stands where a stream is expected."""
    for word in _TABLE_FUNCTIONS:
        if cursor.at(word, "("):
            raise cursor.script.error(f"{word} windows are not supported yet", cursor.here(), valid=("TUMBLE",))
    return cursor.at("TUMBLE", "(")


def read_table_function(cursor: Cursor) -> tuple[Reference, Window]:
    """`TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND)`."""
    start = cursor.index
    cursor.expect("TUMBLE", "(", "TABLE")
    reference = Reference(cursor.name("the name of a stream"))
    cursor.expect(",", "DESCRIPTOR", "(")
    time = cursor.name("the name of a time column")
    cursor.expect(")", ",")
    size = read_size(cursor)
    cursor.expect(")")
    return reference, Window(size, time, cursor.since(start))


def read_size(cursor: Cursor) -> str:
    """A duration up to the closing bracket; one in quotes is kept as it is."""
    if cursor.at(")", ahead=1) and (quoted := cursor.string()) is not None:
        return quoted
    return read_duration(cursor, ")", ",")


def print_window(size: str, time: str | None) -> str:
    """The WINDOW clause in the one notation that is printed."""
    duration = print_duration(size) or print_string(size)
    return f"WINDOW TUMBLING({print_name(time)}, {duration})" if time is not None else f"WINDOW TUMBLING({duration})"


def _quoted_kind(cursor: Cursor) -> Name:
    start = cursor.index
    kind = cursor.string()
    if kind is None:
        raise cursor.failure("a kind of window such as 'tumbling'")
    return Name(kind, cursor.since(start))


def _require_kind(cursor: Cursor, kind: Name) -> None:
    folded = kind.text.lower()
    if folded in _KINDS:
        return
    known = folded in _OTHER_KINDS
    message = f"{kind.text} windows are not supported yet" if known else f"unknown kind of window {kind.text!r}"
    raise cursor.script.error(message, kind.span, valid=_KINDS, hint=did_you_mean(folded, _KINDS))


def _time_column(cursor: Cursor) -> Name | None:
    """`ts,` before the size, if it is there."""
    if not cursor.at_name() or not cursor.at(",", ahead=1):
        return None
    time = cursor.name("the name of a time column")
    cursor.expect(",")
    return time
