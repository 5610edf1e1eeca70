"""Lookups in a chain beside the same ones in Spark's plan: kinds, nulls, many partners, types, further conditions."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.graph import Schema
from headrace.operators.arrow_types import arrow_schema
from headrace.operators.lookup_join import LookupJoin, LookupJoinConfig
from headrace.operators.lookup_rows import Kind
from headrace.serial import Chain, Step
from headrace.serial.table_rows import TableRows
from headrace.testing import ChainTester, cut

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LEFT = replace(
    Schema.parse("n BIGINT, k STRING, i INT, b BOOLEAN, d DATE, ts TIMESTAMP, x DOUBLE, words ARRAY<STRING>"),
    event_time="ts",
)
RIGHT = Schema.parse("k STRING, j BIGINT, c BOOLEAN, e DATE, at TIMESTAMP, y DOUBLE, dec DECIMAL(9,2), tags ARRAY<INT>")
START = datetime(2026, 1, 1, tzinfo=UTC)
KINDS: tuple[Kind, ...] = get_args(Kind)
CONDITIONS = [
    "left.k = right.k",
    "left.i = right.j",
    "left.i % 3 = right.j",
    "left.b = right.c AND left.i = right.j",
    "left.d = right.e AND left.ts = right.at",
    "left.k = right.k AND left.i < right.j",
    "left.k = right.k AND left.n <> 3 AND (right.y > 0.5 OR left.x IS NULL)",
    "upper(left.k) = upper(right.k) AND right.k <> 'A'",
]


@dataclass(frozen=True)
class Told:
    """What the operator's compilation asks for."""

    schemas: dict[str, Schema]

    def input_schema(self, port: str) -> Schema:
        return self.schemas[port]


def left_rows(chance: random.Random, count: int) -> list[tuple[Any, ...]]:
    return [
        (
            number,
            chance.choice(["a", "A", "b", "", None]),
            chance.choice([None, -1, 0, 1, 2, 3, 5]),
            chance.choice([None, True, False]),
            chance.choice([None, date(2026, 1, 1), date(1969, 1, 1)]),
            chance.choice([None, START, START + timedelta(microseconds=1)]),
            chance.choice([None, 0.5, float("nan"), -0.0]),
            chance.choice([None, [], ["a", None]]),
        )
        for number in range(count)
    ]


def right_rows(chance: random.Random, count: int) -> list[tuple[Any, ...]]:
    mixed = [left_rows(chance, count) for _ in range(2)]
    return [
        (one[1], one[2], one[3], one[4], one[5], other[6], None if other[2] is None else other[2], [other[2]])
        for one, other in zip(*mixed, strict=True)
    ]


def batch_of(rows: Sequence[tuple[Any, ...]], schema: Schema) -> pa.RecordBatch:
    fields = arrow_schema(schema)
    arrays: list[Any] = [pa.array([row[place] for row in rows], field.type) for place, field in enumerate(fields)]
    return pa.record_batch(arrays, schema=fields)


def schemas_of(config: LookupJoinConfig) -> dict[str, Schema]:
    """The text of the table has another name where it is no key: it would come twice."""
    is_shared = "left.k = right.k" in config.on or config.adds_nothing
    columns = RIGHT.columns if is_shared else (replace(RIGHT.columns[0], name="k2"), *RIGHT.columns[1:])
    return {"left": LEFT, "right": Schema(columns)}


def config_of(on: str, kind: Kind) -> LookupJoinConfig:
    config = LookupJoinConfig(on=on, kind=kind, spread="whole")
    if "k" not in {column.name for column in schemas_of(config)["right"]}:
        config = LookupJoinConfig(on=on.replace("right.k", "right.k2"), kind=kind, spread="whole")
    return config


def in_chain(config: LookupJoinConfig, rows: pa.RecordBatch, table: pa.RecordBatch, places: list[int]) -> list[Any]:
    schemas = schemas_of(config)
    looked_up = TableRows(table)

    def chain() -> Chain:
        instance = LookupJoin().chain_instance(config, schemas)
        assert instance is not None
        return Chain([Step("it", instance, tables={"right": lambda: looked_up})], entries=[[("it", "left")]])

    run = ChainTester(chain, event_times=["ts"])
    for piece in cut(pa.Table.from_batches([rows]), places):
        run.run(piece)
    expected = arrow_schema(LookupJoin().output_schema(config, schemas))
    assert all(made.schema == expected for made in run.rows)
    return [tuple(row.values()) for made in run.rows for row in made.to_pylist()]


def plain(rows: Sequence[tuple[Any, ...]]) -> list[str]:
    """To be compared: times of both engines, and what is no number, by how they are shown."""
    return [repr([_shown(value) for value in row]) for row in rows]


