"""Rows in lanes whose memory others can see: an operator that writes in place gets a copy, and that is counted.

To write to a mapped file would end the process.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pytest

from headrace.graph import Node, Schema
from headrace.memory import MappedFile
from headrace.operators.plugin_folder import FOLDER_VARIABLE
from headrace.operators.serial_chain import ChainPlan
from headrace.serial import LaneInput, LaneResult, Moment, Partitioning
from headrace.spark.chains.orders import Orders
from headrace.spark.chains.packets import Arrived, Packer, unpacked
from headrace.spark.chains.task import inputs_of, lane_task, results_of
from headrace.spark.specs import CHAIN_COLUMN

SCHEMA = Schema.parse("n BIGINT, m BIGINT")
DOUBLE = """
from headrace.operators import OperatorConfig, Port, Spec
from headrace.operators.serial_operator import SerialOperator
from headrace.serial import API_VERSION, Operator


class Double(SerialOperator[OperatorConfig]):
    spec = Spec(
        name="double-in-place", title="Double", summary="Doubles n in place.", kind="serial",
        inputs=(Port("in", "rows with n"),), outputs=(Port("out", "the same"),), guarantees="One row for each.",
        example='topic rows schema="n BIGINT" ! double-in-place ! preview', stateful=False,
    )
    config_type = OperatorConfig
    api_version = API_VERSION

    def output_schema(self, config, inputs):
        return inputs["in"]

    def instance(self, config, schema):
        return _Double()


class _Double(Operator):
    stateless = True

    def process(self, batch):
        mine = batch.writable()
        mine.array("n")[:] *= 2
        return [mine.to("out")]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "double.py").write_text(DOUBLE)
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "plugins"))


def doubled(inputs: Iterable[LaneInput], *before: Node) -> tuple[pa.Table, LaneResult]:
    """What two such operators make of the rows."""
    nodes = (*before, Node("first", "double-in-place", {}), Node("second", "double-in-place", {}))
    made = pa.Table.from_batches(lane_task(Orders(ChainPlan.line(nodes, SCHEMA), Moment(0)), 0, inputs, sink=None))
    (result,) = results_of(text for text in made[CHAIN_COLUMN].to_pylist() if text is not None)
    return made.filter(made[CHAIN_COLUMN].is_null()).select(["n", "m"]), result


def copies(result: LaneResult) -> list[int]:
    return [result.reports[node].copies.count for node in ("first", "second")]


def rows() -> pa.RecordBatch:
    return pa.record_batch({"n": pa.array([1, 2, 3], pa.int64()), "m": pa.array([5, 6, 7], pa.int64())})


def test_rows_over_a_mapped_file_are_copied_once_before_the_first_write(tmp_path: Path) -> None:
    with pa.OSFile(str(tmp_path / "record"), "wb") as file, pa.ipc.new_stream(file, rows().schema) as writer:
        writer.write_batch(rows())
    content = (tmp_path / "record").read_bytes()
    mapped = MappedFile(tmp_path / "record")
    memory = pa.py_buffer(mapped.view)
    over_the_map = pa.ipc.open_stream(memory).read_next_batch()
    numbers = over_the_map.column("n").buffers()[1]
    assert numbers is not None
    assert memory.address <= numbers.address < memory.address + memory.size
    made, result = doubled([LaneInput(over_the_map)])
    assert made.to_pydict() == {"n": [4, 8, 12], "m": [5, 6, 7]}
    assert copies(result) == [1, 0]
    assert bytes(mapped.view) == content


def test_rows_that_spark_handed_over_are_written_in_place() -> None:
    made, result = doubled(inputs_of([rows()], shuffled=False))
    assert (made["n"].to_pylist(), copies(result)) == ([4, 8, 12], [0, 0])


def test_rows_of_packets_are_written_in_place() -> None:
    packer = Packer(0, Partitioning(), 1)
    packets = [*packer.add(rows()), *packer.rest()]
    made, result = doubled(unpacked(packets, Arrived(frozenset({0}))))
    assert (made["n"].to_pylist(), copies(result)) == ([4, 8, 12], [0, 0])


def test_a_column_that_was_selected_twice_is_written_once() -> None:
    twice = Node("twice", "select", {"columns": ["n", "n AS m"]})
    made, result = doubled(inputs_of([rows()], shuffled=False), twice)
    assert made.to_pydict() == {"n": [4, 8, 12], "m": [1, 2, 3]}
    assert copies(result) == [1, 0]
