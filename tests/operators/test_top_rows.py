"""`top-n` in a chain: against what Spark's plan gives for the rows so far, and through crashes against sorting."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.operators.serial_cases import CATALOGUE, micro_batches, plans, run_after_crash

from headrace.graph import Node, Schema
from headrace.operators import top_rows
from headrace.operators.arrow_types import arrow_schema
from headrace.operators.row_ranks import key_codes
from headrace.operators.serial_chain import ChainPlan
from headrace.operators.testing import Trial
from headrace.operators.top_n import TopN, TopNConfig, why_not
from headrace.serial import (
    END_OF_TIME_US,
    Batch,
    Chain,
    LaneInput,
    LaneRun,
    Moment,
    Signal,
    StateStore,
    Step,
    Timer,
    Version,
)
from headrace.serial import Operator as Instance
from headrace.serial.row_hash import row_hashes
from headrace.serial.xxhash import xxhash64
from headrace.testing import ChainTester, cut

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TYPED = Schema.parse(
    "id BIGINT, y TINYINT, i INT, b BIGINT, f FLOAT, d DOUBLE, m DECIMAL(9,2), s STRING, u STRING, bin BINARY, "
    "t BOOLEAN, day DATE, at TIMESTAMP, list ARRAY<STRING>"
)
FLOATS = [None, 0.0, -0.0, 1.5, -1.5, math.nan, math.inf, -math.inf]
VALUES: dict[str, list[Any]] = {
    "y": [None, 1, -128], "i": [None, 0, 1, 2**31 - 1, -(2**31)], "b": [None, 0, 7, -(2**63), 2**63 - 1],
    "f": FLOATS, "d": FLOATS, "m": [None, Decimal("1.00"), Decimal("-1.25"), Decimal("0.01")],
    "s": [None, "", "a", "B", "ä", "😀", "\uffff", "a" * 40], "u": [None, "", "x", "y"],
    "bin": [None, b"", b"\x00", b"\x7f", b"\x80", b"\xff\x01"], "t": [None, True, False],
    "day": [None, date(1970, 1, 1), date(1969, 12, 31), date(2026, 1, 1)],
    "at": [None, datetime(1970, 1, 1, tzinfo=UTC), datetime(1969, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)],
    "list": [None, [], ["a"], [None, "b"]],
}  # fmt: skip
# Text cannot be turned against the first column.
TURNED = ("y", "i", "b", "f", "d", "m", "t", "day", "at")


def ranking(config: dict[str, Any], schema: Schema) -> ChainTester:
    assert why_not(TopNConfig(**config), schema) is None
    plan = ChainPlan.line((Node("it", "top-n", config),), schema)
    return ChainTester(lambda: plan.chain(CATALOGUE), event_time=schema.event_time)


def random_rows(chance: random.Random, count: int) -> pa.RecordBatch:
    """Each with an id, so that to Spark no two are alike, but for copies."""
    rows = [
        {"id": number, **{name: chance.choice(values) for name, values in VALUES.items()}} for number in range(count)
    ]
    rows = [row if chance.random() < 0.9 else chance.choice(rows) for row in rows]
    schema = arrow_schema(TYPED)
    return pa.RecordBatch.from_pylist(rows, schema=schema)


def random_config(chance: random.Random) -> dict[str, Any]:
    keys = chance.sample(["y", "i", "b", "s", "u", "t", "day", "at"], chance.choice([0, 1, 1, 2]))
    first, *others = chance.sample([name for name in VALUES if name != "list"], chance.choice([1, 2, 3]))
    is_descending = chance.random() < 0.5
    by = [f"{first}{' DESC' if is_descending else ''}"]
    for name in others:
        is_turned = name in TURNED and chance.random() < 0.5
        by.append(f"{name}{' DESC' if is_descending != is_turned else ''}")
    return {
        "n": chance.choice([1, 2, 5]),
        "by": by,
        "keys": keys,
        **({"rank": "place"} if chance.random() < 0.7 else {}),
    }


def of_spark(spark: SparkSession, config: dict[str, Any], rows: pa.RecordBatch, schema: Schema) -> pa.Table:
    frame = spark.createDataFrame(pa.Table.from_batches([rows])).coalesce(1)
    quoted = {
        name: str(value).replace("'", '"') if isinstance(value, list) else value for name, value in config.items()
    }
    text = " ".join(f"{name}={value}" for name, value in quoted.items())
    made = (
        Trial(spark, topics={"rows": frame}).frame(f'topic rows schema="{schema}" ! top-n {text} ! preview').toArrow()
    )
    return made.cast(arrow_schema(TopN().output_schema(TopNConfig(**config), {"in": schema})))


def told(rows: pa.Table | None) -> list[str]:
    return [] if rows is None else sorted(map(repr, rows.to_pylist()))


def first_appearance(rows: pa.Table, keys: Sequence[str]) -> list[tuple[Any, ...]]:
    return list(dict.fromkeys(zip(*(rows[key].to_pylist() for key in keys), strict=True)))


@pytest.mark.spark
@pytest.mark.parametrize("number", range(8))
def test_the_same_as_sparks_plan(spark: SparkSession, seed: int, number: int) -> None:
    """After each micro-batch: of each key whose first rows changed, what Spark's plan gives for all rows so far."""
    chance = random.Random(seed + number)
    config, rows = random_config(chance), random_rows(chance, 150)
    print(config)
    run = ranking(config, TYPED)
    places = sorted({0, *chance.sample(range(1, 150), 2), 150})
    before: dict[tuple[Any, ...], list[str]] = {}
    for start, stop in pairwise(places):
        if chance.random() < 0.5:
            run._store = StateStore(run.files)
        piece = rows.slice(start, stop - start)
        made = run.run(*cut(piece, chance.sample(range(stop - start), 2) if stop - start > 2 else []))
        expected = of_spark(spark, config, rows.slice(0, stop), TYPED)
        keys = [tuple(row[key] for key in config["keys"]) for row in expected.to_pylist()]
        now = {key: told(expected.filter(pa.array([other == key for other in keys]))) for key in dict.fromkeys(keys)}
        changed = {key for key, rows in now.items() if rows != before.get(key)}
        before = now
        expected = expected.filter(pa.array([key in changed for key in keys]))
        assert made is None or made.schema == expected.schema
        assert told(made) == told(expected)


