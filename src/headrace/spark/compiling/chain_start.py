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
from headrace.spark.chains.tables import TableReading
from headrace.spark.compiling.compilation import Compilation
from headrace.spark.planning.plan import QueryPlan
from headrace.spark.planning.query_chain import keeps_records
from headrace.spark.planning.ways import way_of


def make_driver(compilation: Compilation, plan: QueryPlan, directory: Path) -> ChainDriver | None:
    """For a query with a chain; None for others."""
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
    )


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
