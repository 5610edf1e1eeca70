"""Where nodes stand on the canvas: kept beside a document, never in it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from headrace.errors import InvalidInput
from headrace.graph.document import Json, canonical_json


@dataclass(frozen=True, slots=True)
class Layout:
    """Node id → (x, y). Nodes that are not in it are placed by the editor."""

    positions: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not all(math.isfinite(x) and math.isfinite(y) for x, y in self.positions.values()):
            raise InvalidInput("a position in a layout must be two finite numbers")
        object.__setattr__(self, "positions", MappingProxyType(dict(self.positions)))

    def to_dict(self) -> dict[str, Json]:
        return {node_id: [x, y] for node_id, (x, y) in self.positions.items()}

    def to_json(self) -> str:
        return canonical_json(self.to_dict())

    @classmethod
    def from_dict(cls, value: Json) -> Layout:
        """Raises InvalidInput unless it is an object of `id: [x, y]`."""
        if not isinstance(value, dict):
            raise InvalidInput(f"a layout must be an object, not {type(value).__name__}")
        return cls({node_id: _position(node_id, pair) for node_id, pair in value.items()})

    @classmethod
    def from_json(cls, text: str) -> Layout:
        try:
            return cls.from_dict(json.loads(text))
        except (json.JSONDecodeError, RecursionError) as error:
            raise InvalidInput(f"a layout that is no JSON: {error}") from error


def _position(node_id: str, pair: Json) -> tuple[float, float]:
    match pair:
        case [int() | float() as x, int() | float() as y]:
            return float(x), float(y)
    raise InvalidInput(f"the position of {node_id!r} in a layout must be [x, y]")
