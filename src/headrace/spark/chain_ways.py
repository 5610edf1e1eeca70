"""The way of rows from a topic to an input of a chain, where the topic's reader can go it: filters and plain columns
that Arrow handles just as Spark does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from headrace.graph.schema import Schema
from headrace.graph.validation import Validated
from headrace.operators import Catalogue
from headrace.operators.columns import needed_columns
from headrace.operators.row_step import RowStep
from headrace.operators.serial_chain import ChainPlan
from headrace.spark.prefilter import Prefilter, columns_of, renamed
from headrace.spark.pushdown import plain_column, whole_filter
from headrace.spark.specs import ChainReading, InputReading


@dataclass(frozen=True, slots=True)
class Way:
    """`columns` are the names behind it, each with the topic's column that it stands for. `keep` says which rows, of
    the topic's columns; `counted` the same for each node on the way, in order."""

    topic: str
    columns: Mapping[str, str]
    keep: Prefilter | None = None
    counted: tuple[tuple[str, Prefilter | None], ...] = ()


def way_of(node_id: str, validated: Validated, catalogue: Catalogue) -> Way | None:
    """The way to a node; None where its rows have to come through Spark's plan."""
    node = validated.document.node(node_id)
    if node.operator == "topic":
        schema = validated.schemas[node_id]
        return Way(node_id, {column.name: column.name for column in (*schema.columns, *schema.hidden)})
    edges = validated.document.inputs_of(node_id)
    if len(edges) != 1:
        return None
    before = way_of(edges[0].source, validated, catalogue)
    schema = validated.schemas[edges[0].source]
    step = catalogue.get(node.operator).row_step(validated.configs[node_id], schema)
    behind = None if before is None or step is None else _behind(before, step, schema)
    return None if behind is None else replace(behind, counted=(*behind.counted, (node_id, behind.keep)))


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
    chain: ChainPlan, validated: Validated, catalogue: Catalogue, wanted: Mapping[str, Prefilter]
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


def _only(way: Way, wanted: Sequence[Prefilter]) -> Way:
    keeps = [*([] if way.keep is None else [way.keep]), *(renamed(one, way.columns) for one in wanted)]
    return way if not wanted else replace(way, keep=["and", *keeps])


def _topic_columns(schema: Schema, inputs: Sequence[InputReading]) -> str:
    """What is read of a topic: what its inputs have, and what their conditions are about."""
    names = {name for one in inputs for name in one.columns.values()}
    names = names.union(*(columns_of(one.keep) for one in inputs if one.keep), [schema.event_time or ""])
    return str(Schema(tuple(column for column in (*schema.columns, *schema.hidden) if column.name in names)))


def _behind(way: Way, step: RowStep, schema: Schema) -> Way | None:
    if step.condition is not None:
        condition = whole_filter(step.condition, schema)
        if condition is None:
            return None
        own = renamed(condition, way.columns)
        return replace(way, keep=own if way.keep is None else ["and", way.keep, own])
    chosen = {name: plain_column(expression, schema) or "" for name, expression in step.columns or ()}
    known = {name: way.columns[column] for name, column in chosen.items() if column in way.columns}
    return replace(way, columns=known) if len(known) == len(chosen) else None
