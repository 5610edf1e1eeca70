"""Filters behind a join that runs in a chain: rows that they rule out by one side alone never come to it."""

from __future__ import annotations

from headrace.graph.schema import Schema
from headrace.graph.validation import Validated
from headrace.operators import Catalogue
from headrace.operators.columnar import Form
from headrace.operators.join_sides import joined_columns, read_condition
from headrace.spark.planning.plan import QueryPlan
from headrace.spark.planning.pushdown import prefilter_of


def wanted_of_sides(plan: QueryPlan, validated: Validated, catalogue: Catalogue) -> dict[str, Form]:
    """What a row of an input must fulfil, by the port of the query's base; nothing of inputs whose rows all count.

    Only of inner joins: other kinds tell rows without a partner. And not of those that keep late rows, wanted or not.
    """
    base = plan.base
    config = validated.configs[base.id]
    if base.id not in plan.in_chain or base.operator != "join" or config.kind != "inner" or config.keeps_late:
        return {}
    inputs = {edge.target_port: validated.schemas[edge.source] for edge in plan.inputs_of(base)}
    columns = joined_columns(read_condition(config.on, inputs), inputs)
    conditions = [branch.steps[0][1].condition if branch.steps else None for branch in plan.branches]
    found = {
        side: prefilter_of(conditions, Schema(tuple(column for of, column in columns if of == side))) for side in inputs
    }
    return {side: wanted for side, wanted in found.items() if wanted is not None}
