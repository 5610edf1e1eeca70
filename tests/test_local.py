from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import headrace
from headrace.errors import Conflict, ExternalFailure, InvalidGraph, InvalidInput, NotFound
from headrace.graph import Schema
from headrace.graph.document import Config
from headrace.operators.length_window import LengthWindow
from headrace.serial import Chain, Step
from headrace.testing import ChainTester, rows_on_spark

DEADLINE_S = 60.0
SCHEMA = "drone STRING, battery DOUBLE"
ROWS = [{"drone": f"d{n}", "battery": float(n)} for n in range(40)]


@pytest.fixture(scope="module")
def h() -> Iterator[headrace.Local]:
    with headrace.local() as made:
        yield made


def alerts(name: str, source: str, target: str) -> headrace.Pipeline:
    pipeline = headrace.Pipeline(name)
    pipeline.topic(source, schema=SCHEMA).filter("battery < 20").to_topic(target, key="drone")
    return pipeline


def test_import_is_light() -> None:
    script = "import sys, headrace; print([m for m in ('pyspark', 'pyarrow', 'confluent_kafka') if m in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"


def test_public_names() -> None:
    assert set(headrace.__all__) <= set(dir(headrace))
    for name in headrace.__all__:
        assert getattr(headrace, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        headrace.nothing  # noqa: B018


def test_stream_from_topic_to_topic(h: headrace.Local) -> None:
    h.create_topic("stream-in", partitions=3)
    follower = h.events.follow()
    assert h.produce("stream-in", ROWS[:30], key="drone") == 30
    pipeline = alerts("stream", "stream-in", "stream-out")
    assert h.start(pipeline).state == "running"
    assert h.wait_idle(pipeline)
    assert sorted(row["battery"] for row in h.rows("stream-out")) == [float(n) for n in range(20)]
    h.produce("stream-in", ROWS[:5], key="drone")
    assert h.wait_idle()
    assert len(h.rows("stream-out")) == 25
    assert h.stop(pipeline).state == "stopped"
    seen = {event.kind for event in iter(lambda: follower.next(timeout_s=0.1), None)}
    assert {"started", "progress", "stopped"} <= seen
    follower.close()


def test_a_table_is_asked_while_it_is_written(h: headrace.Local) -> None:
    h.create_topic("table-in")
    pipeline = headrace.Pipeline("tabled")
    pipeline.topic("table-in", schema=SCHEMA).to_table("newest", key="drone", id="newest")
    h.produce("table-in", [*ROWS[:3], {"drone": "d1", "battery": 99.0}])
    h.start(pipeline)
    assert h.wait_idle(pipeline)
    assert h.sql("SELECT battery FROM newest WHERE drone = 'd1'") == [{"battery": 99.0}]
    assert h.sql("SELECT count(*) AS n FROM newest") == [{"n": 3}]
    h.stop(pipeline)
    with pytest.raises(InvalidInput, match="asks nothing"):
        h.sql("SHOW TABLES")


def test_stopped_pipeline_goes_on_where_it_was(h: headrace.Local) -> None:
    h.create_topic("again-in")
    pipeline = alerts("again", "again-in", "again-out")
    for start in (0, 5, 10):
        h.produce("again-in", ROWS[start : start + 5])
        h.start(pipeline)
        assert h.wait_idle(pipeline)
        h.stop(pipeline)
    assert sorted(row["battery"] for row in h.rows("again-out")) == [float(n) for n in range(15)]


def test_signals_hold_a_pipeline_at_their_place_and_let_it_go_on(h: headrace.Local) -> None:
    h.create_topic("held-in", partitions=2)
    pipeline = alerts("held", "held-in", "held-out")
    h.produce("held-in", ROWS[:5], key="drone")
    h.start(pipeline)
    pause = h.signal("pause", pipeline)
    h.produce("held-in", ROWS[5:10], key="drone")
    deadline_s = time.monotonic() + DEADLINE_S
    while h.status(pipeline).paused_by != pause.request.id and time.monotonic() < deadline_s:
        time.sleep(0.1)
    assert sorted(row["battery"] for row in h.rows("held-out")) == [float(n) for n in range(5)]
    h.signal("resume", "held")
    assert h.wait_idle(pipeline)
    assert sorted(row["battery"] for row in h.rows("held-out")) == [float(n) for n in range(10)]
    assert h.signal("custom", "held", handling="always").request.handling == "always"
    assert [known.request.kind for known in h.signals()] == ["pause", "resume", "custom"]
    h.stop(pipeline)


def test_batch_is_the_same_pipeline(h: headrace.Local) -> None:
    h.create_topic("batch-in", partitions=2)
    h.produce("batch-in", ROWS, key="drone")
    result = h.run_batch(alerts("batch", "batch-in", "batch-out"))
    assert sorted(row["battery"] for row in h.rows("batch-out")) == [float(n) for n in range(20)]
    assert result.seconds > 0


def test_preview(h: headrace.Local) -> None:
    h.create_topic("preview-in")
    h.produce("preview-in", ROWS)
    pipeline = headrace.Pipeline("looking")
    pipeline.topic("preview-in", schema=SCHEMA).preview(rows=5, id="look")
    h.start(pipeline)
    assert h.wait_idle(pipeline)
    assert [row["battery"] for row in h.preview(pipeline, "look")] == [35.0, 36.0, 37.0, 38.0, 39.0]
    h.stop(pipeline)


def test_rows_may_be_bytes_text_and_hold_times(h: headrace.Local) -> None:
    h.create_topic("kinds")
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    assert h.produce("kinds", [b'{"a": 1}', '{"a": 2}', {"a": moment}, None]) == 4
    assert h.rows("kinds") == [{"a": 1}, {"a": 2}, {"a": "2026-01-01T00:00:00+00:00"}, None]


def test_wrong_rows_are_refused(h: headrace.Local) -> None:
    h.create_topic("wrong")
    with pytest.raises(InvalidInput, match=r"row 1: .*nothing that JSON can say"):
        h.produce("wrong", [{"a": 1}, {"a": object()}])
    with pytest.raises(InvalidInput, match="no field 'k'"):
        h.produce("wrong", [{"a": 1}], key="k")
    with pytest.raises(InvalidInput, match="put it into a list"):
        h.produce("wrong", {"a": 1})
    # None of them was written, not even later.
    assert h.produce("wrong", pa.table({"a": [2]})) == 1
    assert h.rows("wrong") == [{"a": 2}]
    assert h.rows("wrong", "arrow") == pa.table({"a": [2]})
    assert h.rows("wrong", "pandas").to_dict("list") == {"a": [2]}


def test_what_the_broker_refused_does_not_stand_in_the_way_of_more(h: headrace.Local) -> None:
    h.create_topic("small", config={"max.message.bytes": "1000"})
    with pytest.raises(ExternalFailure, match="not accepted"):
        h.produce("small", ["x" * 2_000])
    assert h.produce("small", [{"a": 1}]) == 1
    assert h.rows("small") == [{"a": 1}]


def test_it_is_open_once_and_closed_any_number_of_times(h: headrace.Local, tmp_path: Path) -> None:
    with pytest.raises(Conflict, match="open already"):
        h.open()
    never = headrace.local(tmp_path)
    never.close()
    never.close()


def test_wrong_pipelines_are_refused(h: headrace.Local) -> None:
    with pytest.raises(NotFound, match="no-such-topic"):
        h.start(alerts("wrong", "no-such-topic", "out"))
    with pytest.raises(InvalidGraph):
        h.start(headrace.Pipeline("empty").topic("x", schema="nonsense")._builder)
    with pytest.raises(NotFound):
        h.rows("no-such-topic")
    with pytest.raises(NotFound):
        h.stop("never-started")


def test_directory_in_use_is_refused(h: headrace.Local) -> None:
    with pytest.raises(Conflict, match="in use by process"), headrace.local(h.engine.settings.data_directory):
        pass


def test_nothing_works_outside_of_with(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="nothing runs here"):
        headrace.local(tmp_path).create_topic("x")


def test_a_case_is_the_same_with_and_without_spark(h: headrace.Local) -> None:
    batches: list[dict[str, list[Any]]] = [
        {"k": ["a", "b", "a"], "n": [1, 2, 3]},
        {"k": ["a"], "n": [4]},
        {"k": ["b", "a"], "n": [5, 6]},
    ]
    config: Config = {"length": 2, "keys": ["k"], "aggregates": ["sum(n) AS s"]}

    def chain() -> Chain:
        operator = LengthWindow()
        return Chain.line(
            [Step("w", operator.instance(operator.configure(config), Schema.parse("k STRING, n BIGINT")))]
        )

    def between(source: str, sink: str) -> headrace.Pipeline:
        window = 'length-window 2 keys=k aggregates=["sum(n) AS s"]'
        text = f'topic {source} schema="k STRING, n BIGINT" ! {window} ! to-topic {sink}'
        return headrace.Pipeline.from_text(text, name="case")

    tester = ChainTester(chain)
    for batch in batches:
        tester.run(batch)
    made = tester.table()
    assert made is not None
    assert rows_on_spark(h, between, *batches) == made.to_pylist()
    assert [row["s"] for row in made.to_pylist()] == [1, 2, 4, 7, 7, 10]


SCRIPT = """
import headrace

h = headrace.local().open()
h.create_topic("a")
h.produce("a", [{"id": n} for n in range(10)])
h.start(headrace.Pipeline.from_text('topic a schema="id BIGINT" ! filter "id > 1" ! to-topic b', "quiet"))
assert h.wait_idle()
print(len(h.rows("b")))
h.close()
"""


@pytest.mark.slow
def test_a_script_prints_only_what_it_prints_itself() -> None:
    """Neither the JVM, nor Spark's workers when it ends, nor librdkafka."""
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=280, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "8\n", "")
