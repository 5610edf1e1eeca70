"""Statements about what is there: SHOW, DESCRIBE, EXPLAIN, and those that start and stop pipelines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from headrace.errors import did_you_mean
from headrace.sql.language.cursor import Cursor
from headrace.sql.language.statement_tree import (
    Action,
    Begin,
    Describe,
    Drop,
    Explain,
    ExplainWhat,
    Operation,
    PipelineAction,
    Show,
    ShowWhat,
    Statement,
)

_ACTIONS: Final[tuple[Action, ...]] = ("start", "stop", "pause", "resume", "deploy", "rollback")
_SHOWN: Final[tuple[ShowWhat, ...]] = ("streams", "tables", "topics", "functions", "pipelines", "partitions", "schema")
_NEED_NAME: Final[tuple[ShowWhat, ...]] = ("partitions", "schema")
OPERATIONS: Final = ("SHOW", "DESCRIBE", "DROP", "EXPLAIN", *(action.upper() for action in _ACTIONS))


def read_operation(cursor: Cursor, read_statement: Callable[[Cursor], Statement]) -> Operation:
    """Called at one of the words of OPERATIONS. Raises InvalidSyntax where it is incomplete or goes on."""
    operation = _operation(cursor, read_statement)
    if not cursor.done():
        raise cursor.failure(";")
    return operation


def _operation(cursor: Cursor, read_statement: Callable[[Cursor], Statement]) -> Operation:
    if cursor.accept("SHOW"):
        return _show(cursor)
    if cursor.accept("DESCRIBE"):
        return Describe(cursor.name("a name"), cursor.since(cursor.start))
    if cursor.accept("DROP"):
        return _drop(cursor)
    if cursor.accept("EXPLAIN"):
        return _explain(cursor, read_statement)
    return _pipeline_action(cursor)


def _show(cursor: Cursor) -> Show:
    for what in _SHOWN:
        if cursor.accept(what.upper()):
            of = cursor.name("a name") if what in _NEED_NAME else None
            return Show(what, of, cursor.since(cursor.start))
    valid = tuple(what.upper() for what in _SHOWN)
    hint = did_you_mean(cursor.found().strip("'").upper(), valid)
    raise cursor.script.error(f"SHOW does not know {cursor.found()}", cursor.here(), valid=valid, hint=hint)


def _drop(cursor: Cursor) -> Drop:
    if not cursor.accept("TABLE"):
        hint = "streams and views belong to their pipelines: save a version without them"
        raise cursor.script.error("DROP is for tables", cursor.here(), valid=("DROP TABLE name",), hint=hint)
    return Drop(cursor.name("the name of a table"), cursor.since(cursor.start))


def _explain(cursor: Cursor, read_statement: Callable[[Cursor], Statement]) -> Explain:
    what: ExplainWhat = "plan" if cursor.accept("PLAN") else "change" if cursor.accept("CHANGE") else "graph"
    if cursor.accept("PIPELINE"):
        return Explain(what, cursor.name("the name of a pipeline"), cursor.since(cursor.start))
    if cursor.done():
        raise cursor.failure("a statement", "PIPELINE")
    statement = read_statement(cursor.part(cursor.index, cursor.stop))
    cursor.index = cursor.stop
    return Explain(what, statement, cursor.since(cursor.start))


def _pipeline_action(cursor: Cursor) -> PipelineAction:
    action = next(action for action in _ACTIONS if cursor.accept(action.upper()))
    cursor.expect("PIPELINE")
    name = cursor.name("the name of a pipeline")
    version = None
    if action == "deploy":
        version = _version(cursor) if cursor.accept("VERSION") else None
    elif action == "rollback" and cursor.accept("TO"):
        cursor.expect("VERSION")
        version = _version(cursor)
    starts = action in ("start", "deploy", "rollback")
    begin = _begin(cursor) if starts and cursor.accept("BEGIN") else None
    return PipelineAction(action, name, version, begin, cursor.since(cursor.start))


def _begin(cursor: Cursor) -> Begin:
    if cursor.accept("LAST"):
        cursor.expect("COMMIT")
        return "last-commit"
    if cursor.accept("LATEST"):
        return "latest"
    if cursor.accept("EARLIEST"):
        return "earliest"
    raise cursor.failure("LATEST", "LAST COMMIT", "EARLIEST")


def _version(cursor: Cursor) -> int:
    return cursor.integer("the number of a version")
