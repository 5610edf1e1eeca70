"""A chain inside a Spark task, wherever it was placed: reads its orders, runs its lane, hands on rows and its result.

What Spark holds has the columns that come in and out, and nothing of the operators: those come with the orders.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np
import pyarrow as pa

from headrace.errors import InvalidInput
from headrace.graph.schema import Schema
from headrace.operators import Catalogue, load_catalogue
from headrace.operators.arrow_types import arrow_schema
from headrace.operators.plugin_folder import folder_signature, use_plugin_folder
from headrace.serial import LaneInput, LaneResult, LaneRun, NodeReport
from headrace.serial.chain import Tap
from headrace.spark.chains.orders import ORDERS_PROPERTY, Orders
from headrace.spark.chains.packets import ReadCounts
from headrace.spark.chains.pieces import ROWS_PER_PIECE, pieces_of
from headrace.spark.chains.planned import PlannedStage, planned_stage
from headrace.spark.chains.record_rows import input_of
from headrace.spark.chains.stores import Stores
from headrace.spark.chains.tables import rows_of
from headrace.spark.specs import CHAIN_COLUMN, LETTER_COLUMN, RECORD_ORIGIN, Shaping, SinkSpec
from headrace.spark.writing.shaping import Shaper
from headrace.spark.writing.staging import message_of

_ASIDE_TYPES: dict[str, pa.DataType] = {LETTER_COLUMN: pa.string(), CHAIN_COLUMN: pa.binary()}
_ASIDES = pa.schema(_ASIDE_TYPES)
# In one worker: pipelines that were started with other code have a catalogue of their own.
CATALOGUES_KEPT = 16
# From one micro-batch to the next.
_stores = Stores()


def current_orders(columns: Sequence[Schema]) -> tuple[Orders, int]:
    """The orders that came with this task, for these columns of the chain's inputs, and the number of the task.

    Raises InvalidInput.
    """
    from pyspark import TaskContext  # noqa: PLC0415

    context = TaskContext.get()
    text = None if context is None else context.getLocalProperty(ORDERS_PROPERTY)
    if context is None or not text:
        raise InvalidInput("a chain was run without orders")
    orders = Orders.from_json(text)
    use_plugin_folder(orders.plugins)
    times = [one.schema.event_time for one in orders.plan.inputs]
    read = [replace(schema, event_time=time) for schema, time in zip(columns, times, strict=True)]
    return replace(orders, plan=orders.plan.reading(read)), context.partitionId()


def lane_task(
    orders: Orders,
    lane: int,
    inputs: Iterable[LaneInput],
    *,
    sink: SinkSpec | None,
    read: ReadCounts | None = None,
    stage: PlannedStage | None = None,
    before: Sequence[bytes] = (),
) -> Iterator[pa.RecordBatch]:
    """One micro-batch of one lane: one commit message if it stages its rows for a `sink`, else rows with asides beside.

    `read` is what was read, where that is counted here and not by Spark. Of a chain in stages it runs the last one;
    `before` is filled, as rows come, with what lanes of those before left. Without a `stage` it runs all nodes, which
    are in one stage, or in one lane. Raises OperatorFailed; and InvalidInput for a row that cannot be computed
    on its way to the sink.
    """
    if stage is None:
        stage = planned_stage(orders.plan, None, current_catalogue())
    run = lane_run(orders, stage, lane)
    output = arrow_schema(stage.output.carried)
    shaper = Shaper(Shaping() if sink is None else sink.shaping)
    made = _lane_rows(run, inputs, output, shaper, read=ReadCounts() if read is None else read, before=before)
    if sink is not None:
        return iter([message_of(sink, made)])
    return (_widened(batch, output) for batch in made)


def lane_run(orders: Orders, stage: PlannedStage, lane: int, taps: Mapping[str, Tap] | None = None) -> LaneRun:
    """One micro-batch of one lane of a stage."""
    store = None if orders.directory is None else _stores.of(orders.directory)
    event_times = [one.event_time for one in stage.plan.inputs]
    lookups = {(one.node, one.port): cache(partial(rows_of, one)) for one in orders.tables}
    chain = stage.plan.chain(current_catalogue(), taps, lookups, schemas=stage.schemas)
    versions, signals = orders.versions(lane), orders.signals
    return LaneRun(
        chain, store, lane, orders.moment, versions, event_times=event_times, signals=signals, stage=stage.number
    )  # fmt: skip


def _lane_rows(
    run: LaneRun,
    inputs: Iterable[LaneInput],
    output: pa.Schema,
    shaper: Shaper,
    *,
    read: ReadCounts,
    before: Sequence[bytes],
) -> Iterator[pa.RecordBatch]:
    """Rows of the output's columns, shaped; at last a batch with nothing but dead letters and the lanes' results."""
    for rows in run.rows(inputs):
        yield shaper.shaped(rows if rows.schema == output else rows.cast(output))
    run.result.reports.update(shaper.reports)
    note_read(run.result, read)
    results_here = [run.result, *results_of(before)]
    letters: list[str | None] = [letter.to_json() for result in results_here for letter in result.dead_letters]
    results = [pickle.dumps(replace(result, dead_letters=[])) for result in results_here]
    texts = pa.array([*letters, *([None] * len(results))], pa.string())
    lanes = pa.array([*([None] * len(letters)), *results], pa.binary())
    yield pa.record_batch([texts, lanes], schema=_ASIDES)


def note_read(result: LaneResult, read: ReadCounts) -> None:
    """With the nodes before the chain, where readers did their work."""
    for node in {**read.rows, **read.bad}:
        result.reports[node] = NodeReport(rows_out=read.rows[node], failed=read.bad[node])


def results_of(messages: Iterable[bytes]) -> list[LaneResult]:
    """Results that tasks sent. Our own workers wrote them, over Spark's authenticated channel."""
    return [pickle.loads(message) for message in messages]  # noqa: S301


def inputs_of(batches: Iterable[pa.RecordBatch], *, shuffled: bool) -> Iterator[LaneInput]:
    """Rows that Spark hands over; after a shuffle in the order of their origins, so that every attempt sees the same.

    Rows of one origin arrive in order, but origins arrive in any: all rows of the micro-batch are needed to sort them.
    """
    if not shuffled:
        yield from map(input_of, pieces_of(batches))
        return
    waiting = [batch for batch in batches if batch.num_rows]
    if waiting:
        rows = _in_order(pa.Table.from_batches(waiting))
        yield from map(input_of, rows.combine_chunks().to_batches(max_chunksize=ROWS_PER_PIECE))


def _in_order(rows: pa.Table) -> pa.Table:
    origins = rows.column(RECORD_ORIGIN).to_numpy()
    return rows.take(np.argsort(origins, kind="stable")) if np.any(np.diff(origins) < 0) else rows


def _widened(batch: pa.RecordBatch, output: pa.Schema) -> pa.RecordBatch:
    """All columns that Spark was told of; those that the batch does not have are null."""
    fields = [*output, *_ASIDES]
    names = set(batch.schema.names)
    columns: list[Any] = [
        batch.column(field.name) if field.name in names else pa.nulls(batch.num_rows, field.type) for field in fields
    ]
    return pa.record_batch(columns, names=[field.name for field in fields])


def current_catalogue() -> Catalogue:
    """Of the plugin folder that the orders name; should its files change, of these."""
    return _catalogue_as_of(folder_signature())


@lru_cache(maxsize=CATALOGUES_KEPT)
def _catalogue_as_of(signature: object) -> Catalogue:
    return load_catalogue()
