"""Where a query's chain runs: as near to the log's files as it can, for every hop through the JVM costs a copy by row.

| rows come in | |
|---|---|
| `reader` | the chain runs where the topic is read: its lanes are the topic's partitions |
| `packets` | it needs rows by key: the reader packs them by lane, Spark moves the packets |
| `rows` | Spark's own plan comes before it, and hands over rows |

Filters and plain columns before the chain are no reason for Spark's plan where the reader can do them (`chain_ways`).

| rows go out | |
|---|---|
| `writer` | the task that runs the chain goes on up to the sinks: filters, selects, encoding (`branches`) |
| `rows` | something follows that Spark alone does exactly: its own plan takes the rows over |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from headrace.graph.schema import UNKNOWN, Column, Schema
from headrace.graph.validation import Validated
from headrace.operators import Catalogue
from headrace.operators.serial_chain import ChainPlan
from headrace.spark.planning.branches import OnlySpark, Shaped, shaped
from headrace.spark.planning.plan import QueryPlan
from headrace.spark.planning.retractions import retractions_of
from headrace.spark.planning.ways import way_of

WayIn = Literal["reader", "packets", "rows"]
WayOut = Literal["writer", "rows"]


@dataclass(frozen=True, slots=True)
class Placement:
    """The ways into and out of a chain, each with its reason; and what its tasks do for the sinks, where rows go out by
    the writer."""

    way_in: WayIn
    because: tuple[str, str]
    shaped: Shaped | None = None

    @property
    def way_out(self) -> WayOut:
        return "rows" if self.shaped is None else "writer"

    def __str__(self) -> str:
        return f"in by {self.way_in} ({self.because[0]}), out by {self.way_out} ({self.because[1]})"


def place(plan: QueryPlan, chain: ChainPlan, validated: Validated, catalogue: Catalogue) -> Placement:
    """The same for the same plan: it changes nothing about the rows, only where the work is done."""
    way_in, why_in = _way_in(plan, chain, validated, catalogue)
    try:
        found = shaped(
            plan.branches,
            _leaving(plan, chain, validated, catalogue),
            catalogue,
            retractions=retractions_of(plan, validated, catalogue),
        )
    except OnlySpark as why_out:
        return Placement(way_in, (why_in, str(why_out)))
    return Placement(way_in, (why_in, "its tasks make what sinks take"), found)


def _way_in(plan: QueryPlan, chain: ChainPlan, validated: Validated, catalogue: Catalogue) -> tuple[WayIn, str]:
    topics: list[str] = []
    for before in (plan.node(one.source) for one in chain.inputs):
        way = way_of(before.id, validated, catalogue)
        if way is None and plan.inputs_of(before):
            return "rows", f"{before.operator} comes first, in Spark's plan"
        if way is None:
            return "rows", f"the source {before.operator} is Spark's own"
        topics.append(way.topic)
    lanes = [stage.partitioning for stage in chain.stages(catalogue)]
    if None not in lanes:
        return "packets", f"lanes are by {', then by '.join(map(str, lanes))}"
    if len(set(topics)) < len(topics):
        return "rows", "a topic has several ways into the chain"
    return "reader", "lanes are the topic's partitions"


def _leaving(plan: QueryPlan, chain: ChainPlan, validated: Validated, catalogue: Catalogue) -> Schema:
    """The columns of rows behind the chain: of those that can only be named just the ones that leave it."""
    schema, leaving = validated.schemas[plan.base.id], chain.output_schema(catalogue).carried.names
    if any(column.type == UNKNOWN for one in chain.inputs for column in one.schema):
        # Spark tells the types that come in when it has looked at its plan; those that leave may follow from them.
        return Schema(tuple(Column(name, UNKNOWN) for name in schema.names))
    return Schema(schema.columns, tuple(column for column in schema.hidden if column.name in leaving))
