"""Serial operators run as one chain, as near to the reader and the writer as can be (`spark/planning/placement.py`)."""

from __future__ import annotations

from collections.abc import Iterator

from headrace.spark.planning.rules.query import PlannedQuery


def fired(query: PlannedQuery) -> Iterator[str]:
    chain = query.chain
    if chain is not None:
        names = " → ".join(node.id for node in chain.nodes)
        yield f"chain: {names}, {query.placement}"
