"""A pipeline document, its layout, its notations and its faults."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

from pydantic import Field, field_validator

from headrace.server.models.base import Model
from headrace.server.models.problems import ProblemView

CONFIG_DEPTH_MAX: Final = 32
NODES_MAX: Final = 2_000
EDGES_MAX: Final = 4_000


class NodeModel(Model):
    id: str
    operator: str
    config: dict[str, Any] = Field(default_factory=dict)

    @field_validator("config")
    @classmethod
    def _is_shallow(cls, config: dict[str, Any]) -> dict[str, Any]:
        level: list[Any] = [config]
        for _ in range(CONFIG_DEPTH_MAX):
            level = [item for value in level for item in _inside(value)]
            if not level:
                return config
        raise ValueError(f"a setting is nested deeper than {CONFIG_DEPTH_MAX}")


class EdgeModel(Model):
    source: str
    target: str
    source_port: str = "out"
    target_port: str = "in"


class DocumentModel(Model):
    """A pipeline: format, name, nodes and edges. `format`, `config` and the ports may be left out of a request."""

    format: Literal[1] = 1
    name: str
    nodes: list[NodeModel] = Field(max_length=NODES_MAX)
    edges: list[EdgeModel] = Field(max_length=EDGES_MAX)


class Position(Model):
    x: float = Field(allow_inf_nan=False)
    y: float = Field(allow_inf_nan=False)


LayoutModel: TypeAlias = dict[str, Position]


class ColumnView(Model):
    name: str
    type: str


class SchemaView(Model):
    columns: list[ColumnView]


class Notations(Model):
    """The same pipeline in each notation; null where it cannot be said in one, and then `reasons` says why."""

    sql: str | None
    text: str | None
    python: str | None
    reasons: dict[str, str]


class CheckView(Model):
    """What can be told of a pipeline without running it. `schemas` has the nodes whose columns are known."""

    document: DocumentModel
    problems: list[ProblemView]
    schemas: dict[str, SchemaView]
    notations: Notations


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
