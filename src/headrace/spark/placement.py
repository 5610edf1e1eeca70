"""Where a query's chain runs: as near to the log's files as it can, for every hop through the JVM costs a copy by row.

| rows come in | |
|---|---|
| `reader` | the chain runs where the topic is read: its lanes are the topic's partitions |
| `packets` | it needs rows by key: the reader packs them by lane, Spark moves the packets |
| `rows` | Spark's own plan comes before it, and hands over rows |

Filters and plain columns before the chain are no reason for Spark's plan where the reader can do them (`chain_ways`).

| rows go out | |
|---|---|
| `writer` | every sink takes columns as they leave the chain: they are staged in the same task |
| `rows` | filters, selects or text formats follow: Spark's own plan takes the rows over |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from headrace.graph.validation import Validated
from headrace.operators import Catalogue
from headrace.operators.serial_chain import ChainPlan
from headrace.spark.chain_ways import way_of
from headrace.spark.outputs import takes_columns
from headrace.spark.plan import QueryPlan

WayIn = Literal["reader", "packets", "rows"]
WayOut = Literal["writer", "rows"]


@dataclass(frozen=True, slots=True)
class Placement:
    """The ways into and out of a chain, each with its reason."""

    way_in: WayIn
    way_out: WayOut
    because: tuple[str, str]

    def __str__(self) -> str:
        return f"in by {self.way_in} ({self.because[0]}), out by {self.way_out} ({self.because[1]})"


def place(plan: QueryPlan, chain: ChainPlan, validated: Validated, catalogue: Catalogue) -> Placement:
    """The same for the same plan: it changes nothing about the rows, only where the work is done."""
    way_in, why_in = _way_in(plan, chain, validated, catalogue)
    way_out, why_out = _way_out(plan, catalogue)
    return Placement(way_in, way_out, (why_in, why_out))


def _way_in(plan: QueryPlan, chain: ChainPlan, validated: Validated, catalogue: Catalogue) -> tuple[WayIn, str]:
    topics: list[str] = []
    for before in (plan.node(one.source) for one in chain.inputs):
        way = way_of(before.id, validated, catalogue)
        if way is None and plan.inputs_of(before):
            return "rows", f"{before.operator} comes first, in Spark's plan"
        if way is None:
            return "rows", f"the source {before.operator} is Spark's own"
        topics.append(way.topic)
    partitioning = chain.partitioning(catalogue)
    if partitioning is not None:
        return "packets", f"lanes are by {partitioning}"
    if len(set(topics)) < len(topics):
        return "rows", "a topic has several ways into the chain"
    return "reader", "lanes are the topic's partitions"


def _way_out(plan: QueryPlan, catalogue: Catalogue) -> tuple[WayOut, str]:
    for branch in plan.branches:
        if branch.steps:
            return "rows", f"{branch.steps[0][0].operator} follows, in Spark's plan"
        if not takes_columns(branch.sink, catalogue):
            return "rows", f"Spark writes the text for {branch.sink.operator}"
    return "writer", "sinks take columns"
