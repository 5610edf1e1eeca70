"""Projection into the source: only the fields that a pipeline uses are parsed (`operators/columns.py`)."""

from __future__ import annotations

from collections.abc import Iterator

from headrace.spark.planning.rules.query import PlannedQuery


def fired(query: PlannedQuery) -> Iterator[str]:
    for source in query.topics:
        decoded, declared = len(query.decoded(source)), len(query.schema(source))
        if decoded < declared:
            yield f"fields: {decoded} of {declared} columns of {source.id} are decoded"
