"""The operator catalogue."""

from __future__ import annotations

from typing import Any, Literal

from headrace.server.models.base import Model

OperatorKind = Literal["source", "relational", "serial", "sink"]


class PortView(Model):
    name: str
    summary: str
    required: bool


class OperatorView(Model):
    """`settings` is the JSON schema of the config: title, description, default, enum, and `format` as a form's hint."""

    name: str
    title: str
    summary: str
    kind: OperatorKind
    stateful: bool
    inputs: list[PortView]
    outputs: list[PortView]
    guarantees: str
    example: str
    positional: str | None
    settings: dict[str, Any]


class OperatorList(Model):
    """`problems`: one sentence for each plugin that could not be loaded."""

    operators: list[OperatorView]
    problems: list[str]
