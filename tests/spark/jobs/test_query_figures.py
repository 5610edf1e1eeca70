"""What tasks counted is told by node, since the start of the query and for each micro-batch."""

from __future__ import annotations

from headrace.graph import Node
from headrace.serial import LaneResult, NodeReport
from headrace.serial.batch import Copies
from headrace.spark.jobs.progress import QueryProgress
from headrace.spark.jobs.query_figures import BATCHES_KEPT, QueryFigures, TaskCounts
from headrace.spark.jobs.status import NodeCount
from headrace.spark.planning.plan import QueryPlan


def lane(number: int, rows: int) -> LaneResult:
    report = NodeReport(rows_in=rows, rows_out=rows, failed=1, copies=Copies(2, 100), counts={"late": 3})
    return LaneResult(number, reports={"it": report})


def test_a_node_shows_rows_faults_and_copies_of_all_lanes() -> None:
    progress = QueryProgress(QueryPlan("q", (Node("it", "topic"),), (), "append"), {}, rows={"it": 12})
    progress.figures.add(0, TaskCounts.of([lane(0, 5), lane(1, 7)], ()))
    assert progress.status().nodes == (NodeCount("it", 12, 2, 6, 4, 200),)


def test_rows_of_the_newest_micro_batches_are_kept() -> None:
    figures = QueryFigures()
    for batch in range(BATCHES_KEPT + 1):
        figures.add(batch, TaskCounts.of([lane(0, batch)], ()))
    assert (figures.rows_of(0), figures.failed_in(0)) == ({}, 0)
    assert (figures.rows_of(BATCHES_KEPT), figures.failed_in(1)) == ({"it": BATCHES_KEPT}, 1)
