"""Scripts that ask or steer instead of defining a pipeline: SELECT, SHOW, EXPLAIN, START PIPELINE and their kin."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeGuard

from headrace.errors import Place
from headrace.sql.language import read_statements
from headrace.sql.language.script import Span
from headrace.sql.language.statement_tree import (
    Ask,
    Create,
    Delete,
    Describe,
    Drop,
    Explain,
    InsertValues,
    PipelineAction,
    Show,
    Statement,
    Update,
)
from headrace.sql.language.tree import Name
from headrace.sql.language.variables import escape, expand

__all__ = [
    "Ask",
    "Create",
    "Delete",
    "Describe",
    "Drop",
    "Explain",
    "InsertValues",
    "PipelineAction",
    "Request",
    "Show",
    "Update",
    "read_requests",
]


_Operation: TypeAlias = (
    Ask | Create | InsertValues | Update | Delete | Show | Describe | Drop | Explain | PipelineAction
)


@dataclass(frozen=True, slots=True)
class Request:
    """One operation, and the definitions before it, which a SELECT and an EXPLAIN may refer to.

    `explained_sql` is the pipeline that an EXPLAIN of a statement is about. All that is left out of the `script` is
    blank there, so that faults have their place in the script.
    """

    operation: _Operation
    definitions: str = ""
    explained_sql: str = ""
    script: str = ""

    def in_script(self, place: Place | None) -> Place | None:
        """A place of the blanked text, shown in what was written."""
        return None if place is None else replace(place, text=self.script)


def read_requests(sql: str) -> tuple[Request, ...]:
    """The operations of a script; none if it defines a pipeline. Raises InvalidSyntax as `parse` does.

    CREATE TABLE alone declares tables for everybody. Variables in the script have their defaults.
    """
    script, statements = read_statements(expand(sql, {}))
    if statements and all(isinstance(statement, Create) and statement.is_table for statement in statements):
        return tuple(Request(statement) for statement in statements if isinstance(statement, Create))
    requests: list[Request] = []
    definitions: list[Span] = []
    end = 0
    for statement in statements:
        before, end = Span(end, statement.span.start), statement.span.end
        if _is_operation(statement):
            explained = [*definitions, before, *_explained(statement)]
            parts = (_only(script.text, definitions), _only(script.text, explained))
            requests.append(Request(statement, *parts, script.text))
        else:
            definitions += [before, statement.span]
    return tuple(requests)


def _is_operation(statement: Statement) -> TypeGuard[_Operation]:
    match statement:
        case Ask() | InsertValues() | Show() | Describe() | Drop() | Explain() | PipelineAction():
            return True
        case Update(source=None) | Delete(source=None):
            return True
        case _:
            return False


def _explained(statement: _Operation) -> list[Span]:
    if not isinstance(statement, Explain) or isinstance(statement.of, Name):
        return []
    return [statement.of.span]


def _only(text: str, kept: list[Span]) -> str:
    """The parts that are kept, where they stand; nothing if there are none."""
    shown, end = [], 0
    for span in kept:
        shown += [_blank(text[end : span.start]), text[span.start : span.end]]
        end = span.end
    return escape("".join(shown))


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)
