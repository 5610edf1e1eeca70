"""What a chain needs when its query starts: its driver, its tables, and the orders of a batch run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headrace.graph.schema import Schema
from headrace.operators.columnar import columns_of
from headrace.operators.durations import duration_ms
from headrace.operators.event_time import NO_WATERMARK
from headrace.operators.plugin_folder import plugin_folder
from headrace.operators.serial_chain import ChainPlan
from headrace.serial import Moment
from headrace.spark.chains.driver import CALL_LIMIT_S, ChainDriver
from headrace.spark.chains.due_mark import DueMark
from headrace.spark.chains.orders import ORDERS_PROPERTY, Orders
from headrace.spark.chains.partitions import FedTopic, SourcePartitions
from headrace.spark.chains.tables import TableReading
from headrace.spark.compiling.compilation import Compilation
from headrace.spark.planning.plan import QueryPlan
from headrace.spark.planning.query_chain import keeps_records
from headrace.spark.planning.ways import way_of


def make_driver(
    compilation: Compilation, plan: QueryPlan, directory: Path, *, until_end: bool = False
) -> ChainDriver | None:
    """For a query with a chain; None for others. With `until_end` it reads what is there now, and ends."""
    chain = compilation.chain_of(plan)
    if chain is None:
        return None
    configs = [compilation.validated.configs[source.id] for source in plan.sources]
    delays_ms = [duration_ms(str(getattr(config, "watermark", NO_WATERMARK))) for config in configs]
    timeouts = [getattr(config, "idle_timeout", None) for config in configs]
    # A source without a timeout may still bring older rows, however long it is quiet.
    timeout_us = None if None in timeouts else max(duration_ms(str(timeout)) * 1000 for timeout in timeouts)
    mark = None if compilation.checkpoint is None else DueMark.beside(compilation.checkpoint)
    lane_count, behind = compilation.lanes(chain), not keeps_records(plan, chain)
    return ChainDriver(
        chain,
        directory,
        max(delays_ms) * 1000,
        lane_count,
        timeout_us,
        mark,
        behind,
        table_readings(compilation, chain),
        chain.is_called(compilation.catalogue),
        _partitions(compilation, plan, chain),
        until_end,
        plugin_folder(),
    )


def _partitions(compilation: Compilation, plan: QueryPlan, chain: ChainPlan) -> SourcePartitions:
    """Of topics whose records come into the chain with an event time. Of rows that Spark's plan made of others, nobody
    knows the partition."""
    if not keeps_records(plan, chain):
        return SourcePartitions()
    document, placed = compilation.validated.document, compilation.placement(plan)
    in_plan = placed is not None and placed.way_in == "rows"
    numbers: dict[str, list[int]] = {}
    for number, one in enumerate(chain.inputs):
        above = [] if one.schema.event_time is None else document.leading_to([one.source]).nodes
        for source in (node for node in plan.sources if node.operator == "topic" and node in above):
            numbers.setdefault(source.id, []).append(plan.sources.index(source) if in_plan else number)
    topics = {
        node: FedTopic(
            compilation.specs.location(str(document.node(node).config["topic"])), tuple(dict.fromkeys(found))
        )
        for node, found in numbers.items()
    }
    return SourcePartitions(topics, tuple(compilation.ranges))


@contextmanager
def bounded_orders(compilation: Compilation, plan: QueryPlan) -> Iterator[None]:
    """For a batch run: its chain, if it has one, begins with no state and ends with every timer called."""
    with ordered(compilation, compilation.chain_of(plan), CALL_LIMIT_S):
        yield


@contextmanager
def ordered(compilation: Compilation, chain: ChainPlan | None, limit_s: float) -> Iterator[None]:
    """Inside, Spark jobs of this thread run the chain once: from no state, to the end of every timer."""
    if chain is None:
        yield
        return
    context = compilation.spark.sparkContext
    moment, tables = Moment(0, limit_s=limit_s), table_readings(compilation, chain)
    orders = Orders(chain, moment, plugins=plugin_folder(), tables=tables)
    context.setLocalProperty(ORDERS_PROPERTY, orders.to_json())
    try:
        yield
    finally:
        context.setLocalProperty(ORDERS_PROPERTY, "")


def table_readings(compilation: Compilation, chain: ChainPlan) -> tuple[TableReading, ...]:
    """For all that nodes of the chain look up; of a batch run with the versions."""
    validated, found = compilation.validated, []
    for one in chain.tables:
        way = way_of(one.source, validated, compilation.catalogue)
        if way is None:
            raise AssertionError(f"the rows of {one.source} come through Spark's plan")
        columns = {name: way.rows.columns[name] for name in one.schema.names}
        names = set().union(*map(columns_of, (*columns.values(), *([] if way.rows.keep is None else [way.rows.keep]))))
        # At least one column, or there would be no rows.
        read = Schema(validated.schemas[way.topic].keep(names).columns or validated.schemas[way.topic].columns[:1])
        spec = compilation.specs.of_table(validated.document.node(way.topic))
        found.append(TableReading(one.node, one.port, spec, str(read), columns, way.rows.keep))
    return tuple(found)
