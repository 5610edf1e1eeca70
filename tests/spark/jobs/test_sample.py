"""Rows at any place of a pipeline, without a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headrace.errors import InvalidGraph, InvalidInput, NotFound
from headrace.graph import Config
from headrace.spark.jobs.sample import Made

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

pytestmark = pytest.mark.spark


def test_newest_rows_of_every_edge_come_from_the_log_and_are_told_with_their_offsets(stack: Stack) -> None:
    topic = stack.topic("sampled", [{"k": n, "v": n} for n in range(300)], partitions=3)
    steps = 'filter "v % 2 = 0" ! select "v" "v * 10 AS tenfold"'
    document = stack.pipeline(f'topic {topic} schema="k INT, v INT" ! {steps} ! to-topic {topic}-out')
    sampling = stack.engine.sampling()
    source = sampling.edge(document, "topic_1", "out", limit=30)
    assert source.schema.names == ("k", "v")
    assert len(source.rows) == 30
    assert set(source.ranges[topic]) == {"0", "1", "2"}
    assert all(end - start == 10 for start, end in source.ranges[topic].values())
    halved = sampling.edge(document, "select_1", "out", limit=100)
    assert len(halved.rows) == 100
    assert all(row["v"] % 2 == 0 and row["tenfold"] == 10 * row["v"] for row in halved.rows)
    wanted = sampling.edge(document, "select_1", "out", limit=10, condition="tenfold = 1000")
    assert wanted.rows == [{"v": 100, "tenfold": 1000}]
    with pytest.raises(NotFound, match="selekt"):
        sampling.edge(document, "selekt", "out", limit=1)
    with pytest.raises(InvalidGraph, match="tenfld"):
        sampling.edge(document, "select_1", "out", limit=1, condition="tenfld = 1")


def test_bad_records_are_left_out_of_a_sample(stack: Stack) -> None:
    topic = stack.topic("sampled-bad", [{"v": 1}, b"{no json", {"v": None}], partitions=1)
    document = stack.pipeline(f'topic {topic} schema="v INT" ! preview')
    assert stack.engine.sampling().edge(document, "topic_1", "out", limit=10).rows == [{"v": 1}, {"v": None}]


def test_a_running_generator_shows_what_it_made_last(stack: Stack) -> None:
    document = stack.pipeline('generator 10 columns=["value", "timestamp AS at"] ! preview')
    made = {"generator_1": Made(rows=1_000, started_ms=1_700_000_000_000)}
    rows = stack.engine.sampling(made).edge(document, "generator_1", "out", limit=2).rows
    assert [row["value"] for row in rows] == [998, 999]
    assert rows[0]["at"].startswith("2023-11-14T22:14:59.8")


def test_given_rows_are_shown_after_every_node_of_a_test_run(stack: Stack) -> None:
    document = stack.pipeline(
        'topic not-there schema="drone STRING, battery DOUBLE" ! filter "battery < 20" ! to-topic nowhere'
    )
    rows: list[Config] = [{"drone": "a", "battery": 10.0}, {"drone": "b", "battery": 50.0}, {"drone": "c"}]
    found = stack.engine.sampling(inputs={"topic_1": rows}).nodes(document, limit=10)
    assert [row["drone"] for row in found["topic_1"].rows] == ["a", "b", "c"]
    assert found["filter_1"].rows == [{"drone": "a", "battery": 10.0}]
    assert found["filter_1"].schema.names == ("drone", "battery")
    with pytest.raises(InvalidInput, match="filter_1"):
        stack.engine.sampling(inputs={"filter_1": rows}).nodes(document, limit=10)


def test_rows_after_serial_operators_come_from_a_trial_of_the_chain(stack: Stack) -> None:
    topic = stack.topic("sampled-serial", [{"k": n % 2, "v": n} for n in range(40)], partitions=2)
    window = 'length-window 3 keys=k aggregates=["sum(v) AS total"] as window'
    text = f'topic {topic} schema="k INT, v INT" ! {window} ! filter "total > 100" as high ! to-topic {topic}-out'
    document = stack.pipeline(text)
    sampling = stack.engine.sampling()
    found = sampling.edge(document, "window", "out", limit=100)
    assert found.begins_empty
    assert {row["v"]: row["total"] for row in found.rows} == {
        n: sum(m for m in (n, n - 2, n - 4) if m >= 0) for n in range(40)
    }
    high = sampling.edge(document, "high", "out", limit=100, condition="k = 1")
    assert sorted(row["v"] for row in high.rows) == [37, 39]
    assert not sampling.edge(document, "topic_1", "out", limit=10).begins_empty


def test_a_test_run_goes_through_other_keys_and_what_is_between(stack: Stack) -> None:
    steps = (
        'length-window 9 keys=k aggregates=["count(*) AS n"] ! select k "n * 10 AS m" as tens'
        ' ! length-window 9 keys=m aggregates=["count(*) AS seen"] as counted'
    )
    document = stack.pipeline(f'topic not-there schema="k BIGINT" ! {steps} ! to-topic nowhere')
    rows: list[Config] = [{"k": 1}, {"k": 1}, {"k": 2}]
    found = stack.engine.sampling(inputs={"topic_1": rows}).nodes(document, limit=10)
    assert sorted((row["k"], row["m"]) for row in found["tens"].rows) == [(1, 10), (1, 20), (2, 10)]
    assert sorted((row["m"], row["seen"]) for row in found["counted"].rows) == [(10, 1), (10, 2), (20, 1)]


def test_a_test_run_goes_through_a_chain_of_several_serial_operators(stack: Stack) -> None:
    count = 'length-window 9 keys=k aggregates=["count(*) AS {name}"] as {name}'
    steps = f"{count.format(name='one')} ! {count.format(name='two')} ! select k one two"
    document = stack.pipeline(f'topic not-there schema="k INT" ! {steps} ! to-topic nowhere')
    rows: list[Config] = [{"k": 1}, {"k": 1}, {"k": 2}]
    found = stack.engine.sampling(inputs={"topic_1": rows}).nodes(document, limit=10)
    assert sorted((row["k"], row["one"]) for row in found["one"].rows) == [(1, 1), (1, 2), (2, 1)]
    assert sorted((row["k"], row["one"], row["two"]) for row in found["select_1"].rows) == [
        (1, 1, 1),
        (1, 2, 2),
        (2, 1, 1),
    ]


def test_a_chain_that_no_job_could_run_is_no_sample_either(stack: Stack) -> None:
    window = 'length-window 2 keys=k aggregates=["count(*) AS {name}"] as {name}'
    one, two = window.format(name="one"), window.format(name="two")
    document = stack.pipeline(
        f'topic not-there schema="k INT" ! {one} ! filter "length(hex(one)) > 0" ! {two} ! preview'
    )
    with pytest.raises(InvalidInput, match="relational") as refused:
        stack.engine.sampling(inputs={"topic_1": [{"k": 1}]}).nodes(document, limit=10)
    assert refused.value.node == "two"
