"""Where a query stands in a script, and the rows that stand behind its FROM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from headrace.sql.assembly import Output
from headrace.sql.language.tree import Name
from headrace.sql.steps import Names


@dataclass(frozen=True, slots=True)
class Place:
    """Where a query stands: what its nodes are named after, what it may read beside the streams, and what to mark."""

    base: str
    name: Name
    tables: Mapping[str, Output]

    def inside(self, part: str) -> Place:
        return replace(self, base=f"{self.base}_{part}")


@dataclass(frozen=True, slots=True)
class Rows:
    """What stands behind FROM: an output, and how the query names its columns."""

    output: Output
    names: Names
