"""The source may leave out a row only if Spark would not keep it either; a whole one keeps just what Spark keeps."""

from __future__ import annotations

import itertools
import json
import math
import random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from headrace.graph.schema import Schema
from headrace.spark.planning.pushdown import is_whole_prefilter, prefilter_of
from headrace.spark.reading.prefilter import Prefilter, admitted

SCHEMA = Schema.parse("i INT, b BIGINT, d DOUBLE, s STRING, f BOOLEAN")
TYPES: dict[str, Any] = {
    "i": pa.int32(),
    "b": pa.int64(),
    "d": pa.float64(),
    "s": pa.string(),
    "f": pa.bool_(),
}
ARROW = pa.schema(TYPES)
VALUES: dict[str, list[Any]] = {
    "i": [None, -3, 0, 7],
    "b": [None, -(1 << 62), 7, 1 << 53],
    "d": [None, math.nan, -math.inf, -0.0, 7.25, math.inf],
    "s": [None, "", "a", "B", "ä", "a\x00"],
    "f": [None, True, False],
}
LEAVES = (
    "i < 7", "i >= -3", "0 <> i", "i IN (0, 7)", "i BETWEEN -3 AND 0", "I IS NULL", "b = 9007199254740992", "b > -5",
    "d < 7.25", "d > 7.25", "7.25 >= d", "d = 0", "d <> 7.25", "d <= -1e3", "d BETWEEN -1 AND 8", "d IS NOT NULL",
    "s = 'a'", "s < 'b'", "s >= ''", "s IN ('a', 'ä')", "s <> 'a'", "f", "f = false", "f IS NULL",
    "upper(s) = 'A'", "i + 1 > 3", "i = 7.5", "s LIKE 'a%'", "d = i", "i < '5'", "f <=> NULL",
)  # fmt: skip
CONDITION_COUNT = 150


def _conditions(random_: random.Random) -> list[str]:
    def grown(depth: int) -> str:
        if depth == 0 or random_.random() < 0.2:
            return random_.choice(LEAVES)
        if random_.random() < 0.3:
            return f"NOT ({grown(depth - 1)})"
        return f"({grown(depth - 1)}) {random_.choice(('AND', 'OR'))} ({grown(depth - 1)})"

    return [*LEAVES, *(f"NOT ({leaf})" for leaf in LEAVES), *(grown(3) for _ in range(CONDITION_COUNT))]


@pytest.mark.spark
def test_rows_are_left_out_and_kept_as_spark_does(spark: SparkSession) -> None:
    seed = random.randrange(1 << 32)
    random_ = random.Random(seed)
    every = list(itertools.product(*VALUES.values()))
    rows = pa.RecordBatch.from_pylist([dict(zip(VALUES, row, strict=True)) for row in every], ARROW)
    numbered = rows.append_column("n", pa.array(range(len(every))))
    conditions = _conditions(random_)
    data = [(number, *row) for number, row in enumerate(every)]
    frame = spark.createDataFrame(data, f"n INT, {SCHEMA}")
    kept_by_spark = frame.selectExpr(
        "n", *(f"coalesce({c}, false) AS c{k}" for k, c in enumerate(conditions))
    ).collect()
    pushed = whole = 0
    for number, condition in enumerate(conditions):
        kept = {row["n"] for row in kept_by_spark if row[f"c{number}"]}
        if (wanted := prefilter_of([condition], SCHEMA)) is not None:
            pushed += 1
            lost = [every[n] for n in kept - _through(numbered, wanted)]
            assert not lost, f"seed {seed}: {condition} as {wanted} leaves out {lost[:3]}"
        if wanted is not None and is_whole_prefilter(condition, SCHEMA):
            whole += 1
            others = [every[n] for n in kept ^ _through(numbered, wanted)]
            assert not others, f"seed {seed}: {condition} as {wanted} differs for {others[:3]}"
    assert pushed > len(conditions) // 4
    assert whole > len(conditions) // 8


def _through(rows: pa.RecordBatch, wanted: Prefilter) -> set[Any]:
    return set(admitted(rows, json.loads(json.dumps(wanted))).column("n").to_pylist())


@pytest.mark.parametrize("condition", [leaf for leaf in LEAVES[:24] if leaf != "d <> 7.25"])
def test_a_comparison_leaves_out_whatever_it_can(condition: str) -> None:
    rows = pa.RecordBatch.from_pylist([{"i": None}], ARROW)
    wanted = prefilter_of([condition], SCHEMA)
    assert wanted is not None
    assert admitted(rows, wanted).num_rows == ("IS NULL" in condition)


def test_branches_are_joined_and_one_without_a_filter_takes_all() -> None:
    small = ("<", "BOOLEAN", ("column", "INT", "i"), ("literal", "INT", 3))
    large = (">", "BOOLEAN", ("column", "DOUBLE", "d"), ("literal", "DOUBLE", 2.0))
    assert prefilter_of(["i < 3", "d > 2"], SCHEMA) == ("or", "BOOLEAN", small, large)
    assert prefilter_of(["i < 3", None], SCHEMA) is None
    assert prefilter_of(["i < 3", "upper(s) = 'A'"], SCHEMA) is None


def test_a_source_that_nobody_reads_hands_nothing_on() -> None:
    rows = pa.RecordBatch.from_pylist([{"i": 1}, {"i": 2}], ARROW)
    wanted = prefilter_of([], SCHEMA)
    assert wanted is not None
    assert admitted(rows, wanted).num_rows == 0
