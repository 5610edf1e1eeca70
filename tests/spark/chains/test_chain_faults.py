"""Operators that fail, die, hang or end late on Spark: the rows come out as if nothing had happened, or it is said."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from headrace.serial import LocalFiles
from headrace.serial.versions import file_names
from headrace.spark.chains.orders import ChainRecord
from headrace.spark.writing.commit import CommitLog
from headrace.wire.client import Client

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

pytestmark = pytest.mark.spark

ROWS: list[dict[str, Any]] = [{"k": f"d{n % 5}", "n": n} for n in range(120)]
DEADLINE_S = 90.0


def eventually(condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.05)


def totals(rows: list[dict[str, Any]]) -> list[tuple[str, int, int]]:
    sums: dict[str, int] = defaultdict(int)
    made = []
    for row in rows:
        sums[row["k"]] += row["n"]
        made.append((row["k"], row["n"], sums[row["k"]]))
    return sorted(made)


def found(stack: Stack, topic: str) -> list[tuple[str, int, int]]:
    return sorted((row["k"], row["n"], row["total"]) for row in stack.rows(topic))


def found_columns(stack: Stack, topic: str) -> list[tuple[str, int, int]]:
    tables = [pa.ipc.open_stream(value).read_all() for value in stack.values(topic)]
    return sorted((row["k"], row["n"], row["total"]) for table in tables for row in table.to_pylist())


def pipeline(source: str, target: str, settings: str) -> str:
    read = f'topic {source} schema="k STRING, n BIGINT" max_rows_per_batch=50'
    return f"{read} ! faulty-total {settings} as total ! to-topic {target}"


@pytest.mark.parametrize(("misbehave", "partitioned"), [("raise", "by_key"), ("exit", "as_topic")])
def test_a_task_that_fails_once_is_run_again(stack: Stack, tmp_path: Path, misbehave: str, partitioned: str) -> None:
    source, target = stack.topic("in", ROWS), stack.name("out")
    settings = f'misbehave={misbehave} at=77 marks="{tmp_path}" partitioned={partitioned}'
    stack.run(stack.pipeline(pipeline(source, target, settings)))
    assert (tmp_path / "begun").exists()
    assert found(stack, target) == totals(ROWS)


def test_an_operator_that_hangs_is_ended_and_named(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headrace.spark.chains.driver.CALL_LIMIT_S", 0.3)
    source, target = stack.topic("in", [{"k": "a", "n": 7}]), stack.name("out")
    document = stack.pipeline(pipeline(source, target, "misbehave=hang at=7"))
    stack.engine.start(document)
    # It may be somebody else who does not answer: the job tries again, and tells why.
    told: list[dict[str, Any] | None] = [None]

    def is_told() -> bool:
        told[0] = told[0] or stack.engine.status(document.name).error
        return told[0] is not None

    eventually(is_told)
    stack.engine.stop(document.name)
    error = told[0] or {}
    assert error["node"] == "total"
    assert str(error["message"]).startswith("OperatorHangs: no answer within 0.3 s")
    assert '"n": 7' in str(error["message"])
    assert "offset 0, row" in str(error["message"])


def state_of(stack: Stack, query: str) -> ChainRecord:
    with Client(stack.bootstrap) as client:
        last = CommitLog(client, query).peek()
    assert last is not None
    return ChainRecord.from_json(last.chain)


@pytest.mark.parametrize("format_", ["json", "arrow"])
def test_an_attempt_that_ends_late_changes_nothing(stack: Stack, tmp_path: Path, format_: str) -> None:
    """Rows of JSON leave the chain through Spark; those in columns are staged where it runs."""
    source, target = stack.topic("in", ROWS, partitions=1), stack.name("out")
    settings = f'misbehave=twin marks="{tmp_path}" partitioned=as_topic'
    document = stack.pipeline(pipeline(source, target, settings) + f" format={format_}")
    read = found if format_ == "json" else found_columns
    stack.engine.start(document)
    assert stack.engine.wait_idle(document.name, DEADLINE_S)
    assert read(stack, target) == totals(ROWS)
    query = f"{document.name}.total"
    files = LocalFiles(stack.data / "jobs" / document.name / "total" / "serial")
    before = set(files.names())
    (tmp_path / "release").touch()
    eventually((tmp_path / "ended").exists)
    # The late attempt has written its state, which nobody named.
    assert set(files.names()) - before - file_names(state_of(stack, query).manifest)
    more = [{"k": "d0", "n": 1000}]
    stack.produce(source, more)
    stack.finish(document)
    stack.run(document)
    assert read(stack, target) == totals([*ROWS, *more])
    assert set(files.names()) == file_names(state_of(stack, query).manifest)
