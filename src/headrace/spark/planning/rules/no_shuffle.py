"""Where a topic is partitioned by the key, state lies with its partitions and no row is moved."""

from __future__ import annotations

from collections.abc import Iterator

from headrace.spark.planning.rules.query import PlannedQuery


def fired(query: PlannedQuery) -> Iterator[str]:
    chain = query.chain
    if chain is not None and chain.partitioning(query.catalogue) is None and chain.is_stateful(query.catalogue):
        yield "no shuffle: the topic is partitioned by the key"
