"""Spark sums up the rows of a task before it moves them by their keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from headrace.spark.planning.rules.query import PlannedQuery

_OPERATORS: Final = frozenset({"aggregate", "tumbling-window", "sliding-window", "cumulate-window", "gap-window"})


def fired(query: PlannedQuery) -> Iterator[str]:
    for node in query.plan.chain:
        if node.operator in _OPERATORS and node.id not in query.plan.in_chain:
            yield f"partial aggregation: {node.id} sums up the rows of a task before they are moved"
