"""Statements: tokens → typed tree. What is no statement of ours is refused by name, never passed through."""

from __future__ import annotations

from sqlglot.tokenizer_core import TokenType

from headrace.errors import InvalidSyntax, did_you_mean
from headrace.sql.cursor import Cursor
from headrace.sql.declaration_parser import read_columns, read_options
from headrace.sql.script import Script, read_script
from headrace.sql.select_parser import read_select
from headrace.sql.tree import CreateStream, CreateStreamAs, CreateView, Insert, Statement

STATEMENTS = ("CREATE STREAM", "CREATE STREAM … AS SELECT", "CREATE VIEW … AS SELECT", "INSERT INTO … SELECT")

_OTHER_STATEMENTS = frozenset({
    "ALTER", "CALL", "DELETE", "DEPLOY", "DESCRIBE", "DROP", "EXPLAIN", "FROM", "MERGE", "PARTITION", "PAUSE", "RESUME",
    "ROLLBACK", "SET", "SHOW", "START", "STOP", "TRUNCATE", "UPDATE", "UPSERT", "USE", "WITH",
})  # fmt: skip


def read_statements(text: str) -> tuple[Script, tuple[Statement, ...]]:
    """The statements of a script in their order. Raises InvalidSyntax at the first that cannot be read."""
    script = read_script(text)
    return script, tuple(_statement(Cursor(script, start, stop)) for start, stop in _ranges(script))


def _ranges(script: Script) -> list[tuple[int, int]]:
    """Token ranges between semicolons, empty ones left out."""
    ends = [index for index, token in enumerate(script.tokens) if token.token_type is TokenType.SEMICOLON]
    starts = [0, *(end + 1 for end in ends)]
    return [(start, stop) for start, stop in zip(starts, [*ends, len(script.tokens)], strict=True) if start < stop]


def _statement(cursor: Cursor) -> Statement:
    if cursor.accept("CREATE"):
        return _create(cursor)
    if cursor.accept("INSERT"):
        return _insert(cursor)
    if cursor.at("SELECT"):
        raise cursor.script.error(
            "this SELECT has no target",
            cursor.here(),
            hint="write INSERT INTO name SELECT …, CREATE STREAM name AS SELECT … or CREATE VIEW name AS SELECT …",
        )
    raise _refusal(cursor)


def _create(cursor: Cursor) -> Statement:
    if cursor.accept("STREAM"):
        return _create_stream(cursor)
    if cursor.accept("VIEW"):
        name = cursor.name("the name of a view")
        cursor.expect("AS")
        return CreateView(name, read_select(cursor), cursor.since(cursor.start))
    if cursor.done():
        raise cursor.failure("STREAM", "VIEW")
    what = cursor.found().strip("'").upper()
    raise cursor.script.error(
        f"CREATE {what} is not supported", cursor.here(), valid=STATEMENTS, hint=did_you_mean(what, ("STREAM", "VIEW"))
    )


def _create_stream(cursor: Cursor) -> CreateStream | CreateStreamAs:
    name = cursor.name("the name of a stream")
    before_columns = cursor.here()
    columns, watermark = read_columns(cursor) if cursor.accept("(") else ((), None)
    options = read_options(cursor) if cursor.accept("WITH") else ()
    if not cursor.accept("AS"):
        _expect_end(cursor, "AS" if not columns else "WITH")
        return CreateStream(name, columns, watermark, options, cursor.since(cursor.start))
    if columns or watermark:
        raise cursor.script.error("the columns come from the SELECT and cannot be listed as well", before_columns)
    return CreateStreamAs(name, options, read_select(cursor), cursor.since(cursor.start))


def _insert(cursor: Cursor) -> Insert:
    if not cursor.accept("INTO"):
        raise cursor.failure("INTO")
    target = cursor.name("the name of a stream")
    return Insert(target, read_select(cursor), cursor.since(cursor.start))


def _expect_end(cursor: Cursor, other: str) -> None:
    if not cursor.done():
        raise cursor.failure(other, ";")


def _refusal(cursor: Cursor) -> InvalidSyntax:
    word = cursor.script.slice(cursor.here()).upper().split()[0]
    known = word in _OTHER_STATEMENTS
    message = f"{word} is not supported in a pipeline" if known else f"unknown statement {word}"
    hint = did_you_mean(word, ("CREATE", "INSERT"))
    return cursor.script.error(message, cursor.here(), valid=STATEMENTS, hint=None if known else hint)
