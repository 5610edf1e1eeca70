"""Scripts that ask or steer instead of defining a pipeline: SELECT, SHOW, EXPLAIN, START PIPELINE and their kin."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.sql.language import print_statement, read_statements
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
from headrace.sql.language.variables import expand

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


@dataclass(frozen=True, slots=True)
class Request:
    """One operation, and the definitions before it, which a SELECT and an EXPLAIN may refer to."""

    operation: Ask | Create | InsertValues | Update | Delete | Show | Describe | Drop | Explain | PipelineAction
    definitions: str

    @property
    def explained_sql(self) -> str:
        """The pipeline that an EXPLAIN of a statement is about."""
        explained = self.operation.of if isinstance(self.operation, Explain) else None
        if explained is None or isinstance(explained, Name):
            return self.definitions
        return f"{self.definitions}\n{_text(explained)}"


def read_requests(sql: str) -> tuple[Request, ...]:
    """The operations of a script; none if it defines a pipeline. Raises InvalidSyntax as `parse` does.

    CREATE TABLE alone declares tables for everybody. Variables in the script have their defaults.
    """
    _, statements = read_statements(expand(sql, {}))
    if statements and all(isinstance(statement, Create) and statement.is_table for statement in statements):
        return tuple(Request(statement, "") for statement in statements if isinstance(statement, Create))
    requests: list[Request] = []
    definitions: list[str] = []
    for statement in statements:
        match statement:
            case Ask() | InsertValues() | Show() | Describe() | Drop() | Explain() | PipelineAction():
                requests.append(Request(statement, "\n".join(definitions)))
            case Update(source=None) | Delete(source=None):
                requests.append(Request(statement, "\n".join(definitions)))
            case _:
                definitions.append(_text(statement))
    return tuple(requests)


def _text(statement: Statement) -> str:
    return f"{print_statement(statement)};"