SMALL = Schema.parse("k STRING, j INT, n BIGINT, x DOUBLE, text STRING")
small_rows = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "", None]),
        st.sampled_from([0, 1, None]),
        st.sampled_from([1, 2, None]),
        st.sampled_from([0.0, -0.0, 1.0, math.nan, None]),
        st.sampled_from(["", "x", None]),
    ),
    max_size=40,
)
Row = tuple[Any, ...]
CONFIGS: list[dict[str, Any]] = [
    {"n": 1, "by": ["n DESC"], "keys": ["k"]},
    {"n": 2, "by": ["n DESC", "x"], "keys": ["k", "j"], "rank": "place"},
    {"n": 3, "by": ["x", "n DESC"], "keys": ["j"]},
    {"n": 2, "by": ["text"], "keys": ["k"], "rank": "place"},
    {"n": 3, "by": ["n DESC"], "keys": [], "rank": "place"},
]


def as_batch(rows: Sequence[Row]) -> pa.RecordBatch:
    fields = arrow_schema(SMALL)
    columns = list(zip(*rows, strict=True)) or [()] * len(fields)
    arrays: list[Any] = [pa.array(column, field.type) for column, field in zip(columns, fields, strict=True)]
    return pa.record_batch(arrays, schema=fields)


def compared(value: Any) -> tuple[Any, ...]:
    """Nulls, then numbers, then what is no number."""
    if value is None:
        return (0,)
    return (2,) if isinstance(value, float) and math.isnan(value) else (1, value)


def ranked(rows: Sequence[Row], config: dict[str, Any]) -> list[Row]:
    """Rows of one key in their order."""
    batch = as_batch(rows)
    hashes = list(zip(xxhash64(batch.columns).tolist(), xxhash64(batch.columns, tells_all=True).tolist(), strict=True))
    order = list(range(len(rows)))
    order.sort(key=lambda i: hashes[i][1])
    order.sort(key=lambda i: hashes[i][0], reverse=config["by"][0].endswith("DESC"))
    for item in reversed(config["by"]):
        name, _, direction = item.partition(" ")
        order.sort(key=lambda i: compared(rows[i][SMALL.names.index(name)]), reverse=direction == "DESC")
    return [rows[i] for i in order]


