"""Hashes of rows are those that Spark's own function gives, for every type that they are made for."""

from __future__ import annotations

import math
import random
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from headrace.graph.schema import Schema
from headrace.operators.arrow_types import arrow_schema
from headrace.serial.xxhash import can_hash, xxhash64

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FLOATS = [None, 0.0, -0.0, 1.5, -1.5, math.nan, math.inf, -math.inf]
TEXTS = [None, "", "a", "ä€😀", *("x" * length for length in (3, 4, 7, 8, 9, 31, 32, 33, 39, 63, 64, 65, 101, 300))]
VALUES: dict[str, list[Any]] = {
    "BOOLEAN": [None, True, False],
    "TINYINT": [None, 0, 1, -1, 127, -128],
    "SMALLINT": [None, 0, 1, -1, 32767, -32768],
    "INT": [None, 0, 1, -1, 2**31 - 1, -(2**31)],
    "BIGINT": [None, 0, 1, -1, 2**63 - 1, -(2**63), 2**31],
    "FLOAT": [*FLOATS, 1.0000001, 3.4e38],
    "DOUBLE": [*FLOATS, 5e-324, -1.7e308],
    "DECIMAL(9,2)": [None, Decimal("0.00"), Decimal("-1.25"), Decimal("9999999.99")],
    "DECIMAL(18,0)": [None, Decimal(0), Decimal(-1), Decimal(10**18 - 1), Decimal(1 - 10**18)],
    "STRING": TEXTS,
    "BINARY": [None if text is None else text.encode() + b"\xff\x00" for text in TEXTS],
    "DATE": [None, date(1970, 1, 1), date(1, 1, 1), date(9999, 12, 31)],
    "TIMESTAMP": [None, datetime(1970, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 1, 2, 3, 456789, UTC)],
    "ARRAY<INT>": [None, [], [1], [1, None, 2], [1, 2], list(range(50))],
    "ARRAY<STRING>": [None, [], ["a", None], ["", "ä" * 40]],
    "ARRAY<ARRAY<DOUBLE>>": [None, [], [None, []], [[1.0, None], [-0.0, math.nan]]],
}
SCHEMA = Schema.parse(", ".join(f"c{number} {type_}" for number, type_ in enumerate(VALUES)))
ROW_COUNT = 400


def rows(chance: random.Random) -> pa.Table:
    arrays: list[Any] = [
        pa.array([chance.choice(values) for _ in range(ROW_COUNT)], field.type)
        for values, field in zip(VALUES.values(), arrow_schema(SCHEMA), strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=arrow_schema(SCHEMA))


@pytest.mark.spark
def test_the_same_as_spark(spark: SparkSession, seed: int) -> None:
    chance = random.Random(seed)
    table = rows(chance)
    sets = [[name] for name in SCHEMA.names]
    sets += [chance.sample(SCHEMA.names, chance.randint(2, len(SCHEMA))) for _ in range(40)]
    frame = spark.createDataFrame(table).coalesce(1)
    hashed = frame.selectExpr(*(f"xxhash64({', '.join(names)}) AS h{i}" for i, names in enumerate(sets))).toArrow()
    (batch,) = table.combine_chunks().to_batches()
    for number, names in enumerate(sets):
        assert xxhash64([batch.column(name) for name in names]).tolist() == hashed[f"h{number}"].to_pylist(), names


def test_slices_are_as_the_rows_in_them(seed: int) -> None:
    (batch,) = rows(random.Random(seed)).combine_chunks().to_batches()
    for tells_all in (False, True):
        whole = xxhash64(batch.columns, tells_all=tells_all)
        assert xxhash64(batch.slice(7, 100).columns, tells_all=tells_all).tolist() == whole[7:107].tolist()


def test_what_spark_does_not_see_can_be_told() -> None:
    pairs: list[tuple[list[Any], list[Any]]] = [
        ([pa.nulls(1, pa.int64()), pa.array([5])], [pa.array([5]), pa.nulls(1, pa.int64())]),
        ([pa.array([0.0])], [pa.array([-0.0])]),
        ([pa.array([[1], [2]])[:1], pa.array([[2]])], [pa.array([[1, 2]]), pa.array([[]], pa.list_(pa.int64()))]),
    ]  # fmt: skip
    for one, other in pairs:
        assert xxhash64(one) == xxhash64(other)
        assert xxhash64(one, tells_all=True) != xxhash64(other, tells_all=True)
        assert np.array_equal(xxhash64(one, tells_all=True), xxhash64(one, tells_all=True))


@pytest.mark.parametrize(
    "type_", [pa.decimal128(19, 0), pa.timestamp("ns"), pa.large_string(), pa.struct([("a", pa.int32())]), pa.uint8()]
)
def test_other_types_are_refused(type_: pa.DataType) -> None:
    assert not can_hash(type_)
    assert not can_hash(pa.list_(type_))
    assert all(can_hash(field.type) for field in arrow_schema(SCHEMA))
