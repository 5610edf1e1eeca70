"""A stage of a chain before the last one, inside a Spark task: its rows go on as packets for lanes of later stages."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

import pyarrow as pa

from headrace.operators import Catalogue
from headrace.operators.chain_crossings import crossings, stage_of
from headrace.operators.serial_chain import ChainPlan
from headrace.serial import Partitioning
from headrace.serial.places import origin_of
from headrace.spark.chains.orders import Orders
from headrace.spark.chains.packets import Arrived, Packer, result_packet, unpacked
from headrace.spark.chains.task import current_catalogue, lane_run, note_read


def arrived_at(plan: ChainPlan, stage: int, catalogue: Catalogue) -> Arrived:
    """For packets that come to a lane of this stage."""
    inside = stage_of(plan, stage, catalogue)
    return Arrived(frozenset(number for number in range(len(inside.inputs)) if inside.input_edges(number)))


def stage_task(
    orders: Orders, stage: int, lane: int, packets: Iterable[pa.RecordBatch], lane_count: int
) -> Iterator[pa.RecordBatch]:
    """One micro-batch of one lane: packets for later stages, at last one with what it left. Raises OperatorFailed."""
    catalogue = current_catalogue()
    plan, inside = orders.plan, stage_of(orders.plan, stage, catalogue)
    packers = _packers(plan, stage, lane, lane_count, catalogue)
    made: list[pa.RecordBatch] = []
    taps = {name: partial(_pack, of_node, made) for name, of_node in packers.items()}
    run = lane_run(replace(orders, plan=inside), lane, catalogue, stage=stage, taps=taps)
    arrived = arrived_at(plan, stage, catalogue)
    for _ in run.rows(unpacked(packets, arrived), private=True):
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


def _packers(plan: ChainPlan, stage: int, lane: int, lane_count: int, catalogue: Catalogue) -> dict[str, list[Packer]]:
    """For each node of the stage whose rows go to a later one."""
    packers: dict[str, list[Packer]] = {}
    for way in crossings(plan, catalogue):
        if way.stage == stage:
            packer = Packer(origin_of(way.number, lane), way.lanes or Partitioning(), lane_count)
            packers.setdefault(way.source, []).append(packer)
    return packers
