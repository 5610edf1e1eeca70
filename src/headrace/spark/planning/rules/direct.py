"""Only filters and columns that Arrow handles just as Spark does: the reader does all (`spark/planning/direct.py`)."""

from __future__ import annotations

from collections.abc import Iterator

from headrace.spark.planning.direct import direct_query
from headrace.spark.planning.rules.query import PlannedQuery


def fired(query: PlannedQuery) -> Iterator[str]:
    plan, source = query.plan, query.plan.source
    if source.operator != "topic":
        return
    letters = getattr(query.config(source), "dead_letter", None)
    if direct_query(plan, query.decoded(source), letters, query.catalogue) is not None:
        yield f"direct: the reader of {source.id} filters, computes, encodes and stages; no row passes Spark's plan"
