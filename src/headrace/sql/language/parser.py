"""Statements: tokens → typed tree. What is no statement of ours is refused by name, never passed through."""

from __future__ import annotations

from sqlglot.tokenizer_core import TokenType

from headrace.errors import InvalidSyntax, did_you_mean
from headrace.sql.language.annotations import annotations_in
from headrace.sql.language.cursor import Cursor
from headrace.sql.language.definition_parser import read_columns, read_options
from headrace.sql.language.durations import read_inline_duration
from headrace.sql.language.expression_parser import read_expression
from headrace.sql.language.operation_parser import OPERATIONS, read_operation
from headrace.sql.language.pointers import CREATED
from headrace.sql.language.pointers import STATEMENTS as STATEMENT_POINTERS
from headrace.sql.language.query_parser import read_open_query, read_query
from headrace.sql.language.relation_parser import read_reference
from headrace.sql.language.script import Rewriting, Script, read_script, span_of
from headrace.sql.language.statement_tree import (
    Ask,
    Create,
    CreateAs,
    CreateFunction,
    CreateTrigger,
    CreateView,
    Delete,
    Entry,
    Events,
    Insert,
    InsertValues,
    Partition,
    PartitionKey,
    Statement,
    Update,
    Upsert,
)
from headrace.sql.language.tree import Expression, Name

STATEMENTS = (
    "CREATE STREAM", "CREATE STREAM … AS SELECT", "CREATE TABLE", "CREATE TABLE … AS SELECT",
    "CREATE VIEW … AS SELECT", "CREATE FUNCTION", "CREATE TRIGGER", "INSERT INTO … SELECT",
    "UPSERT INTO … SELECT", "UPDATE", "DELETE", "PARTITION WITH", "SHOW", "DESCRIBE", "EXPLAIN", "START PIPELINE",
)  # fmt: skip
_WORDS = ("CREATE", "INSERT", "SELECT", "WITH", "UPSERT", "UPDATE", "DELETE", "PARTITION", *OPERATIONS)
_CREATED = ("STREAM", "TABLE", "VIEW", "FUNCTION", "TRIGGER")
_REFUSED = frozenset({"CALL", "FROM", *STATEMENT_POINTERS})


def read_statements(text: str) -> tuple[Script, tuple[Statement, ...]]:
    """The statements of a script in their order. Raises InvalidSyntax at the first that cannot be read."""
    script, entries = read_entries(text)
    return script, tuple(entry.statement for entry in entries)


def read_rewritten(rewriting: Rewriting) -> tuple[Script, tuple[Statement, ...]]:
    """The statements of a script in which parts are replaced; errors show it as it was written."""
    script, entries = _entries(read_script(rewriting.text, rewriting))
    return script, tuple(entry.statement for entry in entries)


def read_entries(text: str) -> tuple[Script, tuple[Entry, ...]]:
    """The same, each with the annotations above it."""
    return _entries(read_script(text))


def is_complete(text: str) -> bool:
    """Whether a text ends where a statement does: not in a quote, a comment, or a block of PARTITION WITH."""
    try:
        script = read_script(text)
    except InvalidSyntax:
        return False
    start, last = 0, len(script.tokens)
    while start < last:
        stop = _end_of_statement(script, start, last)
        if stop == last:
            return False
        start = stop + 1
    return last > 0


def _entries(script: Script) -> tuple[Script, tuple[Entry, ...]]:
    entries: list[Entry] = []
    end = 0
    for start, stop in _ranges(script, 0, len(script.tokens)):
        before = script.text[end : script.tokens[start].start]
        entries.append(Entry(_statement(_cursor(script, start, stop)), annotations_in(before)))
        end = script.tokens[stop - 1].end + 1
    return script, tuple(entries)


def _cursor(script: Script, start: int, stop: int) -> Cursor:
    return Cursor(script, start, stop, read_query)


def _ranges(script: Script, first: int, last: int) -> list[tuple[int, int]]:
    """Token ranges between semicolons, empty ones left out. Those between BEGIN and END belong to their PARTITION."""
    found: list[tuple[int, int]] = []
    start = first
    while start < last:
        stop = _end_of_statement(script, start, last)
        if stop > start:
            found.append((start, stop))
        start = stop + 1
    return found


def _end_of_statement(script: Script, start: int, last: int) -> int:
    is_block = Cursor(script, start, last).at("PARTITION", "WITH")
    depth = 0
    for index in range(start, last):
        kind = script.tokens[index].token_type
        if kind is TokenType.SEMICOLON and depth == 0:
            return index
        if is_block and (kind is TokenType.CASE or _opens_block(script, index)):
            depth += 1
        elif is_block and kind is TokenType.END:
            depth -= 1
    return last


