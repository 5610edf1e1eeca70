"""What a start would make of a pipeline, in words: its queries, and the rules that spare them work.

Each rule is a file, which tells where it fires; what it does stands in the module that it names. A golden case of the
same name shows it: tests/spark/planning/rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from headrace.graph.validation import Validated
from headrace.operators import Catalogue
from headrace.spark.planning.queries import plan_queries
from headrace.spark.planning.rules import (
    broadcast,
    chain_place,
    direct,
    fields,
    join_state,
    no_shuffle,
    one_scan,
    partial_aggregation,
    reader_filter,
)
from headrace.spark.planning.rules.query import PlannedQuery

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# In the order in which they are told.
RULES: Final[tuple[ModuleType, ...]] = (
    one_scan,
    direct,
    fields,
    reader_filter,
    chain_place,
    no_shuffle,
    partial_aggregation,
    broadcast,
    join_state,
)


def rules_of(validated: Validated, catalogue: Catalogue) -> list[str]:
    """A line for each query and, below it, one for each rule that fired. Raises InvalidInput for what cannot run."""
    plans = plan_queries(validated, catalogue)
    return [line for plan in plans for line in _lines(PlannedQuery(plan, validated, catalogue))]


def plan_text(frame: DataFrame) -> str:
    """How Spark would run a frame: its operators, and what each reads and makes."""
    classic: Any = frame
    return str(classic._sc._jvm.PythonSQLUtils.explainString(classic._jdf.queryExecution(), "formatted")).strip()


def _lines(query: PlannedQuery) -> Iterator[str]:
    plan = query.plan
    sinks = ", ".join(branch.sink.id for branch in plan.branches)
    yield f"query {plan.name}: {', '.join(source.id for source in plan.sources)} → {sinks or 'dead letters'}"
    for rule in RULES:
        yield from (f"  {line}" for line in rule.fired(query))
