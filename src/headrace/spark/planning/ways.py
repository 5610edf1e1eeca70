"""The way of rows from a topic to an input of a chain, where the topic's reader can go it: filters and columns that
Arrow computes just as Spark does. The same for a table, from its rows to those that a chain looks up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headrace.graph.schema import Schema
from headrace.graph.validation import Validated
from headrace.operators import Catalogue
from headrace.operators.columnar import Form, columns_of, may_raise, substituted
from headrace.operators.columns import needed_columns
from headrace.operators.plugin_folder import plugin_folder
from headrace.operators.row_forms import RowForms
from headrace.operators.serial_chain import ChainPlan
from headrace.spark.planning.tables import TABLE
from headrace.spark.specs import ChainReading, InputReading


@dataclass(frozen=True, slots=True)
class Way:
    """`rows` are those behind it, computed of the topic's columns; `counted` says which rows leave each node on the
    way, in order."""

    topic: str
    rows: RowForms
    counted: tuple[tuple[str, Form | None], ...] = ()


def way_of(node_id: str, validated: Validated, catalogue: Catalogue) -> Way | None:
    """The way to a node; None where its rows have to come through Spark's plan."""
    node, schema = validated.document.node(node_id), validated.schemas[node_id]
    if node.operator in ("topic", TABLE):
        # A chain may take an event time that can only be named.
        return Way(node_id, RowForms.of(Schema((*schema.hidden, *schema.columns))))
    edges = validated.document.inputs_of(node_id)
    before = way_of(edges[0].source, validated, catalogue) if len(edges) == 1 else None
    if before is None:
        return None
    step = catalogue.get(node.operator).row_step(validated.configs[node_id], validated.schemas[edges[0].source])
    behind = None if step is None else before.rows.behind(step)
    if behind is None or not _is_safe(behind, schema):
        return None
    return Way(before.topic, behind, (*before.counted, (node_id, behind.keep)))


def _is_safe(rows: RowForms, schema: Schema) -> bool:
    """What the reader computes must not fail for a row, for it may be one that nobody wants; and what the chain gets is
    of the types that it was told."""
    forms = [*rows.columns.values(), *([] if rows.keep is None else [rows.keep])]
    types = ((form[1], schema.find(name)) for name, form in rows.columns.items())
    return not any(map(may_raise, forms)) and all(known is None or type_ == known.type for type_, known in types)


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
    chain: ChainPlan, validated: Validated, catalogue: Catalogue, wanted: Mapping[int, Form]
) -> dict[str, ChainReading]:
    """What the reader of each topic does for the chain, without how many lanes there are.

    `wanted` are further conditions, by the number of the chain's input.
    """
    inputs: dict[str, list[InputReading]] = {}
    for number, one in enumerate(chain.inputs):
        way = way_of(one.source, validated, catalogue)
        if way is None:
            raise AssertionError(f"the rows of {one.source} come through Spark's plan")
        rows = way.rows.only(substituted(wanted[number], way.rows.columns)) if number in wanted else way.rows
        lanes = chain.input_lanes(number, catalogue)
        columns = {name: way.rows.columns[name] for name in one.schema.names}
        keys = () if lanes is None else lanes.keys
        inputs.setdefault(way.topic, []).append(InputReading(number, columns, rows.keep, way.counted, keys))
    lanes = chain.partitioning(catalogue)
    schemas = tuple(str(one.schema) for one in chain.inputs)
    return {
        topic: ChainReading(
            _topic_columns(validated.schemas[topic], readings),
            tuple(readings),
            schemas,
            None if lanes is None else lanes.strategy,
            None if lanes is None else lanes.function,
            plugins=plugin_folder(),
        )
        for topic, readings in inputs.items()
    }


def _topic_columns(schema: Schema, inputs: Sequence[InputReading]) -> str:
    """What is read of a topic: what its inputs are computed of, and what their conditions are about."""
    read = [form for one in inputs for form in (*one.columns.values(), *([one.keep] if one.keep else []))]
    names = {schema.event_time}.union(*(columns_of(form) for form in read))
    return str(Schema(tuple(column for column in (*schema.columns, *schema.hidden) if column.name in names)))
