"""A query as rules look at it: its plan, and what is known of its nodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from headrace.graph.document import Node
from headrace.graph.schema import Schema
from headrace.graph.validation import Validated
from headrace.operators import Catalogue
from headrace.operators.columns import used_columns_of
from headrace.operators.serial_chain import ChainPlan
from headrace.spark.planning.placement import Placement, place
from headrace.spark.planning.plan import QueryPlan
from headrace.spark.planning.query_chain import chain_of


@dataclass(frozen=True, slots=True)
class PlannedQuery:
    plan: QueryPlan
    validated: Validated
    catalogue: Catalogue

    @property
    def topics(self) -> Iterator[Node]:
        """The sources that are topics: others read themselves."""
        yield from (source for source in self.plan.sources if source.operator == "topic")

    @property
    def chain(self) -> ChainPlan | None:
        """Its serial operators, if it has any."""
        return chain_of(self.plan, self.validated, self.catalogue)

    @property
    def placement(self) -> Placement | None:
        """Where its chain runs, if it has one."""
        chain = self.chain
        return None if chain is None else place(self.plan, chain, self.validated, self.catalogue)

    def config(self, node: Node) -> Any:
        return self.validated.configs[node.id]

    def schema(self, node: Node) -> Schema:
        return self.validated.schemas[node.id]

    def decoded(self, source: Node) -> Schema:
        """The columns of a topic that the pipeline uses."""
        return self.schema(source).keep(used_columns_of(self.validated, self.catalogue)[source.id])
