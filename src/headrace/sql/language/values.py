"""Names and values as SQL spells them: of options in WITH and of settings in operator calls."""

from __future__ import annotations

import json
import re

from sqlglot.tokenizer_core import TokenType

from headrace.errors import InvalidSyntax
from headrace.graph.document import Json, canonical_json
from headrace.operators.expressions import parse_expression
from headrace.sql.language.cursor import RESERVED, Cursor
from headrace.sql.language.dialect import is_column

_BARE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN_FLOAT = re.compile(r"-?\d+\.\d+")
_WORDS: dict[str, Json] = {"TRUE": True, "FALSE": False, "NULL": None}


def read_value(cursor: Cursor) -> tuple[Json, bool]:
    """A text, a number, TRUE, FALSE, NULL, ARRAY[…] or JSON '…', and whether it was written as JSON.

    Raises InvalidSyntax if nothing of that stands here.
    """
    if (text := cursor.string()) is not None:
        return text, False
    for word, value in _WORDS.items():
        if cursor.accept(word):
            return value, False
    if cursor.accept("JSON"):
        return _json(cursor), True
    if cursor.accept("ARRAY", "["):
        return _array(cursor), False
    return read_number(cursor), False


def print_value(value: Json) -> str:
    """A value that `read_value` reads back."""
    if isinstance(value, str):
        return print_string(value)
    if value is None or isinstance(value, bool):
        return str(value).upper() if value is not None else "NULL"
    if isinstance(value, int) or (isinstance(value, float) and _PLAIN_FLOAT.fullmatch(repr(value))):
        return repr(value)
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return f"ARRAY[{', '.join(print_string(str(item)) for item in value)}]"
    return print_exact(value)


def print_exact(value: Json) -> str:
    """A value that goes into the config as it is, whatever the operator's config says about its type."""
    return f"JSON {print_string(json.dumps(value, ensure_ascii=False, allow_nan=False))}"


def print_string(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


def print_name(name: str) -> str:
    """A name as it stands in a statement or an expression, with back-quotes where it needs them."""
    bare = _BARE_NAME.fullmatch(name) is not None and name.upper() not in RESERVED and _is_column(name)
    return name if bare else "`" + name.replace("`", "``") + "`"


def print_label(name: str) -> str:
    """The name of a port or a setting, where only TABLE means something else."""
    return name if _BARE_NAME.fullmatch(name) and name.upper() != "TABLE" else print_name(name)


def _is_column(word: str) -> bool:
    """Whether Spark's grammar takes the bare word for a column, and not for a keyword or a function."""
    try:
        return is_column(parse_expression(word).tree)
    except InvalidSyntax:
        return False


def _json(cursor: Cursor) -> Json:
    start = cursor.index
    text = cursor.string()
    if text is None:
        raise cursor.failure("a quoted JSON value")
    try:
        value: Json = json.loads(text)
        canonical_json(value)  # refuses NaN and infinity, which no document can hold
    except (ValueError, RecursionError) as error:
        raise cursor.script.error(f"this is no JSON: {error}", cursor.since(start)) from error
    return value


def _array(cursor: Cursor) -> list[Json]:
    items: list[Json] = []
    while not cursor.accept("]"):
        if items:
            cursor.expect(",")
        items.append(read_value(cursor)[0])
    return items


def read_number(cursor: Cursor) -> int | float:
    """A number with its sign. Raises InvalidSyntax if something else stands here."""
    start = cursor.index
    cursor.accept("-")
    token = cursor.peek()
    if token is None or token.token_type is not TokenType.NUMBER:
        cursor.index = start
        raise cursor.failure("a text in quotes", "a number", "TRUE", "FALSE", "ARRAY[…]", "JSON '…'")
    cursor.index += 1
    text = cursor.script.slice(cursor.since(start))
    try:
        number = int(text) if re.fullmatch(r"-?\d+", text) else float(text)
        canonical_json(number)
    except ValueError as error:
        raise cursor.script.error(f"{text!r} is no number", cursor.since(start)) from error
    return number
