"""Rows of a case are read as the records of a topic are: the same values, and the same bad records."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from headrace.cases import Runner, for_few_rows, read_cases
from headrace.cases.records import json_text, read_records
from headrace.cases.sinks import Row
from headrace.errors import InvalidInput
from headrace.graph.document import Node
from headrace.graph.schema import Schema
from headrace.operators import Catalogue

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = "id INT, x INT, s STRING, t TIMESTAMP, n DECIMAL(30,10), m MAP<STRING, DOUBLE>"


def read(rows: list[Row], **settings: str) -> tuple[list[dict[str, object]], list[str]]:
    config = Catalogue().get("topic").configure({"topic": "rows", "schema": COLUMNS, **settings})
    told: list[str] = []
    found = read_records(rows, Schema.parse(COLUMNS), Node("rows", "topic"), config, told)
    return [{k: v for k, v in row.items() if v is not None} for row in found.to_pylist()], told


def test_numbers_that_are_times_are_milliseconds() -> None:
    (row,), told = read([{"id": 1, "t": 10000}])
    assert (row["t"], told) == (datetime(1970, 1, 1, 0, 0, 10, tzinfo=UTC), [])


def test_times_have_the_format_of_their_source() -> None:
    (row,), _ = read([{"id": 1, "t": 10000}], event_time="t", event_time_format="epoch_seconds")
    assert row["t"] == datetime.fromtimestamp(10000, UTC)


def test_every_digit_of_a_number_is_read() -> None:
    exact = Decimal("12345678901234567890.1234567891")
    (row,), _ = read([{"id": 1, "n": exact, "m": {"a": Decimal("0.5")}}])
    assert row == {"id": 1, "n": exact, "m": [("a", 0.5)]}
    assert json_text({"a": [exact, None, True, 'q"']}) == f'{{"a": [{exact}, null, true, "q\\""]}}'


@pytest.mark.parametrize("values", [{"x": Decimal("2.0")}, {"x": "two"}, {"s": 5}, {"t": "soon"}])
def test_what_a_job_calls_a_bad_record_is_one(values: Row) -> None:
    rows, told = read([{"id": 1}, {"id": 2, **values}, {"id": 3}])
    assert [row["id"] for row in rows] == [1, 3]
    assert len(told) == 1
    assert f"{json_text({'id': 2, **values})} is a bad record of rows: " in told[0]
    with pytest.raises(InvalidInput, match="is a bad record of rows"):
        read([{"id": 2, **values}], on_error="fail")


@pytest.mark.spark
def test_cases_read_and_compare_as_jobs_do(spark: SparkSession) -> None:
    """Each of these passed, or crashed."""
    text = """CREATE STREAM t (x INT, n BIGINT, ts TIMESTAMP);
-- @input t
-- {"x": 2.0, "n": 1}
-- {"x": 3, "n": 1234567890123, "ts": 10000}
CREATE STREAM o AS SELECT x, ts FROM t;
CREATE STREAM u AS SELECT element_at(array(n), 1) AS n FROM t;
-- @case a row for the bad record
-- @expect o
-- | x | ts                  |
-- | 3 | 1970-01-01 00:00:10 |
-- |   |                     |
-- @case seconds
-- @expect o
-- | x | ts                  |
-- | 3 | 1970-01-01 02:46:40 |
-- @case another number
-- @expect u
-- | n             |
-- | 1234567890124 |
-- @case any two rows
-- @expect o
-- {}
-- {}
-- @case what is right
-- @expect o
-- | x | ts                  |
-- | 3 | 1970-01-01 00:00:10 |
-- @expect u
-- {"n": 1234567890123}
-- @case any row
-- @expect o
-- {}
"""
    with for_few_rows(spark):
        runner = Runner(lambda: spark, Catalogue())
        results = {case.name: runner.run(case, ("batch", "stream")) for case in read_cases(text, "file")}
    passed = {name: [one.is_passed for one in found] for name, found in results.items()}
    right = ("what is right", "any row")
    assert passed == {name: [name in right] * 2 for name in results}
    (failure,) = results["any two rows"][0].failures
    assert "2 rows of any values were expected, 1 came" in failure
    assert '{"x": 2.0, "n": 1' in failure
    assert "is a bad record of t" in failure