def _opens_block(script: Script, index: int) -> bool:
    """Not the BEGIN of DEPLOY PIPELINE p BEGIN LATEST, which no END follows."""
    before = script.tokens[index - 1].token_type if index else None
    return script.tokens[index].token_type is TokenType.BEGIN and before is TokenType.R_PAREN


def _statement(cursor: Cursor) -> Statement:
    if cursor.accept("CREATE"):
        return _create(cursor)
    if cursor.accept("INSERT"):
        return _insert(cursor)
    if cursor.accept("UPSERT"):
        return _upsert(cursor)
    if cursor.accept("UPDATE"):
        return _update(cursor)
    if cursor.accept("DELETE"):
        return _delete(cursor)
    if cursor.at("PARTITION", "WITH"):
        return _partition(cursor)
    if cursor.at("SELECT") or cursor.at("WITH"):
        return Ask(cursor.query(), cursor.since(cursor.start))
    if any(cursor.at(word) for word in OPERATIONS):
        return read_operation(cursor, _statement)
    raise _refusal(cursor)


def _create(cursor: Cursor) -> Statement:
    if cursor.at("OR", "REPLACE"):
        saved = "leave it out: saving a script makes a new version of its pipeline"
        raise cursor.script.error("CREATE OR REPLACE is not supported", cursor.here(), hint=saved)
    if cursor.at("IF", "NOT", ahead=1):
        cursor.index += 1
        once = "leave it out: a script defines each name once"
        raise cursor.script.error("IF NOT EXISTS is not supported", cursor.here(), hint=once)
    if cursor.accept("STREAM"):
        return _create_stream(cursor, is_table=False)
    if cursor.accept("TABLE"):
        return _create_stream(cursor, is_table=True)
    if cursor.accept("TRIGGER"):
        return _create_trigger(cursor)
    if cursor.accept("FUNCTION"):
        return _create_function(cursor)
    if cursor.accept("VIEW"):
        name = cursor.name("the name of a view")
        cursor.expect("AS")
        return CreateView(name, cursor.query(), cursor.since(cursor.start))
    if cursor.done():
        raise cursor.failure(*_CREATED)
    what = cursor.found().strip("'").upper()
    hint = CREATED.get(what) or did_you_mean(what, _CREATED)
    raise cursor.script.error(f"CREATE {what} is not supported", cursor.here(), valid=STATEMENTS, hint=hint)


def _create_stream(cursor: Cursor, *, is_table: bool) -> Create | CreateAs:
    name = cursor.name("the name of a table" if is_table else "the name of a stream")
    before_columns = cursor.here()
    columns, watermark = read_columns(cursor) if cursor.accept("(") else ((), None)
    options = read_options(cursor) if cursor.accept("WITH") else ()
    if not cursor.accept("AS"):
        _expect_end(cursor, "AS" if not columns else "WITH")
        return Create(is_table, name, columns, watermark, options, cursor.since(cursor.start))
    if columns or watermark:
        raise cursor.script.error("the columns come from the SELECT and cannot be listed as well", before_columns)
    return CreateAs(is_table, name, options, cursor.query(), cursor.since(cursor.start))


def _create_function(cursor: Cursor) -> CreateFunction:
    """`AS 'package.module:name'`, and `LANGUAGE PYTHON` where other engines want it."""
    name = cursor.name("the name of a function")
    cursor.expect("AS")
    start = cursor.index
    place = cursor.string()
    if place is None:
        raise cursor.failure("where the function is, in quotes: 'package.module:name' or 'file.py:name'")
    found = Name(place, cursor.since(start))
    if cursor.accept("LANGUAGE"):
        cursor.expect("PYTHON")
    _expect_end(cursor)
    return CreateFunction(name, found, cursor.since(cursor.start))


def _create_trigger(cursor: Cursor) -> CreateTrigger:
    """`AT EVERY 5 SECONDS`, `AT START`, `AT CRON '*/5 * * * *'`."""
    name = cursor.name("the name of a trigger")
    cursor.expect("AT")
    every = cron = None
    if cursor.accept("EVERY"):
        every = read_inline_duration(cursor)
    elif cursor.accept("CRON"):
        cron = cursor.string()
        if cron is None:
            raise cursor.failure("a schedule in quotes such as '*/5 * * * *'")
    elif not cursor.accept("START"):
        raise cursor.failure("EVERY", "CRON", "START")
    _expect_end(cursor)
    return CreateTrigger(name, every, cron, cursor.since(cursor.start))


