"""Functions that users of other engines know by another name: read under it, kept and printed under Spark's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from headrace.errors import InvalidInput
from headrace.sql.functions import is_function
from headrace.sql.language.script import Script, Span


@dataclass(frozen=True, slots=True)
class Alias:
    """What stands for `name(` and for the bracket that closes it: the arguments between them stay as they are."""

    opening: str
    closing: str = ")"


# Only where both mean exactly the same for the same arguments, in their order.
_ALIASES: Final = {
    # Velostream: the headers of the record that a row is
    "has_header": Alias("map_contains_key(_headers, "),
    "header": Alias("try_element_at(_headers, "),
    # Siddhi and EventFlux
    "currenttimemillis": Alias("unix_millis(current_timestamp()"),
    "distinctcount": Alias("count(DISTINCT "),
    "ifthenelse": Alias("if("),
    "maximum": Alias("greatest("),
    "minimum": Alias("least("),
    # ksqlDB and Velostream
    "array_length": Alias("array_size("),
    "as_value": Alias("("),
    "count_distinct": Alias("count(DISTINCT "),
    "extractjsonfield": Alias("get_json_object("),
    "format_date": Alias("date_format("),
    "format_timestamp": Alias("date_format("),
    "parse_date": Alias("to_date("),
    "parse_timestamp": Alias("to_timestamp("),
    "stringtotimestamp": Alias("unix_millis(to_timestamp(", "))"),
    # Flink
    "current_row_timestamp": Alias("current_timestamp("),
    "to_base64": Alias("base64("),
    # PostgreSQL
    "gen_random_uuid": Alias("uuid("),
    "strpos": Alias("instr("),
}
# What cannot be said with the arguments in their order.
HINTS: Final = {
    "convert": "cast(… AS type)",
    "earliest_by_offset": "min_by(column, _offset)",
    "eventtimestamp": "unix_millis(_event_time)",
    "formatdate": "date_format",
    "from_base64": "CAST(unbase64(…) AS STRING)",
    "json_value": "get_json_object",
    "latest_by_offset": "max_by(column, _offset)",
    "split_index": "split_part, which counts from 1",
    "timestamptostring": "date_format(timestamp_millis(…), format)",
    "to_timestamp_ltz": "timestamp_millis(…) or timestamp_seconds(…)",
}


def aliased(script: Script, calls: Iterable[tuple[str, Span]], own: Iterable[str]) -> Iterator[tuple[Span, str]]:
    """What is to be replaced in a script so that it calls Spark's functions.

    `calls` are names of functions and where they stand. A function in Python of that name, or one in `own`, which the
    script creates, is meant before any alias.
    """
    taken = set(own)
    for name, span in calls:
        alias = _ALIASES.get(name.lower())
        if alias is None or name.lower() in taken or _is_known(name):
            continue
        opening = script.text.index("(", span.end)
        yield Span(span.start, opening + 1), alias.opening
        if alias.closing != ")":
            end = _closing(script, opening)
            yield Span(end, end + 1), alias.closing


def _is_known(name: str) -> bool:
    try:
        return is_function(name)
    except InvalidInput:  # whoever checks the call says what is wrong with it
        return True


def _closing(script: Script, opening: int) -> int:
    """Where the bracket closes that opens here: brackets in texts are no tokens."""
    depth = 0
    for token in script.tokens:
        if token.start >= opening and token.text in ("(", ")") and token.end == token.start:
            depth += 1 if token.text == "(" else -1
            if depth == 0:
                return int(token.start)
    raise AssertionError("a call that was read has its closing bracket")
