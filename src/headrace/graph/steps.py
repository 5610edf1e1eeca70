"""What the Python builder's groups of methods stand on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Literal, TypeAlias

from headrace.graph.document import Json

if TYPE_CHECKING:
    from headrace.graph.builder import Stream

Emit: TypeAlias = Literal["final", "changes"]


class Steps(ABC):
    @abstractmethod
    def then(self, operator: str, /, *, id: str | None = None, **config: Json) -> Stream:
        """Adds any operator of the catalogue by its name: the way to use plugins."""
