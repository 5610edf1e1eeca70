"""Own code with `headrace.local()`: plugins, and functions of a script or a notebook."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import headrace
from headrace.errors import InvalidInput, JobFailed
from headrace.operators.plugin_folder import FOLDER_VARIABLE
from headrace.operators.template import operator_template
from headrace.serial import API_VERSION
from headrace.typed import topic_of, typed

CELL = """
from dataclasses import dataclass
from headrace.serial import per_row, sql_function

@dataclass
class Trade:
    price: float

@dataclass
class Alert:
    price: float

FACTOR = {factor}

@per_row
def alert(trade: Trade) -> list[Alert]:
    return [Alert(trade.price * FACTOR)]

@sql_function
def raised(price: float) -> float:
    return price + FACTOR
"""


@pytest.fixture(scope="module")
def h() -> Iterator[headrace.Local]:
    with headrace.local() as made:
        yield made


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    return tmp_path


@pytest.fixture
def notebook() -> Iterator[dict[str, object]]:
    """The variables of the session."""
    main = vars(sys.modules["__main__"])
    before = dict(main)
    yield main
    main.clear()
    main.update(before)


def numbers(h: headrace.Local, pipeline: headrace.Pipeline, source: str, target: str) -> list[int]:
    """What came out, after one more row."""
    h.produce(source, [{"n": 1}])
    assert h.wait_idle(pipeline)
    return [row["number"] for row in h.rows(target)]


def test_a_pipeline_keeps_the_plugin_that_it_was_started_with(h: headrace.Local, plugins: Path) -> None:
    file, text = plugins / "row_counter.py", operator_template("row-counter", API_VERSION)["row_counter.py"]
    file.write_text(text)
    h.create_topic("kept-in")
    pipeline = headrace.Pipeline.from_text('topic kept-in schema="n INT" ! row-counter ! to-topic kept-out', "kept")
    h.start(pipeline)
    assert numbers(h, pipeline, "kept-in", "kept-out") == [1]
    file.write_text("def broken(:\n")
    assert numbers(h, pipeline, "kept-in", "kept-out") == [1, 2]
    other = pipeline.document()
    with pytest.raises(InvalidInput, match="unknown operator 'row-counter'") as refused:
        h.start(type(other)("other", other.nodes, other.edges))
    assert "row_counter.py" in str(refused.value)
    assert "SyntaxError" in str(refused.value)
    file.write_text(
        text.replace("range(first, first + batch.num_rows)", "range(first + 100, first + 100 + batch.num_rows)")
    )
    assert numbers(h, pipeline, "kept-in", "kept-out") == [1, 2, 3]
    h.stop(pipeline)
    h.start(pipeline)
    assert numbers(h, pipeline, "kept-in", "kept-out") == [1, 2, 3, 104]
    h.stop(pipeline)


def test_functions_of_cells_run_as_the_session_has_them(h: headrace.Local, notebook: dict[str, object]) -> None:
    h.create_topic("cells-in")
    for factor in (2, 10):
        exec(CELL.format(factor=factor), notebook)
        pipeline = headrace.Pipeline(f"cells-{factor}")
        trades = topic_of(pipeline, notebook["Trade"], "cells-in")  # type: ignore[arg-type,var-annotated]
        raised = trades.rows.select("`__main__:raised`(price) AS price")
        alerts = typed(pipeline, raised, notebook["Trade"]).map(notebook["alert"])  # type: ignore[arg-type,var-annotated]
        alerts.rows.to_topic(f"cells-out-{factor}")
        h.produce("cells-in", [{"price": 3.0}])
        h.start(pipeline)
    assert h.wait_idle()
    assert h.rows("cells-out-2") == [{"price": 10.0}] * 2
    assert h.rows("cells-out-10") == [{"price": 130.0}] * 2
    h.run_batch(pipeline)
    assert h.rows("cells-out-10") == [{"price": 130.0}] * 4
    for factor in (2, 10):
        h.stop(f"cells-{factor}")


def test_a_module_that_was_edited_is_taken_as_it_is(
    h: headrace.Local, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    h.create_topic("edited-in")
    h.produce("edited-in", [{"price": 3.0}])
    for factor in (2, 10):
        (tmp_path / "edited_shop.py").write_text(CELL.format(factor=factor))
        pipeline = headrace.Pipeline(f"edited-{factor}")
        rows = pipeline.topic("edited-in", schema="price DOUBLE").python("edited_shop:alert")
        rows.to_topic(f"edited-out-{factor}")
        h.run_batch(pipeline)
        assert h.rows(f"edited-out-{factor}") == [{"price": 3.0 * factor}]
    sys.modules.pop("edited_shop")


def test_a_batch_fails_as_a_stream_does(h: headrace.Local) -> None:
    h.create_topic("failing-in")
    h.produce("failing-in", [{"n": 1}])
    pipeline = headrace.Pipeline("failing")
    doubled = pipeline.topic("failing-in", schema="n BIGINT").select(
        "assert_true(n > 1, 'too small') AS n", id="broken"
    )
    doubled.to_topic("failing-out")
    with pytest.raises(JobFailed, match="too small") as failed:
        h.run_batch(pipeline)
    assert len(str(failed.value)) < 500
    assert failed.value.__cause__ is not None


def test_all_python_processes_of_spark_end_without_a_trace(h: headrace.Local) -> None:
    """Spark's own daemon prints a traceback when Java lets go of one of its workers; ours does not."""
    h.create_topic("quiet-in")
    h.run_batch(headrace.Pipeline.from_text('topic quiet-in schema="n INT" ! to-topic quiet-out', "quiet"))
    commands = descendants(os.getpid())
    assert [command for command in commands if "fork_server" in command], commands
    assert [command for command in commands if "pyspark.daemon" in command], commands
    assert not [command for command in commands if "-P -m pyspark.daemon" in command]


def descendants(process: int) -> list[str]:
    """The commands of all processes that a process started, and that these started."""
    listed = subprocess.run(["ps", "-ww", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    started: dict[str, list[tuple[str, str]]] = {}
    for pid, parent, command in (line.split(None, 2) for line in listed.splitlines()):
        started.setdefault(parent, []).append((pid, command))
    found, waiting = [], [str(process)]
    while waiting:
        for pid, command in started.get(waiting.pop(), []):
            found.append(command)
            waiting.append(pid)
    return found


def test_a_session_that_another_took_in_leaves_the_table(h: headrace.Local) -> None:
    h.create_topic("clicks")
    pipeline = headrace.Pipeline("sessions")
    clicks = pipeline.topic("clicks", schema="name STRING, ts TIMESTAMP", event_time="ts", watermark="1 minute")
    counts = clicks.session_window("5 seconds", time="ts", keys=["name"], aggregates=["count(*) AS n"], emit="changes")
    counts.to_table("sessions", key="name, _window_start", id="sessions")
    h.start(pipeline)
    for second in (10, 7):
        h.produce("clicks", [{"name": "a", "ts": f"2026-01-01T00:00:{second:02}Z"}])
        assert h.wait_idle(pipeline)
    assert h.sql("SELECT name, n FROM sessions") == [{"name": "a", "n": 2}]
    assert h.sql("SELECT count(*) AS sessions FROM sessions") == [{"sessions": 1}]
    h.stop(pipeline)
