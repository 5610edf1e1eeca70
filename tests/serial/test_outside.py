"""Sources and sinks of one's own, plain and async, without Spark."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass

import pyarrow as pa
import pytest

from headrace.errors import InvalidInput
from headrace.serial import Delivery, RowSink, RowSource
from headrace.serial.outside import as_sink, as_source, batches_of, deliver
from headrace.spark.specs import Output
from headrace.spark.writing.python_stage import ROWS_PER_DELIVERY, PythonStage

received: list[tuple[str, list[int | None]]] = []


@dataclass
class Tick:
    number: int


class Plain(RowSource):
    columns = Tick

    def end(self) -> int:
        return 20_000

    def read(self, start: int, end: int) -> Iterable[Tick]:
        return [Tick(number) for number in range(start, end)]


class Async(Plain):
    async def read(self, start: int, end: int) -> AsyncIterator[pa.RecordBatch]:  # type: ignore[override]
        for number in range(start, end):
            yield pa.record_batch({"more": ["x"], "number": [number]})


class Forgetful(Plain):
    def read(self, start: int, end: int) -> Iterable[Tick]:
        return [Tick(start)]


class Failing(RowSink):
    def write(self, rows: pa.RecordBatch, delivery: Delivery) -> None:
        raise ConnectionError("gone")

    def close(self) -> None:
        received.append(("closed", []))


async def asynchronous(rows: pa.RecordBatch, delivery: Delivery) -> None:
    received.append((delivery.key, rows.column("number").to_pylist()))


@pytest.mark.parametrize("source", [Plain, Async()])
def test_a_source_gives_the_rows_of_its_numbers(source: object) -> None:
    count = 9_000 if source is Plain else 5
    table = pa.Table.from_batches(list(batches_of(as_source(source, "here"), 7, 7 + count)))
    assert table == pa.table({"number": range(7, 7 + count)})


def test_what_does_not_fit_is_said() -> None:
    with pytest.raises(InvalidInput, match="Forgetful gave 1 rows for the numbers 3 to 5"):
        list(batches_of(Forgetful(), 3, 6))
    with pytest.raises(InvalidInput, match="here is no source"):
        as_source(7, "here")
    with pytest.raises(InvalidInput, match="here is no sink"):
        as_sink(7, "here")


def test_the_same_rows_have_the_same_keys_however_they_arrive() -> None:
    found = []
    rows = pa.record_batch({"number": range(2 * ROWS_PER_DELIVERY + 10)})
    for size in (1_000, 3 * ROWS_PER_DELIVERY):
        received.clear()
        stage = PythonStage(Output("out", "python", f"{__name__}:asynchronous", "rows"), "q", 4, 1)
        stage._sink = as_sink(asynchronous, "here")
        for first in range(0, rows.num_rows, size):
            stage.add(rows.slice(first, size))
        stage.finish()
        stage.close()
        assert stage.rows == rows.num_rows
        found.append(list(received))
    assert found[0] == found[1]
    assert [key for key, _ in found[0]] == [f"q/4/1/{n * ROWS_PER_DELIVERY}" for n in range(3)]
    assert [number for _, numbers in found[0] for number in numbers] == list(range(rows.num_rows))


def test_a_sink_that_fails_says_so_and_is_closed() -> None:
    received.clear()
    stage = PythonStage(Output("out", "python", "nowhere:x", "rows"), "q", 0, 0)
    stage._sink = Failing()
    stage.add(pa.record_batch({"number": [1]}))
    with pytest.raises(ConnectionError):
        stage.finish()
    stage.close()
    assert received == [("closed", [])]


def test_a_plain_function_is_a_sink() -> None:
    seen: list[int] = []
    deliver(
        as_sink(lambda rows, _: seen.append(rows.num_rows), "here"),
        pa.record_batch({"n": [1, 2]}),
        Delivery("q", 0, 0, 0),
    )
    assert seen == [2]
