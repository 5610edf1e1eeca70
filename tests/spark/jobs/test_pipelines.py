"""Pipelines on real Spark, from a real client through the real log to a topic, a file or a preview."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pyarrow.csv
import pyarrow.parquet
import pytest
from confluent_kafka import Consumer, Producer

from headrace.errors import InvalidGraph, InvalidInput, NeedsBegin, NotFound
from headrace.log.testing import bomb
from headrace.server.lag import LiveLag
from headrace.spark import PipelineEvent
from headrace.spark.jobs.job import Job
from headrace.spark.jobs.launching import Launching
from headrace.spark.jobs.query import RunningQuery
from headrace.sql import parse
from headrace.wire.client import Client

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

pytestmark = pytest.mark.spark

ROWS: list[dict[str, Any]] = [
    {"k": f"d{i % 5}", "n": i, "ts": f"2026-01-01T00:{i // 60:02d}:{i % 60:02d}Z"} for i in range(300)
]
SCHEMA = 'schema="k STRING, n BIGINT, ts TIMESTAMP"'
DEADLINE_S = 60.0


def by_n(rows: list[dict[str, Any]]) -> list[int]:
    return sorted(row["n"] for row in rows)


def test_what_a_query_reports_while_others_are_launched_counts(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = stack.topic("in", ROWS), stack.name("out")
    window = 'tumbling-window "10 minutes" time=ts keys=["k"] aggregates=["count(1) AS n"]'
    document = stack.pipeline(
        f"topic {source} {SCHEMA} event_time=ts as src ! to-topic {target}\n@src ! {window} ! to-topic {target}-counts"
    )
    start_query, report, reported = Launching._start_query, Job.report, set[str]()

    def take_note(job: Job, run_id: str, progress: Any) -> None:
        report(job, run_id, progress)
        reported.add(run_id)

    def start_and_let_it_report(launching: Launching, *given: Any) -> RunningQuery:
        running = start_query(launching, *given)
        deadline_s = time.monotonic() + DEADLINE_S
        while running.run_id not in reported:
            assert time.monotonic() < deadline_s
            time.sleep(0.05)
        return running

    monkeypatch.setattr(Job, "report", take_note)
    monkeypatch.setattr(Launching, "_start_query", start_and_let_it_report)
    stack.engine.start(document)
    read = [dict(query.positions) for query in stack.engine.status(document.name).queries]
    assert [sum(positions.values()) for positions in read] == [len(ROWS), len(ROWS)]
    stack.finish(document)


def test_filter_and_select_to_a_topic(stack: Stack) -> None:
    source, target = stack.topic("in", ROWS), stack.name("out")
    document = stack.pipeline(
        f'topic {source} {SCHEMA} ! filter "n % 3 = 0" ! select k n "n * 2 AS twice" ! to-topic {target} key=k'
    )
    stack.run(document)
    rows = stack.rows(target)
    assert sorted(rows, key=lambda row: row["n"]) == [
        {"k": f"d{n % 5}", "n": n, "twice": 2 * n} for n in range(0, 300, 3)
    ]


def test_branches_share_one_query_and_every_sink_gets_its_rows(stack: Stack, tmp_path: Path) -> None:
    source, low, high = stack.topic("in", ROWS), stack.name("low"), stack.name("high")
    document = stack.pipeline(
        f"""topic {source} {SCHEMA} as src ! filter "n < 10" as low ! to-topic {low}
        @src ! filter "n > 10" ! filter "100 / (n - 10) > 5" ! select "n - 10 AS n" k ! to-topic {high}
        @low ! select k ! to-file {tmp_path}/files format=json
        @src ! preview rows=7 as newest"""
    )
    stack.run(document)
    assert by_n(stack.rows(low)) == list(range(10))
    # The row with n = 10 is in the pass, and would divide by zero, had the first filter not left it out.
    assert by_n(stack.rows(high)) == list(range(1, 20))
    lines = [json.loads(line) for path in (tmp_path / "files").glob("*.json") for line in path.read_text().splitlines()]
    assert sorted(line["k"] for line in lines) == sorted(f"d{n % 5}" for n in range(10))
    assert len(stack.engine.status(document.name).queries) == 1


def test_restart_goes_on_where_it_was(stack: Stack) -> None:
    source, target = stack.topic("in", ROWS[:100]), stack.name("out")
    document = stack.pipeline(f"topic {source} {SCHEMA} ! to-topic {target}")
    stack.run(document)
    stack.produce(source, ROWS[100:200])
    stack.run(document)
    assert by_n(stack.rows(target)) == list(range(200))
    stack.run(document, reset=True)
    assert by_n(stack.rows(target)) == sorted([*range(200), *range(200)])


def test_a_restart_with_nothing_new_knows_at_once_that_nothing_waits(stack: Stack) -> None:
    source = stack.topic("in", ROWS[:100])
    document = stack.pipeline(f"topic {source} {SCHEMA} ! to-topic {stack.name('out')}")
    stack.run(document)
    (before,) = stack.engine.status(document.name).queries
    (after,) = stack.engine.start(document).queries
    assert sum(after.positions.values()) == 100
    assert (after.positions, after.batch) == (before.positions, before.batch)
    assert LiveLag(stack.data / "log").of(stack.engine.status(document.name)).queries[0].lag == before.lag
    assert set(before.lag.values()) == {0}
    stack.finish(document)


@pytest.mark.parametrize("lost", [False, True], ids=["stopped", "file-lost"])
@pytest.mark.parametrize("between", ['filter "n % 2 = 0"', "filter \"upper(k) <> 'D1'\" ! deduplicate n"])
def test_totals_last_through_restarts(stack: Stack, between: str, *, lost: bool) -> None:
    source, target = stack.topic("in", [*ROWS[:100], b"no row"]), stack.name("out")
    document = stack.pipeline(f"topic {source} {SCHEMA} bad_rows=drop as src ! {between} ! to-topic {target} as out")
    stack.run(document)
    (before,) = stack.engine.status(document.name).queries
    totals = {count.node: count for count in before.nodes}
    assert (totals["src"].rows_out_total, totals["src"].bad_total) == (100, 1)
    assert totals["out"].rows_out_total == len(stack.rows(target))
    if lost:  # as by a crash before the last report: the commit record has what came before, and the batch is run again
        for file in (stack.data / "jobs" / document.name).rglob("totals.json"):
            file.unlink()
    else:
        assert stack.engine.start(document).queries[0].nodes == before.nodes
        stack.finish(document)
    stack.produce(source, [*ROWS[100:150], b"no row again"])
    stack.run(document)
    (after,) = stack.engine.status(document.name).queries
    totals = {count.node: count for count in after.nodes}
    assert (totals["src"].rows_out_total, totals["src"].bad_total) == (150, 2)
    assert totals["out"].rows_out_total == len(stack.rows(target))
    stack.run(document, reset=True)
    (anew,) = stack.engine.status(document.name).queries
    assert next(count.rows_out_total for count in anew.nodes if count.node == "src") == 300


def test_tumbling_window_final_equals_batch(stack: Stack) -> None:
    # In every partition of the topic: the slowest one holds the watermark back.
    closing = [{"k": f"end{n}", "n": 0, "ts": "2026-01-01T09:00:00Z"} for n in range(8)]
    source, streamed, batched = stack.topic("in", ROWS), stack.name("streamed"), stack.name("batched")
    window = 'tumbling-window "1 minute" time=ts keys=["k"] aggregates=["sum(n) AS total", "count(1) AS n"]'
    text = f'topic {source} {SCHEMA} event_time=ts watermark="2 seconds" max_rows_per_batch=70 ! {window} ! to-topic '
    streaming = stack.pipeline(text + streamed)
    stack.engine.start(streaming)
    assert stack.engine.wait_idle(streaming.name, 90)
    stack.produce(source, closing)
    stack.finish(streaming)
    stack.engine.run_batch(stack.pipeline(text + batched))

    def windows(topic: str) -> list[tuple[Any, ...]]:
        rows = [row for row in stack.rows(topic) if not row["k"].startswith("end")]
        return sorted((row["_window_start"], row["k"], row["total"], row["n"]) for row in rows)

    expected = [
        (
            f"2026-01-01T00:{minute:02d}:00.000Z",
            f"d{key}",
            sum(r["n"] for r in ROWS[minute * 60 : minute * 60 + 60] if r["k"] == f"d{key}"),
            12,
        )
        for minute in range(5)
        for key in range(5)
    ]
    assert windows(streamed) == windows(batched) == expected


def test_emit_changes_ends_with_the_final_values(stack: Stack) -> None:
    source, target = stack.topic("in", ROWS), stack.name("out")
    window = 'tumbling-window "1 hour" time=ts aggregates=["count(1) AS n"] emit=changes'
    stack.run(
        stack.pipeline(f"topic {source} {SCHEMA} event_time=ts max_rows_per_batch=100 ! {window} ! to-topic {target}")
    )
    counts = [row["n"] for row in stack.rows(target)]
    assert counts[-1] == 300
    assert counts == sorted(counts)
    assert len(counts) >= 3


def test_bad_rows_are_counted_and_kept_in_the_dead_letter(stack: Stack) -> None:
    source, target, letters = stack.topic("in", [*ROWS[:3], b"nonsense", b"\xff"]), stack.name("out"), stack.name("bad")
    text = f"topic {source} {SCHEMA} bad_rows=dead_letter dead_letter={letters} as src ! to-topic {target}"
    document = stack.pipeline(text)
    stack.run(document)
    assert by_n(stack.rows(target)) == [0, 1, 2]
    found = sorted(stack.rows(letters), key=lambda letter: letter["reason"])
    assert {letter.get("value") or letter.get("value_base64") for letter in found} == {"nonsense", "/w=="}
    assert all(letter["topic"] == source and letter["node"] == "src" for letter in found)
    (query,) = stack.engine.status(document.name).queries
    counts = {count.node: count for count in query.nodes}
    assert (counts["src"].rows_out_total, counts["src"].bad_total) == (3, 2)


def test_a_bomb_is_a_bad_record_and_the_pipeline_goes_on(stack: Stack) -> None:
    source, target, letters = stack.topic("in", ROWS[:2], partitions=1), stack.name("out"), stack.name("bad")
    with Client(stack.bootstrap) as client:
        client.produce({source: {0: bomb(record_count=4)}})
    stack.produce(source, ROWS[2:4])
    document = stack.pipeline(
        f"topic {source} {SCHEMA} bad_rows=dead_letter dead_letter={letters} as src ! to-topic {target}"
    )
    stack.run(document)
    assert by_n(stack.rows(target)) == [0, 1, 2, 3]
    (letter,) = stack.rows(letters)
    assert (letter["topic"], letter["partition"], letter["offset"], letter["last_offset"]) == (source, 0, 2, 5)
    assert "unpacks to more than" in letter["reason"]
    (query,) = stack.engine.status(document.name).queries
    assert {count.node: count.bad_total for count in query.nodes}["src"] == 1


def test_bad_rows_beside_a_window_reach_the_dead_letter_too(stack: Stack) -> None:
    source, target, letters = stack.topic("in", [*ROWS[:3], b"nonsense"]), stack.name("out"), stack.name("bad")
    stack.run(
        stack.pipeline(
            f"topic {source} {SCHEMA} event_time=ts bad_rows=dead_letter dead_letter={letters}"
            f' ! tumbling-window "1 minute" time=ts aggregates=["count(1) AS n"] emit=changes ! to-topic {target}'
        )
    )
    assert [row["n"] for row in stack.rows(target)] == [3]
    assert [row["value"] for row in stack.rows(letters)] == ["nonsense"]


def test_bad_rows_fail_names_the_record(stack: Stack) -> None:
    source = stack.topic("in", [ROWS[0], b"nonsense"], partitions=1)
    document = stack.pipeline(f"topic {source} {SCHEMA} bad_rows=fail as src ! preview")
    events = stack.engine.events.follow()
    stack.engine.start(document)
    event = next(event for event in events if event.kind == "error" and event.pipeline == document.name)
    events.close()
    assert event.node == "src"
    assert f"{source}-0 at offset 1" in str(event.details["message"])
    record = event.details["record"]
    assert isinstance(record, dict)
    assert (record["topic"], record["offset"], record["value"]) == (source, 1, "nonsense")
    assert stack.engine.status(document.name).state == "failed"


def test_what_is_too_large_is_a_short_dead_letter_or_ends_the_job_by_name(stack: Stack) -> None:
    source, target, letters = stack.topic("in", partitions=1), stack.name("out"), stack.name("letters")
    document = stack.pipeline(
        f'topic {source} schema="s STRING" bad_rows=dead_letter dead_letter={letters}'
        f' ! select "concat(s, s) AS s" ! to-topic {target} as out'
    )
    stack.produce(source, [b"\xff" * 900_000, {"s": "a"}])
    stack.engine.start(document)
    assert stack.engine.wait_idle(document.name, 90)
    assert [row["s"] for row in stack.rows(target)] == ["aa"]
    assert [(row["offset"], row["value_bytes"]) for row in stack.rows(letters)] == [(0, 900_000)]
    events = stack.engine.events.follow()
    stack.produce(source, [{"s": "a" * 600_000}])
    event = next(event for event in events if event.kind == "error" and event.pipeline == document.name)
    events.close()
    assert event.node == "out"
    assert f"too large for the topic {target!r}: it takes 1,048,588 bytes" in str(event.details["message"])
    assert stack.engine.status(document.name).state == "failed"


def test_bad_rows_retry_reads_the_record_again(stack: Stack) -> None:
    source = stack.topic("in", [b"nonsense"], partitions=1)
    document = stack.pipeline(f"topic {source} {SCHEMA} bad_rows=retry as src ! preview")
    events = stack.engine.events.follow()
    stack.engine.start(document)
    again = next(e for e in events if e.pipeline == document.name and e.details.get("restart") == 2)
    events.close()
    stack.engine.stop(document.name)
    assert f"{source}-0 at offset 0" in str(again.details["reason"])
    assert stack.engine.status(document.name).state == "stopped"


def test_headers_of_records_are_a_column(stack: Stack) -> None:
    source, target = stack.topic("in", partitions=1), stack.name("out")
    producer = Producer({"bootstrap.servers": stack.bootstrap})
    producer.produce(source, b'{"n": 1}', headers=[("trace", b"t0"), ("trace", b"t1"), ("none", None)])
    producer.produce(source, b'{"n": 2}')
    producer.flush(30)
    sql = (
        f"CREATE STREAM t (n INT) WITH (topic = '{source}'); CREATE STREAM o WITH (topic = '{target}') AS"
        " SELECT n, HEADER('trace') AS trace, HAS_HEADER('none') AS has, _headers AS headers FROM t"
    )
    stack.run(parse(sql, stack.name("pipeline")))
    assert stack.rows(target) == [
        {"n": 1, "trace": "t1", "has": True, "headers": {"trace": "t1", "none": None}},
        {"n": 2, "trace": None, "has": False, "headers": {}},
    ]


def test_headers_are_written_with_the_records(stack: Stack) -> None:
    source, target = stack.topic("in", partitions=1), stack.name("out")
    producer = Producer({"bootstrap.servers": stack.bootstrap})
    producer.produce(source, b'{"n": 1}', headers=[("trace", b"t1"), ("tenant", b"a")])
    producer.produce(source, b'{"n": 2}')
    producer.produce(source, b'{"n": 3}', headers=[("trace", b"t3")])
    producer.flush(30)
    sql = (
        f"CREATE STREAM t (n INT) WITH (topic = '{source}');"
        f"CREATE STREAM o WITH (topic = '{target}', partitions = 2) AS"
        " SELECT n PRIMARY KEY, SET_HEADER('twice', n * 2), REMOVE_HEADER('tenant') FROM t WHERE n <> 3;"
        f"CREATE STREAM c (n INT) WITH (topic = '{target}-csv', format = 'csv');"
        "INSERT INTO c SELECT n, SET_HEADER('n', n) FROM t WHERE n > 1"
    )
    stack.run(parse(sql, stack.name("pipeline")))
    assert sorted(_written(stack, target)) == [
        (b'{"n":1}', [("trace", b"t1"), ("twice", b"2")]),
        (b'{"n":2}', [("twice", b"4")]),
    ]
    assert sorted(_written(stack, f"{target}-csv")) == [
        (b"2", [("n", b"2")]),
        (b"3", [("trace", b"t3"), ("n", b"3")]),
    ]


def _written(stack: Stack, topic: str) -> list[tuple[bytes | None, object]]:
    """Values and headers, as an ordinary client reads them."""
    consumer = Consumer({
        "bootstrap.servers": stack.bootstrap, "group.id": topic, "auto.offset.reset": "earliest",
        "isolation.level": "read_committed", "enable.partition.eof": True,
    })  # fmt: skip
    consumer.subscribe([topic])
    found: list[tuple[bytes | None, object]] = []
    ended: set[int] = set()
    partitions = consumer.list_topics(topic, 30).topics[topic].partitions
    while len(ended) < len(partitions):
        message = consumer.poll(1)
        if message is None:
            continue
        if message.error() is not None:
            ended.add(message.partition() or 0)
        else:
            found.append((message.value(), message.headers() or []))
    consumer.close()
    return found


def test_event_times_are_read_as_they_are_written(stack: Stack) -> None:
    records = [b'{"k": "a", "ts": 1767225600.5}', b'{"k": "a", "ts": 1767225601}', b'{"k": "a", "ts": "soon"}']
    seconds = stack.topic("in", records, partitions=1)
    texts = stack.topic("in", [b"b,01.01.2026 00:00:02", b"b,31.02.2026 00:00:02"], partitions=1)
    target = stack.name("out")
    sql = (
        f"CREATE STREAM s (k STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (topic = '{seconds}',"
        " 'event.time.format' = 'epoch_seconds');"
        f"CREATE STREAM t (k STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (topic = '{texts}', format = 'csv',"
        " 'event.time.format' = 'dd.MM.yyyy HH:mm:ss');"
        f"CREATE STREAM o (k STRING, ts TIMESTAMP) WITH (topic = '{target}');"
        "INSERT INTO o SELECT * FROM s UNION ALL SELECT * FROM t"
    )
    stack.run(parse(sql, stack.name("pipeline")))
    assert sorted(stack.rows(target), key=lambda row: str(row["ts"])) == [
        {"k": "a", "ts": "2026-01-01T00:00:00.500Z"},
        {"k": "a", "ts": "2026-01-01T00:00:01.000Z"},
        {"k": "b", "ts": "2026-01-01T00:00:02.000Z"},
    ]


def test_files_are_whole_and_typed(stack: Stack, tmp_path: Path) -> None:
    source = stack.topic("in", ROWS)
    document = stack.pipeline(
        f"""topic {source} {SCHEMA} as src ! filter "n < 20" ! to-file {tmp_path}/parquet format=parquet
        @src ! filter "n >= 290" ! select n k ! to-file {tmp_path}/csv format=csv"""
    )
    stack.run(document)
    table = pyarrow.parquet.read_table(sorted((tmp_path / "parquet").glob("*.parquet")))
    assert by_n(table.to_pylist()) == list(range(20))
    assert str(table.schema.field("ts").type) == "timestamp[us, tz=UTC]"
    rows = [row for path in (tmp_path / "csv").glob("*.csv") for row in pyarrow.csv.read_csv(path).to_pylist()]
    assert by_n(rows) == list(range(290, 300))
    assert not list(tmp_path.rglob(".staged-*"))


def test_arrow_topics_round_trip_and_system_columns(stack: Stack) -> None:
    source, arrow, target = stack.topic("in", ROWS), stack.name("arrow"), stack.name("out")
    stack.run(stack.pipeline(f"topic {source} {SCHEMA} ! to-topic {arrow} format=arrow"))
    stack.run(
        stack.pipeline(
            f'topic {arrow} {SCHEMA} format=arrow ! filter "n < 50" ! select n k "_offset AS at" ! to-topic {target}'
        )
    )
    assert by_n(stack.rows(target)) == list(range(50))
    keyed = stack.name("keyed")
    stack.run(
        stack.pipeline(
            f'topic {source} {SCHEMA} ! select "CAST(_key AS STRING) AS key" "_partition AS p" k n ! to-topic {keyed}'
        )
    )
    assert all(row["key"] == row["k"] and row["p"] in (0, 1) for row in stack.rows(keyed))


@pytest.mark.parametrize(
    ("start", "expected"), [("latest", []), ("offset:4", [4, 5, 6, 7, 8, 9]), ("earliest", list(range(10)))]
)
def test_where_the_first_run_begins(stack: Stack, start: str, expected: list[int]) -> None:
    source, target = stack.topic("in", ROWS[:10], partitions=1), stack.name("out")
    document = stack.pipeline(f"topic {source} {SCHEMA} start={start} ! to-topic {target}")
    stack.run(document)
    stack.produce(source, ROWS[10:12])
    stack.run(document)
    assert by_n(stack.rows(target)) == [*expected, 10, 11]


def test_a_generator_needs_no_topic(stack: Stack) -> None:
    target = stack.name("out")
    result = stack.engine.run_batch(
        stack.pipeline(f'generator 100 columns=["value * 2 AS n"] rows=50 ! to-topic {target}')
    )
    assert by_n(stack.rows(target)) == list(range(0, 100, 2))
    assert sum(result.rows.values()) >= 50


def test_batch_over_a_range(stack: Stack) -> None:
    source, target = stack.topic("in", ROWS[:20], partitions=1), stack.name("out")
    document = stack.pipeline(f'topic {source} {SCHEMA} ! filter "n > 0" ! to-topic {target}')
    result = stack.engine.run_batch(document, start="offset:5", end="offset:15")
    assert by_n(stack.rows(target)) == list(range(5, 15))
    assert result.rows["filter_1"] == 10


def counts(event: PipelineEvent, kind: str) -> dict[str, int]:
    return cast("dict[str, int]", event.details[kind])


def test_counts_per_node_edge_and_partition(stack: Stack) -> None:
    source = stack.topic("in", ROWS)
    document = stack.pipeline(
        f'topic {source} {SCHEMA} as src ! filter "n < 100" as some ! filter "n < 10" as few ! preview as shown'
    )
    events = stack.engine.events.follow()
    stack.run(document)
    progress = [e for e in stack.engine.events.history(document.name) if e.kind == "progress" and e.details["nodes"]]
    events.close()
    totals: dict[str, int] = {}
    for event in progress:
        for node, rows in counts(event, "nodes").items():
            totals[node] = totals.get(node, 0) + rows
    assert totals == {"src": 300, "some": 100, "few": 10, "shown": 10}
    assert sum(counts(event, "edges")["some→few"] for event in progress) == 100
    read: dict[str, int] = {}
    for event in progress:
        for partition, rows in counts(event, "partitions").items():
            read[partition] = read.get(partition, 0) + rows
    assert sum(read.values()) == 300
    assert set(read) == {f"{source}-0", f"{source}-1"}
    kinds = [event.kind for event in stack.engine.events.history(document.name)]
    assert kinds.count("started") == kinds.count("stopped") == 1


def test_what_cannot_run_is_refused_with_a_reason(stack: Stack) -> None:
    source = stack.topic("in")
    with pytest.raises(InvalidGraph, match="unknown column 'batery'"):
        stack.engine.start(stack.pipeline(f'topic {source} {SCHEMA} ! filter "batery > 1" ! preview'))
    with pytest.raises(NotFound, match="no-such-topic"):
        stack.engine.start(stack.pipeline(f"topic no-such-topic {SCHEMA} ! preview"))
    with pytest.raises(InvalidInput, match="nonexistent_function"):
        stack.engine.start(stack.pipeline(f'topic {source} {SCHEMA} ! select "nonexistent_function(n) AS m" ! preview'))
    with pytest.raises(InvalidInput, match="no name for a pipeline"):
        stack.engine.start(stack.pipeline(f"topic {source} {SCHEMA} ! preview", name="../elsewhere"))
    with pytest.raises(NotFound, match="nobody"):
        stack.engine.status("nobody")


def test_a_changed_window_is_refused_until_reset(stack: Stack) -> None:
    source, name = stack.topic("in", ROWS[:5]), stack.name("windowed")
    text = 'topic {} {} event_time=ts ! tumbling-window "{}" time=ts aggregates=["count(1) AS n"] ! preview'
    stack.run(stack.pipeline(text.format(source, SCHEMA, "1 minute"), name))
    changed = stack.pipeline(text.format(source, SCHEMA, "2 minutes"), name)
    with pytest.raises(NeedsBegin, match="would begin empty"):
        stack.engine.start(changed)
    stack.run(changed, reset=True)


def test_a_remote_broker_gives_the_same_rows(stack: Stack) -> None:
    """The same engine, told nothing of the log's files: it reads through librdkafka, markers and all."""
    source, middle, target = stack.topic("in", ROWS), stack.name("middle"), stack.name("out")
    stack.run(stack.pipeline(f"topic {source} {SCHEMA} ! to-topic {middle}"))
    local = stack.engine.settings
    stack.engine.settings = replace(local, log_directory=None)
    try:
        document = stack.pipeline(f'topic {middle} {SCHEMA} ! filter "n >= 100" ! to-topic {target}')
        stack.run(document)
        stack.produce(middle, ROWS[:5])
        stack.produce(middle, [{"k": "x", "n": 777, "ts": None}])
        stack.run(document)
    finally:
        stack.engine.settings = local
    assert by_n(stack.rows(target)) == [*range(100, 300), 777]


def test_until_end_reads_what_is_there_in_batches_and_ends(stack: Stack) -> None:
    source, target = stack.topic("in", ROWS), stack.name("out")
    document = stack.pipeline(f"topic {source} {SCHEMA} max_rows_per_batch=100 ! to-topic {target}")
    events = stack.engine.events.follow()
    stack.engine.start(document, until_end=True)
    seen = list(takewhile(lambda event: event.kind not in ("end_of_stream", "error"), events))
    events.close()
    assert by_n(stack.rows(target)) == list(range(300))
    assert len([event for event in seen if event.kind == "progress"]) >= 3
    assert stack.engine.stop(document.name).state == "stopped"
