"""What a start would make of a pipeline, in words: its queries, and the rules that spare them work."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace.graph.document import Node
from headrace.graph.validation import Validated
from headrace.operators import Catalogue
from headrace.operators.columns import used_columns_of
from headrace.operators.row_step import RowStep
from headrace.spark.direct import direct_query
from headrace.spark.placement import place
from headrace.spark.plan import QueryPlan, chain_of, plan_queries
from headrace.spark.pushdown import prefilter_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Spark sums up the rows of a task before it moves them by their keys.
_PARTIAL = frozenset({"aggregate", "tumbling-window", "sliding-window", "cumulate-window", "gap-window"})


def rules_of(validated: Validated, catalogue: Catalogue) -> list[str]:
    """A line for each query and, below it, one for each rule that fired. Raises InvalidInput for what cannot run."""
    plans = plan_queries(validated, catalogue)
    return [line for plan in plans for line in _Fired(plan, validated, catalogue).lines()]


def plan_text(frame: DataFrame) -> str:
    """How Spark would run a frame: its operators, and what each reads and makes."""
    classic: Any = frame
    return str(classic._sc._jvm.PythonSQLUtils.explainString(classic._jdf.queryExecution(), "formatted")).strip()


@dataclass(frozen=True, slots=True)
class _Fired:
    """The rules of one query."""

    plan: QueryPlan
    validated: Validated
    catalogue: Catalogue

    def lines(self) -> Iterator[str]:
        plan = self.plan
        sinks = ", ".join(branch.sink.id for branch in plan.branches)
        yield f"query {plan.name}: {', '.join(source.id for source in plan.sources)} → {sinks or 'dead letters'}"
        for rule in (*self._scan(), *self._direct(), *self._sources(), *self._chain(), *self._nodes()):
            yield f"  {rule}"

    def _scan(self) -> Iterator[str]:
        if len(self.plan.branches) > 1:
            yield f"one scan: {len(self.plan.branches)} sinks share one pass over {self.plan.base.id}"

    def _direct(self) -> Iterator[str]:
        plan = self.plan
        if plan.source.operator != "topic":
            return
        schema = self.validated.schemas[plan.source.id].keep(self._read(plan.source))
        letters = getattr(self.validated.configs[plan.source.id], "dead_letter", None)
        if direct_query(plan, schema, letters, self.catalogue) is not None:
            does = "filters, computes, encodes and stages"
            yield f"direct: the reader of {plan.source.id} {does}; no row passes Spark's plan"

    def _sources(self) -> Iterator[str]:
        for source in self.plan.sources:
            schema, read = self.validated.schemas[source.id], self._read(source)
            if source.operator == "topic" and len(schema.keep(read)) < len(schema):
                yield f"fields: {len(schema.keep(read))} of {len(schema)} columns of {source.id} are decoded"
            conditions = [self._condition(node, source) for node in self._followers(source)]
            if source.operator == "topic" and prefilter_of(conditions, schema) is not None:
                told = " or ".join(str(condition) for condition in dict.fromkeys(conditions))
                yield f"filter at the reader: of {source.id} only rows that may fulfil {told}"

    def _chain(self) -> Iterator[str]:
        chain = chain_of(self.plan, self.validated, self.catalogue)
        if chain is not None:
            names = " → ".join(node.id for node in chain.nodes)
            yield f"chain: {names}, {place(self.plan, chain, self.catalogue)}"
            if chain.partitioning(self.catalogue) is None and chain.is_stateful(self.catalogue):
                yield "no shuffle: the topic is partitioned by the key"

    def _nodes(self) -> Iterator[str]:
        for node in self.plan.chain:
            config = self.validated.configs[node.id]
            if node.operator in _PARTIAL:
                yield f"partial aggregation: {node.id} sums up the rows of a task before they are moved"
            if node.operator == "lookup-join" and config.spread == "whole":
                yield f"broadcast: every task of {node.id} gets the table"
            if node.operator == "join" and config.window is None:
                before, after = config.before or "0 seconds", config.after or "0 seconds"
                yield f"bounded state: {node.id} keeps rows for {before} before and {after} after"

    def _read(self, source: Node) -> frozenset[str]:
        return used_columns_of(self.validated, self.catalogue)[source.id]

    def _followers(self, source: Node) -> list[Node | None]:
        plan = self.plan
        return list(plan.followers_of(source)) if plan.chained else [branch.first_node for branch in plan.branches]

    def _condition(self, node: Node | None, before: Node) -> str | None:
        if node is None:
            return None
        step: RowStep | None = self.catalogue.get(node.operator).row_step(
            self.validated.configs[node.id], self.validated.schemas[before.id]
        )
        return None if step is None else step.condition