def reference(micro_batches: Sequence[Sequence[Row]], config: dict[str, Any]) -> list[list[Row]]:
    """What each micro-batch tells: keys whose first rows changed, as they first came in it, rows by rank."""
    by_key: dict[Row, list[Row]] = {}
    before: dict[Row, str] = {}
    made: list[list[Row]] = []
    for rows in micro_batches:
        keyed = [(tuple(row[SMALL.names.index(key)] for key in config["keys"]), row) for row in rows]
        for key, row in keyed:
            by_key.setdefault(key, []).append(row)
        first = {key: ranked(by_key[key], config)[: config["n"]] for key in dict.fromkeys(key for key, _ in keyed)}
        changed = [found for key, found in first.items() if repr(found) != before.get(key)]
        before |= {key: repr(found) for key, found in first.items()}
        made.append([(*row, *([i] if "rank" in config else [])) for found in changed for i, row in enumerate(found, 1)])
    return made


@pytest.fixture(params=["as they are", "equal hashes", "few rows wait"])
def _ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "equal hashes":
        poor = lambda columns: row_hashes(columns) % np.uint64(2)  # noqa: E731
        monkeypatch.setattr("headrace.serial.candidate_rows.row_hashes", poor)
    if request.param == "few rows wait":
        monkeypatch.setattr(top_rows, "ROWS_WAITING_MAX", 3)
        monkeypatch.setattr(top_rows, "ROWS_TOLD_AT_ONCE", 2)


@pytest.mark.usefixtures("_ways")
@pytest.mark.parametrize("config", CONFIGS, ids=[", ".join(config["by"]) for config in CONFIGS])
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=small_rows, plan=plans, pieces=st.lists(st.integers(1, 10), max_size=4))
def test_each_micro_batch_tells_the_same_through_crashes(
    config: dict[str, Any], rows: list[Row], plan: list[tuple[int, str]], pieces: list[int]
) -> None:
    run = ranking(config, SMALL)
    all_pieces = list(micro_batches(rows, plan))
    wanted = reference([piece for piece, _ in all_pieces], config)
    for (piece, how), expected in zip(all_pieces, wanted, strict=True):
        made = run_after_crash(run, how, *cut(as_batch(piece), pieces))
        found = [] if made is None else [tuple(row.values()) for row in made.to_pylist()]
        assert list(map(repr, found)) == list(map(repr, expected))


@settings(max_examples=30)
@given(rows=small_rows, workers=st.lists(st.integers(0, 1), min_size=40, max_size=40))
def test_lanes_that_change_their_worker_tell_the_same(rows: list[Row], workers: list[int]) -> None:
    config = CONFIGS[1]
    run = ranking(config, SMALL)
    stores = [StateStore(run.files), StateStore(run.files)]
    expected = reference([[row] for row in rows], config)
    for row, worker, told_rows in zip(rows, workers, expected, strict=False):
        run._store = stores[worker]
        made = run.run(as_batch([row]))
        found = [] if made is None else [tuple(row.values()) for row in made.to_pylist()]
        assert list(map(repr, found)) == list(map(repr, told_rows))


def test_state_holds_the_first_rows_and_nothing_else() -> None:
    config = {"n": 3, "by": ["n DESC"], "keys": ["k"]}
    run = ranking(config, SMALL)
    rows = [(f"k{number % 50}", 0, number, 0.0, "x" * 20) for number in range(5_000)]
    for start in range(0, 5_000, 250):
        run.run(as_batch(rows[start : start + 250]))
    state = run._store.load("it", 0, run.versions["it"]).claim_all()
    assert state["rows"].size == 150
    # What is in files is written anew in turn, without what is gone.
    assert run.versions["it"].changes[-1].size_bytes < 30_000


def test_a_micro_batch_without_rows_tells_nothing() -> None:
    run = ranking(CONFIGS[0], SMALL)
    assert run.run() is None
    assert run.run(as_batch([])) is None
    assert run.versions["it"] == Version()


