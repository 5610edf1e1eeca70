"""Queries that no row has to leave the source's reader for: filters and columns that Arrow handles just as Spark does.

The reader filters, computes, encodes and stages the rows in one go. Spark plans the micro-batches, spreads and repeats
the tasks, and hands on their commit messages, as it does for every other query; only its row-by-row copies are spared.
"""

from __future__ import annotations

from dataclasses import dataclass

from headrace.graph.schema import Schema
from headrace.operators import Catalogue
from headrace.operators.row_forms import has_arrow_type
from headrace.spark.planning.branches import OnlySpark, Shaped, shaped
from headrace.spark.planning.outputs import bad_record_outputs
from headrace.spark.planning.plan import Branch, QueryPlan
from headrace.spark.planning.pushdown import is_whole_prefilter


@dataclass(frozen=True, slots=True)
class Direct:
    """The columns that the reader reads, and what it does with the rows."""

    columns: str
    shaped: Shaped


def direct_query(plan: QueryPlan, columns: Schema, dead_letter: str | None, catalogue: Catalogue) -> Direct | None:
    """None where rows have to pass through Spark's plan. `columns` are those that the query reads of its topic."""
    if plan.chained or plan.source.operator != "topic" or not plan.branches:
        return None
    if not all(has_arrow_type(column.type) for column in columns):
        return None
    read = Schema((*columns, *(column for column in columns.hidden if has_arrow_type(column.type))))
    try:
        found = shaped(plan.branches, columns, catalogue, filtered_before=_is_filtered_before(plan.branches, read))
    except OnlySpark:
        return None
    letters = bad_record_outputs(plan.source, dead_letter)
    return Direct(str(read), Shaped(found.shaping, (*found.outputs, *letters)))


def _is_filtered_before(branches: tuple[Branch, ...], columns: Schema) -> bool:
    """Whether the source's prefilter has left out all rows that the first filter would: no other branch wants them."""
    condition = branches[0].steps[0][1].condition if len(branches) == 1 and branches[0].steps else None
    return condition is not None and is_whole_prefilter(condition, columns)
