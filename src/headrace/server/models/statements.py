"""What statements such as SELECT and SHOW PIPELINES answer."""

from __future__ import annotations

from headrace.server.models.base import Model


class StatementView(Model):
    """A small table; `statement` is the one that it answers, in the one notation."""

    statement: str
    columns: list[str]
    rows: list[list[str | int | float | bool | None]]


class StatementList(Model):
    results: list[StatementView]
