"""A stage of a chain before the last one, inside a Spark task: its rows go on as packets for lanes of later stages."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from functools import partial

import pyarrow as pa

from headrace.serial import Partitioning
from headrace.serial.places import origin_of
from headrace.spark.chains.orders import Orders
from headrace.spark.chains.packets import Arrived, Packer, result_packet, unpacked
from headrace.spark.chains.planned import PlannedStage, planned_stage
from headrace.spark.chains.task import current_catalogue, lane_run, note_read


def stage_task(
    orders: Orders, stage: int, lane: int, packets: Iterable[pa.RecordBatch], lane_count: int
) -> Iterator[pa.RecordBatch]:
    """One micro-batch of one lane: packets for later stages, at last one with what it left. Raises OperatorFailed."""
    planned = planned_stage(orders.plan, stage, current_catalogue())
    packers = _packers(planned, lane, lane_count)
    made: list[pa.RecordBatch] = []
    taps = {name: partial(_pack, of_node, made) for name, of_node in packers.items()}
    run, arrived = lane_run(orders, planned, lane, taps), Arrived(planned.inputs)
    for _ in run.rows(unpacked(packets, arrived)):
        raise AssertionError("rows of an earlier stage leave by its taps")
    for of_node in packers.values():
        for packer in of_node:
            made += packer.rest()
    note_read(run.result, arrived.counts)
    yield from (*made, *arrived.for_later)
    yield from (result_packet(result, lane) for result in (*arrived.results, pickle.dumps(run.result)))


def _pack(packers: list[Packer], made: list[pa.RecordBatch], rows: pa.RecordBatch) -> None:
    for packer in packers:
        made.extend(packer.add(rows))


def _packers(stage: PlannedStage, lane: int, lane_count: int) -> dict[str, list[Packer]]:
    """For each node of the stage whose rows go to a later one."""
    packers: dict[str, list[Packer]] = {}
    for way in stage.crossings:
        packer = Packer(origin_of(way.number, lane), way.lanes or Partitioning(), lane_count)
        packers.setdefault(way.source, []).append(packer)
    return packers
