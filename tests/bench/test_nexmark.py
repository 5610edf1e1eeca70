from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from headrace.bench.nexmark import NexmarkSettings
from headrace.bench.nexmark_events import CLOSING_MS, PER_GROUP, SCHEMAS, STREAMS, Events
from headrace.bench.nexmark_peer import BY_HAND
from headrace.bench.nexmark_queries import NAMES, find_query, parse_query
from headrace.bench.nexmark_results import canonical, require_equal, rows_of_files
from headrace.bench.nexmark_site import declarations
from headrace.bench.rows import EPOCH_MS, PARTITIONS
from headrace.errors import InvalidInput, JobFailed
from headrace.graph.validation import validate
from headrace.operators import Catalogue
from headrace.pipeline import Pipeline
from headrace.spark.planning.rules import rules_of


def test_events_are_the_same_each_time_and_as_many_of_each_kind_as_in_the_original() -> None:
    events = Events(10_000)
    first, again = (list(events.blocks()) for _ in range(2))
    assert [block.rows for block in first] == [block.rows for block in again]
    assert sum(block.rows.num_rows for block in first) == events.total
    assert [block.batch for block in first] == sorted(block.batch for block in first)
    kinds = Counter(kind for block in first for kind in block.rows["event_type"].to_pylist())
    assert kinds == {number: 200 * PER_GROUP[kind] + PARTITIONS for number, kind in enumerate(STREAMS)}


def test_each_event_is_the_same_as_columns_and_as_text() -> None:
    for block in Events(5_000).blocks():
        for row, text in zip(block.rows.to_pylist(), block.values.to_pylist(), strict=True):
            value = json.loads(str(text))
            kind = STREAMS[value["event_type"]]
            assert list(value) == ["event_type", *(column.split()[0] for column in SCHEMAS[kind].split(", "))]
            assert {name: row[name] for name in value if "ateTime" not in name and name != "expires"} == {
                name: item for name, item in value.items() if "ateTime" not in name and name != "expires"
            }
            assert all(row[name] is None for name in row if name not in value)


def test_bids_are_in_order_of_time_and_half_of_them_for_hot_auctions() -> None:
    rows = [row for block in Events(50_000).blocks() for row in block.rows.to_pylist()]
    last = [row for row in rows if row["dateTime"].timestamp() * 1000 == CLOSING_MS]
    assert len(last) == PARTITIONS * len(STREAMS)
    times_ms = [round(row["dateTime"].timestamp() * 1000) for row in rows if row not in last]
    assert (times_ms[0], times_ms[-1]) == (EPOCH_MS, EPOCH_MS + 499)
    assert times_ms == sorted(times_ms)
    bids = [row for row in rows if row["event_type"] == STREAMS.index("bid")]
    assert 0.45 < sum(row["auction"] % 100 == 0 for row in bids) / len(bids) < 0.55


@pytest.mark.parametrize("name", NAMES)
def test_every_query_is_a_pipeline_and_is_written_by_hand_too(name: str) -> None:
    query = find_query(name)
    declared = declarations(query, "events", "json", 1_000)
    document = Pipeline.from_sql(f"{declared}CREATE STREAM result AS {query.sql};").document()
    assert [node.id for node in document.nodes if node.operator == "topic"] == ["events"]
    assert (name in BY_HAND) is ("pyspark" not in query.without)


@pytest.mark.parametrize("name", ["q0", "q1", "q2", "q10", "q14", "q21", "q22"])
def test_queries_without_state_pass_no_row_through_spark(name: str) -> None:
    query, catalogue = find_query(name), Catalogue()
    declared = declarations(query, "events", "json", 1_000)
    document = Pipeline.from_sql(f"{declared}CREATE STREAM result AS {query.sql};").document()
    assert any(line.strip().startswith("direct: ") for line in rules_of(validate(document, catalogue), catalogue))


def test_a_query_says_what_it_reads_and_how_its_rows_are_compared() -> None:
    text = "-- @reads person, auction\n-- @keys a, b\n-- @windowed\n-- @without pyspark\nSELECT 1 EMIT CHANGES;\n"
    query = parse_query("q", text)
    assert (query.sql, query.reference.strip()) == ("SELECT 1 EMIT CHANGES", "SELECT 1")
    assert (query.reads, query.keys, query.is_windowed) == (("person", "auction"), ("a", "b"), True)
    assert query.without == ("pyspark",)
    both = parse_query("q", "SELECT 1;\n-- @reference\nSELECT 2;\n")
    assert (both.reference, both.flink) == ("SELECT 2", "SELECT 2")
    all_three = parse_query("q", "SELECT 1;\n-- @reference\nSELECT 2;\n-- @flink\nSELECT 3;\n")
    assert (all_three.sql, all_three.reference, all_three.flink) == ("SELECT 1", "SELECT 2", "SELECT 3")


def test_rows_are_equal_however_times_and_numbers_are_written() -> None:
    ours = canonical([{"a": 1, "t": "2026-01-01T00:00:00.5Z", "n": None, "p": "3.140"}], ())
    theirs = canonical([{"t": "2026-01-01T01:00:00.500+01:00", "a": 1.0, "p": 3.14}], ())
    require_equal(ours, theirs, "theirs")
    with pytest.raises(JobFailed, match="1 rows are missing and 0 too many, of 1"):
        require_equal(ours, canonical([], ()), "theirs")
    with pytest.raises(JobFailed, match="its columns are a and not a, p, t"):
        require_equal(ours, canonical([{"a": 1}], ()), "theirs")


def test_rows_with_lists_and_objects_are_compared_by_value() -> None:
    ours = canonical([{"l": [1, "2.50"], "o": {"b": None, "a": 1}}, {"l": None, "o": None}], ())
    require_equal(ours, canonical([{}, {"l": [1.0, 2.5], "o": {"a": "1.0"}}], ()), "theirs")
    with pytest.raises(JobFailed, match="1 rows are missing and 1 too many, of 2"):
        require_equal(ours, canonical([{}, {"l": [1.0, 2.5], "o": {"a": 2}}], ()), "theirs")


def test_notes_of_an_engine_are_no_rows(tmp_path: Path) -> None:
    for name in ("part-0", "b/part-1.json", "_SUCCESS", ".part-0.crc", "_spark_metadata/0"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps({"of": name}) + "\n")
    assert [row["of"] for row in rows_of_files(tmp_path)] == ["b/part-1.json", "part-0"]


def test_of_rows_with_one_key_the_last_counts() -> None:
    rows = [{"k": 1, "n": 1}, {"k": 2, "n": 1}, {"k": 1, "n": 2}]
    require_equal(canonical([{"k": 1, "n": 2}, {"k": 2, "n": 1}], ()), canonical(rows, ("k",)), "theirs")


def test_an_unknown_query_or_peer_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no query 'q24'"):
        NexmarkSettings(queries=("q24",))
    with pytest.raises(InvalidInput, match="no peer 'storm'"):
        NexmarkSettings(against=("storm",))
    with pytest.raises(InvalidInput, match="no multiple of 50"):
        NexmarkSettings(events=99)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_queries_come_to_the_rows_that_are_right() -> None:
    names = "q5,q20"
    command = [sys.executable, "-m", "headrace", "bench", "nexmark", "--events", "5000", "--queries", names, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    assert [result["name"] for result in report["results"]] == [*names.split(","), "geomean", "geomean-arrow"]
    assert all(result["peers"]["pyspark"] > 0 for result in report["results"])
