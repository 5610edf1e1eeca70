"""What a suite found: one figure of ours and of each peer for every item. All suites share this form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

HIGHER_IS_BETTER: Final = frozenset({"rows/s", "records/s", "requests/s", "MB/s", "frames/s", "events/CPU-s"})
DIGITS: Final = 4


@dataclass(frozen=True, slots=True)
class Result:
    """A peer that could not run is not in `peers`."""

    name: str
    unit: str
    ours: float
    peers: Mapping[str, float] = field(default_factory=dict)
    note: str = ""
    """The figure in other words, for the table."""

    @property
    def ratio(self) -> dict[str, float]:
        """Above 1, ours is better."""
        if self.unit in HIGHER_IS_BETTER:
            return {peer: self.ours / figure for peer, figure in self.peers.items()}
        return {peer: figure / self.ours for peer, figure in self.peers.items()}

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "unit": self.unit,
            "ours": rounded(self.ours),
            "peers": {peer: rounded(figure) for peer, figure in self.peers.items()},
            "ratio": {peer: rounded(ratio) for peer, ratio in self.ratio.items()},
        }


@dataclass(frozen=True, slots=True)
class Report:
    suite: str
    results: tuple[Result, ...]

    @property
    def peers(self) -> tuple[str, ...]:
        """In the order in which they first appear."""
        return tuple(dict.fromkeys(peer for result in self.results for peer in result.peers))

    def to_dict(self) -> dict[str, Any]:
        return {"suite": self.suite, "results": [result.to_dict() for result in self.results]}

    def to_json(self) -> str:
        return json.dumps(self.to_dict())

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Column names and rows for people; the ratio stands behind each peer's figure."""
        columns = ["item", "unit", "ours", *self.peers]
        rows = [[r.name, r.unit, shown(r.ours), *(_cell(r, peer) for peer in self.peers)] for r in self.results]
        if not any(result.note for result in self.results):
            return columns, rows
        return [*columns, "ours as"], [[*row, result.note] for row, result in zip(rows, self.results, strict=True)]


def rounded(figure: float) -> float:
    return float(f"{figure:.{DIGITS}g}")


def shown(figure: float) -> str:
    return f"{rounded(figure):,.10g}"


def _cell(result: Result, peer: str) -> str:
    if peer not in result.peers:
        return "–"
    return f"{shown(result.peers[peer])} (× {result.ratio[peer]:.2f})"
