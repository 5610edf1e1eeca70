"""What an operator sees of a signal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Signal:
    """An event that is no row: it stands at one place between the rows. `target` is a node, or None for all.

    `kind` is one of `headrace.signals.KINDS`.
    """

    id: str
    kind: str
    target: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
