"""What statements such as SELECT and SHOW PIPELINES answer."""

from __future__ import annotations

from typing import Any

from headrace.server.models.base import Model
from headrace.server.models.details import ProblemDetails


class StatementView(Model):
    """A small table; `statement` is the one that it answers, in the one notation."""

    statement: str
    columns: list[str]
    rows: list[list[str | int | float | bool | None]]


class LookLine(Model):
    """What one line of a look may have. `keys` name the row that a later one takes the place of; null: rows stay."""

    columns: list[str] | None = None
    keys: list[str] | None = None
    rows: list[dict[str, Any]] | None = None
    error: ProblemDetails | None = None


class StatementList(Model):
    results: list[StatementView]
