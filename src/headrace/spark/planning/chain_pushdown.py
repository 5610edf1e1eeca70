"""Filters behind a join or a lookup in a chain: rows that they rule out by one input alone never come to it."""

from __future__ import annotations

from headrace.graph.schema import Schema
from headrace.graph.validation import Validated
from headrace.operators.columnar import Form
from headrace.operators.join_sides import joined_columns, read_condition
from headrace.operators.serial_chain import ChainPlan
from headrace.spark.planning.plan import QueryPlan
from headrace.spark.planning.pushdown import prefilter_of
from headrace.spark.planning.tables import LOOKUP

_Inlet = tuple[str, str]


def wanted_of_inputs(plan: QueryPlan, chain: ChainPlan, validated: Validated) -> dict[int, Form]:
    """What a row of a chain's input must fulfil, by the input's number and of its columns; nothing of inputs whose rows
    all count: also those that other nodes get as well."""
    at_base = _wanted_at(plan, validated)
    found: dict[int, Form] = {}
    for number in range(len(chain.inputs)):
        inlets = [(edge.target, edge.target_port) for edge in chain.input_edges(number)]
        if all(inlet in at_base for inlet in inlets):
            found[number] = ("or", "BOOLEAN", *(at_base[inlet] for inlet in inlets))
    return found


def _wanted_at(plan: QueryPlan, validated: Validated) -> dict[_Inlet, Form]:
    """The same by the ports of the query's base."""
    conditions = [branch.steps[0][1].condition if branch.steps else None for branch in plan.branches]
    found = {
        (plan.base.id, side): prefilter_of(conditions, schema) for side, schema in _told_of(plan, validated).items()
    }
    return {inlet: wanted for inlet, wanted in found.items() if wanted is not None}


def _told_of(plan: QueryPlan, validated: Validated) -> dict[str, Schema]:
    """The columns of each input that leave the base just as they are, of inputs whose rows leave no trace but there."""
    base = plan.base
    config = validated.configs[base.id]
    inputs = {edge.target_port: validated.schemas[edge.source] for edge in plan.inputs_of(base)}
    if base.id not in plan.in_chain:
        return {}
    if base.operator == LOOKUP:
        return {"left": Schema(inputs["left"].columns)}
    # Other kinds of joins tell rows without a partner, and some keep late rows, wanted or not.
    if base.operator != "join" or config.kind != "inner" or config.keeps_late:
        return {}
    columns = joined_columns(read_condition(config.on, inputs), inputs)
    return {side: Schema(tuple(column for of, column in columns if of == side)) for side in inputs}
