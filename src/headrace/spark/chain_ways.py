"""The way of rows from a topic to an input of a chain, where the topic's reader can go it: filters and columns that
Arrow computes just as Spark does. The same for a table, from its rows to those that a chain looks up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from headrace.graph.schema import Schema
from headrace.graph.validation import Validated
from headrace.operators import Catalogue
from headrace.operators.columnar import Form, Scope, columns_of, may_raise, planned, scope_of, substituted
from headrace.operators.columns import needed_columns
from headrace.operators.row_step import RowStep
from headrace.operators.serial_chain import ChainPlan
from headrace.spark.specs import ChainReading, InputReading
from headrace.spark.tables import TABLE


@dataclass(frozen=True, slots=True)
class Way:
    """`columns` are those behind it by name, computed of the topic's columns. `keep` says which rows, if not all;
    `counted` the same for each node on the way, in order."""

    topic: str
    columns: Mapping[str, Form]
    keep: Form | None = None
    counted: tuple[tuple[str, Form | None], ...] = ()


def way_of(node_id: str, validated: Validated, catalogue: Catalogue) -> Way | None:
    """The way to a node; None where its rows have to come through Spark's plan."""
    node, schema = validated.document.node(node_id), validated.schemas[node_id]
    if node.operator in ("topic", TABLE):
        scope = scope_of(schema)
        known = {name: scope.get(name.lower()) for name in (*schema.names, *(column.name for column in schema.hidden))}
        return Way(node_id, {name: form for name, form in known.items() if form is not None})
    edges = validated.document.inputs_of(node_id)
    before = way_of(edges[0].source, validated, catalogue) if len(edges) == 1 else None
    if before is None:
        return None
    step = catalogue.get(node.operator).row_step(validated.configs[node_id], validated.schemas[edges[0].source])
    behind = None if step is None else _behind(before, step, schema)
    return None if behind is None else replace(behind, counted=(*behind.counted, (node_id, behind.keep)))


def _behind(way: Way, step: RowStep, schema: Schema) -> Way | None:
    """What the reader computes must not fail for a row, for it may be one that nobody wants."""
    scope = _folded(way.columns)
    if step.condition is not None:
        condition = planned(step.condition, scope)
        if condition is None or condition[1] != "BOOLEAN" or may_raise(condition):
            return None
        return replace(way, keep=_both(way.keep, condition))
    columns: dict[str, Form] = {}
    for name, expression in step.columns or ():
        # A name given further left may be used, where the input has no such column.
        form = planned(expression, {**_folded(columns), **scope})
        if form is None or may_raise(form) or form[1] != schema.require(name).type:
            return None
        columns[name] = form
    return replace(way, columns=columns)


def _both(keep: Form | None, condition: Form) -> Form:
    return condition if keep is None else ("and", "BOOLEAN", keep, condition)


def _folded(columns: Mapping[str, Form]) -> Scope:
    return {name.lower(): form for name, form in columns.items()}


def chain_reading(chain: ChainPlan, validated: Validated, catalogue: Catalogue) -> ChainPlan:
    """The chain with only those columns of its inputs that are used. A union wants the same of all."""
    needed = needed_columns(validated, catalogue)
    used = [needed[one.source] for one in chain.inputs]
    if any(node.operator == "union" for node in chain.nodes):
        used = [frozenset().union(*used)] * len(used)
    return chain.reading([_read(one.schema, names) for one, names in zip(chain.inputs, used, strict=True)])


def _read(schema: Schema, names: frozenset[str]) -> Schema:
    """At least one column, or there would be no rows to count; the event time in any case."""
    kept = schema.keep({*names, schema.event_time or ""})
    beside = tuple(column for column in kept.hidden if column.name == schema.event_time)
    return Schema((*(kept.columns or schema.columns[:1]), *beside), event_time=schema.event_time)


def topic_readings(
    chain: ChainPlan, validated: Validated, catalogue: Catalogue, wanted: Mapping[str, Form]
) -> dict[str, ChainReading]:
    """What the reader of each topic does for the chain, without how many lanes there are.

    `wanted` are further conditions, by the input port of the chain's first node that rows come into.
    """
    inputs: dict[str, list[InputReading]] = {}
    for number, one in enumerate(chain.inputs):
        way = way_of(one.source, validated, catalogue)
        if way is None:
            raise AssertionError(f"the rows of {one.source} come through Spark's plan")
        ports = [edge.target_port for edge in chain.edges if edge.source == one.source]
        way = _only(way, [wanted[port] for port in ports if port in wanted])
        lanes = chain.input_lanes(number, catalogue)
        columns = {name: way.columns[name] for name in one.schema.names}
        keys = () if lanes is None else lanes.keys
        inputs.setdefault(way.topic, []).append(InputReading(number, columns, way.keep, way.counted, keys))
    lanes = chain.partitioning(catalogue)
    schemas = tuple(str(one.schema) for one in chain.inputs)
    return {
        topic: ChainReading(
            _topic_columns(validated.schemas[topic], readings),
            tuple(readings),
            schemas,
            None if lanes is None else lanes.strategy,
            None if lanes is None else lanes.function,
        )
        for topic, readings in inputs.items()
    }


def _only(way: Way, wanted: Sequence[Form]) -> Way:
    for condition in wanted:
        way = replace(way, keep=_both(way.keep, substituted(condition, way.columns)))
    return way


def _topic_columns(schema: Schema, inputs: Sequence[InputReading]) -> str:
    """What is read of a topic: what its inputs are computed of, and what their conditions are about."""
    read = [form for one in inputs for form in (*one.columns.values(), *([one.keep] if one.keep else []))]
    names = {schema.event_time}.union(*(columns_of(form) for form in read))
    return str(Schema(tuple(column for column in (*schema.columns, *schema.hidden) if column.name in names)))