def _shown(value: Any) -> Any:
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.astimezone(UTC)).astimezone(UTC).isoformat()
    return repr(value)


@pytest.mark.spark
@pytest.mark.parametrize("on", CONDITIONS)
def test_all_kinds_come_to_what_sparks_plan_gives(spark: SparkSession, on: str) -> None:
    chance = random.Random(on)
    for kind in KINDS:
        config = config_of(on, kind)
        schemas = schemas_of(config)
        rows = {"left": left_rows(chance, 60), "right": right_rows(chance, 25)}
        batches = {side: batch_of(rows[side], schemas[side]) for side in rows}
        frames = {side: spark.createDataFrame(pa.Table.from_batches([batches[side]])) for side in rows}
        made = LookupJoin().compile(config, frames, Told(schemas))  # type: ignore[arg-type]
        found = in_chain(config, batches["left"], batches["right"], [7, 31])
        output = LookupJoin().output_schema(config, schemas)
        types = [(field.name, field.dataType.simpleString().upper()) for field in made.schema]
        assert types == [(column.name, column.type) for column in output]
        assert sorted(plain(found)) == sorted(plain([tuple(row) for row in made.collect()])), kind
        numbers = [row[0] for row in found]
        assert numbers == sorted(numbers)


@given(st.integers(0, 2**32), st.sampled_from(KINDS), st.lists(st.integers(0, 20), max_size=3))
def test_where_batches_end_makes_no_difference(seed: int, kind: Kind, places: list[int]) -> None:
    chance = random.Random(seed)
    config = config_of("left.k = right.k AND left.i < right.j", kind)
    schemas = schemas_of(config)
    rows, table = left_rows(chance, chance.randrange(1, 20)), right_rows(chance, chance.randrange(12))
    partners = [
        [two for two in table if one[1] is not None and one[1] == two[0] and None not in (one[2], two[1])
         and one[2] < two[1]]
        for one in rows
    ]  # fmt: skip
    expected: dict[Kind, list[tuple[Any, ...]]] = {
        "inner": [(*one, *two[1:]) for one, found in zip(rows, partners, strict=True) for two in found],
        "left": [
            (*one, *two[1:])
            for one, found in zip(rows, partners, strict=True)
            for two in found or [(None,) * len(RIGHT.columns)]
        ],
        "semi": [one for one, found in zip(rows, partners, strict=True) if found],
        "anti": [one for one, found in zip(rows, partners, strict=True) if not found],
    }
    batches = batch_of(rows, schemas["left"]), batch_of(table, schemas["right"])
    inside = sorted({place for place in places if 0 < place < len(rows)})
    assert plain(in_chain(config, *batches, inside)) == plain(_as_arrow(expected[kind], config))


def _as_arrow(rows: Sequence[tuple[Any, ...]], config: LookupJoinConfig) -> list[tuple[Any, ...]]:
    output = LookupJoin().output_schema(config, schemas_of(config))
    return [tuple(row.values()) for row in batch_of(rows, output).to_pylist()]


@pytest.mark.parametrize(
    ("on", "settings"),
    [
        ("left.x = right.y", {}),
        ("left.k = right.k AND left.n / left.i > 1", {}),
        ("left.k = right.k AND rand() > 0.5", {}),
        ("left.k = right.k", {"spread": "by_key"}),
        ("left.k = right.j", {}),
        ("left.k = right.k", {"kind": "not_in"}),
    ],
)
def test_what_is_not_surely_the_same_stays_in_sparks_plan(on: str, settings: dict[str, Any]) -> None:
    config = LookupJoinConfig(on=on, **{"kind": "semi", **settings})
    assert not LookupJoin().runs_in_chain(config, {"left": LEFT, "right": RIGHT})


def test_one_column_for_keys_of_two_types_is_left_to_spark() -> None:
    schemas = {"left": Schema.parse("k INT"), "right": Schema.parse("k BIGINT, v INT")}
    joined, chosen = (
        LookupJoinConfig(on="left.k = right.k", kind="inner", spread="whole"),
        LookupJoinConfig(on="left.k = right.k", kind="semi", spread="whole"),
    )
    assert not LookupJoin().runs_in_chain(joined, schemas)
    assert LookupJoin().runs_in_chain(chosen, schemas)


def test_a_table_that_does_not_change_is_looked_at_once() -> None:
    made: list[int] = []
    rows = TableRows(pa.record_batch({"a": np.arange(3)}))
    for _ in range(2):
        rows.made("sum", lambda found: made.append(found.num_rows))
    assert made == [3]
