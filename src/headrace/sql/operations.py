"""Scripts that ask or steer instead of defining a pipeline: SHOW, DESCRIBE, EXPLAIN, START PIPELINE and their kin."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.sql.language import print_statement, read_statements
from headrace.sql.language.statement_tree import (
    Describe,
    Explain,
    PipelineAction,
    Show,
    Statement,
)
from headrace.sql.language.tree import Name
from headrace.sql.language.variables import expand

__all__ = ["Describe", "Explain", "PipelineAction", "Request", "Show", "read_requests"]


@dataclass(frozen=True, slots=True)
class Request:
    """One operation, and the definitions before it, which an EXPLAIN may refer to."""

    operation: Show | Describe | Explain | PipelineAction
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

    Variables in it have their defaults.
    """
    _, statements = read_statements(expand(sql, {}))
    requests: list[Request] = []
    definitions: list[str] = []
    for statement in statements:
        if isinstance(statement, Show | Describe | Explain | PipelineAction):
            requests.append(Request(statement, "\n".join(definitions)))
        else:
            definitions.append(_text(statement))
    return tuple(requests)


def _text(statement: Statement) -> str:
    return f"{print_statement(statement)};"
