"""A table that rows are looked up in goes to every task whole, unless it is spread by key."""

from __future__ import annotations

from collections.abc import Iterator

from headrace.spark.planning.rules.query import PlannedQuery


def fired(query: PlannedQuery) -> Iterator[str]:
    for node in query.plan.chain:
        if node.operator == "lookup-join" and query.config(node).spread == "whole":
            yield f"broadcast: every task of {node.id} gets the table"
