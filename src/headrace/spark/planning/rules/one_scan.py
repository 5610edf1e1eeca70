"""Sinks behind one node share one pass over its rows (`spark/planning/wide.py`)."""

from __future__ import annotations

from collections.abc import Iterator

from headrace.spark.planning.rules.query import PlannedQuery


def fired(query: PlannedQuery) -> Iterator[str]:
    plan = query.plan
    if len(plan.branches) > 1:
        yield f"one scan: {len(plan.branches)} sinks share one pass over {plan.base.id}"
