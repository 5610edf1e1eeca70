from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from headrace.graph import Column, Schema
from headrace.operators.aggregate import Aggregate
from headrace.operators.aggregate_checks import why_not
from headrace.operators.gap_window import GapWindow
from headrace.operators.sliding_window import SlidingWindow
from headrace.operators.tumbling_window import TumblingWindow
from headrace.serial import Partitioning

SCHEMA = replace(
    Schema.parse(
        "k STRING, n BIGINT, i INT, x DOUBLE, f FLOAT, money DECIMAL(10,2), flag BOOLEAN, start STRING,"
        " words ARRAY<STRING>, bytes BINARY, ts TIMESTAMP"
    ),
    hidden=(Column("_offset", "BIGINT"),),
    event_time="ts",
)


def reason(*aggregates: str, keys: tuple[str, ...] = ("k",), schema: Schema = SCHEMA) -> str | None:
    config = Aggregate().configure({"keys": list(keys), "aggregates": list(aggregates)})
    return why_not(config, schema)


@pytest.mark.parametrize(
    "item",
    [
        "count(*) AS c",
        "count(words) AS c",
        "COUNT(*) FILTER (WHERE (n < 3) AND flag) AS c",
        "sum(n * 2 + i) AS s",
        "avg(f) FILTER (WHERE x IS NOT NULL) AS a",
        "max(substring(k, 1, 2)) AS m",
        "min(date_format(ts, 'yyyy-MM-dd')) AS m",
        "count(DISTINCT (k)) FILTER (WHERE flag) AS d",
        "count(DISTINCT x) AS d",
        "sum(money) AS s",
        "max(money) AS m",
        "stddev(x) AS s",
        "std(money) FILTER (WHERE flag) AS s",
        "corr(n, x) AS c",
        "every(flag) AS e",
        "count_if(flag) FILTER (WHERE n > 1) AS c",
        "first(x) IGNORE NULLS AS f",
        "last(words) AS l",
        "max_by(k, x) AS m",
        "collect_list(n) AS l",
        "percentile(x, array(0.1, 0.9)) AS p",
        "listagg(k, ', ') AS l",
    ],
)
def test_what_runs_in_a_chain(item: str) -> None:
    assert reason(item) is None


@pytest.mark.parametrize(
    ("item", "cause"),
    [
        ("max(words) AS m", "max of ARRAY<STRING>"),
        ("count(DISTINCT words) AS d", "count of distinct ARRAY<STRING>"),
        ("bit_and(x) AS b", "bit_and of DOUBLE"),
        ("stddev(k) AS s", "stddev of STRING"),
        ("approx_count_distinct(n) AS d", "no aggregate that chains know"),
        ("percentile(x, n) AS p", "a share that is no number"),
        ("percentile(x, 0.5, n) AS p", "more than is known of it"),
        ("max_by(k, words) AS m", "max_by of STRING, ARRAY<STRING>"),
        ("count(DISTINCT k, n) AS d", "left to Spark"),
        ("count(n, i) AS c", "left to Spark"),
        ("sum(n) / count(*) AS r", "left to Spark"),
        ("max(rand()) AS m", "a function that Spark may not know"),
        ("count(*) FILTER (WHERE k RLIKE 'a+') AS c", "RegexpLike"),
        # Whether Spark looks at these before their condition, or at all, is not told.
        ("sum(n / i) FILTER (WHERE i <> 0) AS s", "may fail"),
        ("count(n / i) AS c", "may fail"),
        ("max(_offset) AS m", "_offset"),
        ("count(NULL) AS c", "VOID"),
    ],
)
def test_what_is_left_to_spark(item: str, cause: str) -> None:
    found = reason(item)
    assert found is not None
    assert cause in found


@pytest.mark.parametrize(
    ("keys", "cause"),
    [
        ((), "no key"),
        (("words",), "keys of type ARRAY<STRING>"),
        (("_offset",), "'_offset' does not come along"),
    ],
)
def test_keys_that_are_left_to_spark(keys: tuple[str, ...], cause: str) -> None:
    found = reason("count(*) AS c", keys=keys)
    assert found is not None
    assert cause in found


@pytest.mark.parametrize("key", ["x", "f", "money", "ts", "flag", "start", "bytes"])
def test_keys_of_every_plain_type_and_name(key: str) -> None:
    assert reason("count(*) AS c", keys=("k", key)) is None


def test_a_column_that_only_spark_knows() -> None:
    found = reason("count(*) AS c", schema=Schema((*SCHEMA.columns, Column("m", "MAP<STRING,INT>"))))
    assert found is not None
    assert "MAP<STRING,INT>" in found


def window(**settings: Any) -> dict[str, Any]:
    return {"size": "10s", "time": "ts", "keys": ["K"], "aggregates": ["count(*) AS c"], **settings}


def test_lanes_are_by_the_keys_as_the_rows_name_them() -> None:
    operator = SlidingWindow()
    config = operator.configure(window(every="5s", emit="changes"))
    assert operator.runs_in_chain(config, {"in": SCHEMA})
    assert operator.lanes(config, {"in": SCHEMA}) == Partitioning("by_key", ("k",))


def test_without_keys_a_window_runs_in_a_chain_too() -> None:
    operator = TumblingWindow()
    config = operator.configure({**window(), "keys": []})
    assert operator.runs_in_chain(config, {"in": SCHEMA})
    assert operator.chain_instance(config, {"in": SCHEMA}) is not None


def test_sessions_run_in_a_chain_unless_they_keep_values() -> None:
    operator = GapWindow()
    causes = {
        "count(*) AS c": None,
        "max_by(k, x) AS m": None,
        "count(DISTINCT n) AS c": "distinct values of sessions that",
        "median(n) AS m": "all values of sessions that",
    }
    for item, cause in causes.items():
        config = operator.configure({"gap": "5s", "time": "ts", "keys": ["k"], "aggregates": [item]})
        assert (operator.chain_instance(config, {"in": SCHEMA}) is None) is (cause is not None)
        assert str(operator.why_not_in_chain(config, {"in": SCHEMA})).startswith(str(cause))


def test_a_hidden_event_time_is_left_to_spark_unless_a_window_gives_it() -> None:
    operator = SlidingWindow()
    for time, cause in (("_timestamp", "the event time '_timestamp' is no TIMESTAMP"), ("_event_time", None)):
        schema = replace(SCHEMA, hidden=(Column(time, "TIMESTAMP"),), event_time=time)
        config = operator.configure(window(every="5s", time=time))
        assert str(operator.why_not_in_chain(config, {"in": schema})).startswith(str(cause))