def _insert(cursor: Cursor) -> Insert | InsertValues:
    events = _events(cursor)
    if not cursor.accept("INTO"):
        raise cursor.failure("INTO")
    target = cursor.name("the name of a stream")
    if events is None and (cursor.at("VALUES") or cursor.at("(")):
        return _values(cursor, target)
    return Insert(target, events, cursor.query(), cursor.since(cursor.start))


def _values(cursor: Cursor, target: Name) -> InsertValues:
    columns: tuple[Name, ...] = ()
    if cursor.accept("("):
        columns = cursor.names("the name of a column")
        cursor.expect(")")
    if cursor.at("SELECT") or cursor.at("WITH"):
        hint = "leave the list out: columns of the SELECT go where their names say, so rename them with AS"
        raise cursor.script.error("INSERT INTO … SELECT has no list of columns", columns[0].span, hint=hint)
    cursor.expect("VALUES")
    rows = cursor.several(_value_row)
    _expect_end(cursor, ",")
    return InsertValues(target, columns, rows, cursor.since(cursor.start))


def _value_row(cursor: Cursor) -> tuple[Expression, ...]:
    cursor.expect("(")
    values = cursor.several(read_expression)
    cursor.expect(")")
    return values


def _events(cursor: Cursor) -> Events | None:
    words: tuple[Events, ...] = ("all", "current", "expired")
    for word in words:
        if cursor.accept(word.upper()):
            cursor.expect("EVENTS")
            return word
    return None


def _upsert(cursor: Cursor) -> Upsert:
    cursor.expect("INTO")
    target = cursor.name("the name of a table")
    query = read_open_query(cursor, "ON")
    condition = read_expression(cursor) if cursor.accept("ON") else None
    _expect_end(cursor, "ON")
    return Upsert(target, query, condition, cursor.since(cursor.start))


def _update(cursor: Cursor) -> Update:
    target = cursor.name("the name of a table")
    cursor.expect("SET")
    assignments = cursor.several(_assignment)
    source = read_reference(cursor) if cursor.accept("FROM") else None
    if not cursor.accept("WHERE"):
        raise cursor.failure("WHERE", *(["FROM"] if source is None else []))
    condition = read_expression(cursor)
    _expect_end(cursor)
    return Update(target, assignments, source, condition, cursor.since(cursor.start))


def _assignment(cursor: Cursor) -> tuple[Name, Expression]:
    column = cursor.name("the name of a column")
    cursor.expect("=")
    return column, read_expression(cursor)


def _delete(cursor: Cursor) -> Delete:
    cursor.expect("FROM")
    target = cursor.name("the name of a table")
    source = read_reference(cursor) if cursor.accept("USING") else None
    if not cursor.accept("WHERE"):
        raise cursor.failure("WHERE", *(["USING"] if source is None else []))
    condition = read_expression(cursor)
    _expect_end(cursor)
    return Delete(target, source, condition, cursor.since(cursor.start))


def _partition(cursor: Cursor) -> Partition:
    cursor.expect("PARTITION", "WITH", "(")
    keys = cursor.several(_partition_key)
    cursor.expect(")", "BEGIN")
    first = cursor.index
    if not cursor.part(cursor.stop - 1, cursor.stop).at("END"):
        cursor.index = cursor.stop
        raise cursor.failure("END")
    statements = tuple(
        _inside_partition(_cursor(cursor.script, start, stop))
        for start, stop in _ranges(cursor.script, first, cursor.stop - 1)
    )
    cursor.index = cursor.stop
    return Partition(keys, statements, cursor.since(cursor.start))


def _inside_partition(cursor: Cursor) -> Statement:
    if cursor.at("PARTITION", "WITH"):
        raise cursor.script.error("a PARTITION cannot stand in another", cursor.here())
    return _statement(cursor)


def _partition_key(cursor: Cursor) -> PartitionKey:
    expression = read_expression(cursor)
    cursor.expect("OF")
    return PartitionKey(expression, cursor.name("the name of a stream"))


def _expect_end(cursor: Cursor, *others: str) -> None:
    if not cursor.done():
        raise cursor.failure(*others, ";")


def _refusal(cursor: Cursor) -> InvalidSyntax:
    word = cursor.script.slice(span_of(cursor.script.tokens[cursor.index])).upper().split()[0]
    known = word in _REFUSED
    message = f"{word} is not supported" if known else f"unknown statement {word}"
    hint = STATEMENT_POINTERS.get(word) or (None if known else did_you_mean(word, _WORDS))
    return cursor.script.error(message, cursor.here(), valid=STATEMENTS, hint=hint)