class Held(Instance):
    """Holds all rows back until a signal comes, or the end of time."""

    def process(self, batch: Batch) -> Iterable[Batch]:
        self.context.state.value("rows").value = batch.rows.to_pylist()
        self.context.timers.at_event_time(END_OF_TIME_US)
        return ()

    def on_timer(self, timer: Timer) -> Iterable[Batch]:
        return [Batch(pa.RecordBatch.from_pylist(self.context.state.value("rows").value, schema=arrow_schema(SMALL)))]

    def on_signal(self, signal: Signal) -> Iterable[Batch]:
        return self.on_timer(Timer(0, "event"))


def test_rows_that_others_tell_after_the_last_one_are_ranked_too() -> None:
    config = TopNConfig(**CONFIGS[0])

    def held_first() -> Chain:
        instance = TopN().chain_instance(config, {"in": SMALL})
        assert instance is not None
        return Chain.line([Step("held", Held()), Step("it", instance)])

    rows = as_batch([("a", 0, 1, 0.0, ""), ("a", 0, 2, 0.0, ""), ("b", 0, 1, 0.0, "")])
    run = ChainTester(held_first)
    made = run.run(rows, signals=[Signal("now", "custom")])
    assert made is not None
    assert made["n"].to_pylist() == [2, 1]
    bounded = LaneRun(held_first(), None, 0, Moment(0), {}, event_times=[None])
    (told_rows,) = bounded.rows([LaneInput(rows)])
    assert told_rows.column("n").to_pylist() == [2, 1]


def test_late_rows_count_like_all_others() -> None:
    schema = replace(Schema.parse("k STRING, ts TIMESTAMP"), event_time="ts")
    run = ranking({"n": 1, "by": ["ts"], "keys": ["k"]}, schema)
    for second in (100, 200, 50):
        made = run.run(pa.table({"k": ["a"], "ts": pa.array([second * 1_000_000], pa.timestamp("us", tz="UTC"))}))
    assert made is not None
    assert made["ts"].cast(pa.int64()).to_pylist() == [50_000_000]


def test_codes_of_many_columns_do_not_run_over() -> None:
    columns: list[pa.Array[Any]] = [pa.array(np.random.default_rng(i).permutation(70_000)) for i in range(5)]
    assert key_codes(columns).tolist() == list(range(70_000))
    assert key_codes([pa.concat_arrays([one, one]) for one in columns]).tolist() == 2 * list(range(70_000))


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"n": 1, "by": ["n"], "keys": ["k"]}, None),
        ({"n": 1, "by": ["N", "k"], "keys": ["K"]}, None),
        ({"n": 1, "by": ["n"]}, None),
        ({"n": 1, "by": ["n"], "keys": ["x"]}, "'x' is DOUBLE"),
        ({"n": 1, "by": ["list"], "keys": ["k"]}, "'list' is ARRAY<INT>"),
        ({"n": 1, "by": ["_offset DESC"], "keys": ["k"]}, "'_offset' does not come along"),
    ],
)
def test_what_is_left_to_spark(config: dict[str, Any], reason: str | None) -> None:
    columns = Schema.parse("k STRING, n BIGINT, x DOUBLE, list ARRAY<INT>").columns
    schema = Schema(columns, Schema.parse("_offset BIGINT, _timestamp TIMESTAMP").columns)
    found = why_not(TopNConfig(**config), schema)
    assert (found is None) == (reason is None)
    assert reason is None or (found is not None and reason in found)
    assert "does not come along" in (why_not(TopNConfig(**CONFIGS[0]), replace(schema, event_time="_timestamp")) or "")


@pytest.mark.parametrize("type_", ["DECIMAL(19,0)", "STRUCT<x:INT>", "ARRAY<STRUCT<x:INT>>", "UNKNOWN"])
def test_rows_with_columns_that_cannot_be_hashed_are_left_to_spark(type_: str) -> None:
    schema = Schema((*Schema.parse("k STRING, n BIGINT").columns, replace(SMALL.columns[0], name="c", type=type_)))
    assert why_not(TopNConfig(**CONFIGS[0]), schema) is not None
