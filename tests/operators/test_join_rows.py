"""Joins in a chain against every pair of rows: as batch, as stream with random cuts, and with crashes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.operators.serial_cases import DELAY_US, at, micro_batches, ordered, output, plans, run_after_crash

from headrace.graph import Schema
from headrace.operators.arrow_types import arrow_schema
from headrace.operators.join import Join, JoinConfig
from headrace.operators.join_checks import why_not
from headrace.operators.join_rows import JoinRows
from headrace.operators.join_sides import SIDES
from headrace.serial import Batch, Chain, Context, LaneInput, NodeState, StateStore, Step, Timers
from headrace.serial.places import origin_of
from headrace.testing import ChainTester

LEFT = replace(Schema.parse("k STRING, d BIGINT, n BIGINT, ts TIMESTAMP"), event_time="ts")
RIGHT = replace(Schema.parse("w STRING, e BIGINT, at TIMESTAMP, m BIGINT, words ARRAY<STRING>"), event_time="at")

# Side, text, number, another number, second.
Row = tuple[int, str | None, int | None, int | None, int | None]
Joins = Callable[[Row, Row], bool]

steps = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.sampled_from(["a", "b", "", None]),
        st.sampled_from([1, -1, 2**40, None]),
        st.one_of(st.none(), st.integers(0, 4)),
        st.integers(0, 4),
        st.integers(0, 5),
    ),
    max_size=40,
)


def timed(made: Sequence[Any]) -> list[Row]:
    """Times go forward, each up to the watermark's delay out of order."""
    now, rows = 100, []
    for side, text, number, other, step, back in made:
        now += step
        rows.append((side, text, number, other, now - back))
    return rows


def config_of(on: str, **bounds: Any) -> JoinConfig:
    return JoinConfig(on=on, **bounds)


def shares_text(config: JoinConfig) -> bool:
    return "right.k" in config.on


def schemas_of(config: JoinConfig) -> dict[str, Schema]:
    """The text of the right has the name of that of the left where it is a key: then it comes out once."""
    right = replace(RIGHT, columns=(replace(RIGHT.columns[0], name="k"), *RIGHT.columns[1:]))
    return {"left": LEFT, "right": right if shares_text(config) else RIGHT}


def joining(config: JoinConfig) -> ChainTester:
    schemas = schemas_of(config)
    assert why_not(config, schemas) is None
    entries = [[("it", side)] for side in SIDES]
    return ChainTester(
        lambda: Chain([Step("it", JoinRows(config, schemas))], entries=entries),
        event_times=["ts", "at"],
        delay_us=DELAY_US,
    )


def values(row: Row) -> tuple[Any, ...]:
    side, text, number, other, second = row
    time = None if second is None else at(second)
    return (text, number, other, time) if side == 0 else (text, number, time, other, [text])


def inputs(rows: Sequence[Row], config: JoinConfig) -> list[LaneInput]:
    """Neighbours of one side are one batch."""
    found: list[LaneInput] = []
    bounds = [0, *(i for i in range(1, len(rows)) if rows[i][0] != rows[i - 1][0]), len(rows)]
    for start, stop in pairwise(bounds):
        if start < stop:
            side = rows[start][0]
            fields = arrow_schema(schemas_of(config)[SIDES[side]])
            columns = list(zip(*map(values, rows[start:stop]), strict=True))
            arrays: list[Any] = [pa.array(column, one.type) for column, one in zip(columns, fields, strict=True)]
            found.append(LaneInput(pa.record_batch(arrays, schema=fields), origin=origin_of(side, 0), source=side))
    return found


def streamed(config: JoinConfig, rows: Sequence[Row], plan: Sequence[tuple[int, str]]) -> list[tuple[Any, ...]]:
    """In micro-batches cut at these places; some crash first, and are run again with the same rows."""
    run = joining(config)
    for piece, how in micro_batches(rows, plan):
        run_after_crash(run, how, *inputs(piece, config))
    run.end()
    return output(run)


def apart(low: int, high: int, also: Joins) -> Joins:
    return lambda one, two: also(one, two) and low <= seconds(two) - seconds(one) <= high


def seconds(row: Row) -> int:
    assert row[4] is not None
    return row[4]


def same_text(one: Row, two: Row) -> bool:
    return one[1] is not None and one[1] == two[1]


def same_number(one: Row, two: Row) -> bool:
    return one[2] is not None and one[2] == two[2]


def smaller(one: Row, two: Row) -> bool:
    return one[3] is not None and two[3] is not None and one[3] < two[3]


CASES: list[tuple[JoinConfig, Joins]] = [
    (config_of("left.d = right.e", before="3s", after="5s"), apart(-3, 5, same_number)),
    (
        config_of("left.k = right.k", after="2s"),
        apart(0, 2, same_text),
    ),
    (
        config_of("right.k = left.k AND left.d = right.e AND left.n < right.m", before="40s", after="1s"),
        apart(-40, 1, lambda one, two: same_text(one, two) and same_number(one, two) and smaller(one, two)),
    ),
    (
        config_of("left.d = right.e AND (left.ts <= right.at OR NOT right.w IS NULL)", before="4s", after="4s"),
        apart(-4, 4, lambda one, two: same_number(one, two) and (seconds(one) <= seconds(two) or two[1] is not None)),
    ),
    (
        config_of("left.d = right.e AND left.d = right.m", before="9s", after="9s"),
        apart(-9, 9, lambda one, two: same_number(one, two) and one[2] == two[3]),
    ),
    (
        config_of("left.k = right.k AND left.d = right.e", window="10s"),
        lambda one, two: same_text(one, two) and same_number(one, two) and seconds(one) // 10 == seconds(two) // 10,
    ),
    (config_of("left.d = right.e", before="3s", after="5s", kind="left"), apart(-3, 5, same_number)),
    (
        config_of("left.k = right.k AND left.n < right.m", after="2s", kind="right"),
        apart(0, 2, lambda one, two: same_text(one, two) and smaller(one, two)),
    ),
    (config_of("left.k = right.k", before="1s", after="30s", kind="full"), apart(-1, 30, same_text)),
    (config_of("left.d = right.e", window="10s", kind="left"), same_number),
    (config_of("left.k = right.k", window="10s", every="5s"), same_text),
    (config_of("left.k = right.k", window="10s", every="3s", kind="full"), same_text),
]


def windows(row: Row, config: JoinConfig) -> list[int | None]:
    """The ends of those that a row is in; one without an end where there are none."""
    if config.window is None:
        return [None]
    every = 10 if config.every is None else int(config.every.split()[0])
    if row[4] is None:
        return []
    return [start + 10 for start in range(-30, 10_000, every) if start <= row[4] < start + 10]


def reference(rows: Sequence[Row], config: JoinConfig, joins: Joins) -> list[tuple[Any, ...]]:
    found = []
    left, right = ([(row, end) for row in rows if row[0] == side for end in windows(row, config)] for side in (0, 1))
    pairs = [(one, two) for one in left for two in right if one[1] == two[1] and joins(one[0], two[0])]
    found = [joined(one, two, config, end) for (one, end), (two, _) in pairs]
    if config.kind in ("left", "full"):
        found += [joined(one, None, config, end) for one, end in left if (one, end) not in [pair[0] for pair in pairs]]
    if config.kind in ("right", "full"):
        found += [joined(None, two, config, end) for two, end in right if (two, end) not in [pair[1] for pair in pairs]]
    return found


def joined(one: Row | None, two: Row | None, config: JoinConfig, end: int | None) -> tuple[Any, ...]:
    left = (None,) * 4 if one is None else values(one)
    right = (None,) * 5 if two is None else values(two)
    if shares_text(config):
        left, right = (right[0] if one is None else left[0], *left[1:]), right[1:]
    window = () if end is None or config.kind == "full" else (at(end) - timedelta(microseconds=1),)
    return (*left, *right, *window)


@pytest.mark.parametrize(("config", "joins"), CASES, ids=[f"{config.kind} {config.on}" for config, _ in CASES])
@settings(max_examples=40, deadline=None)
@given(made=steps, plan=plans)
def test_as_a_batch_and_as_a_stream(
    config: JoinConfig, joins: Joins, made: Sequence[Any], plan: list[tuple[int, str]]
) -> None:
    rows = timed(made)
    expected = ordered(reference(rows, config, joins))
    assert ordered(streamed(config, rows, [])) == expected
    assert ordered(streamed(config, rows, plan)) == expected


@settings(max_examples=40, deadline=None)
@given(made=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 60)), max_size=40), cuts=st.sets(st.integers(0, 40)))
def test_rows_later_than_the_watermark_find_nobody_and_are_counted(made: list[tuple[int, int]], cuts: set[int]) -> None:
    rows: list[Row] = [(side, "a", 1, number, 100 + second) for number, (side, second) in enumerate(made)]
    config, joins = CASES[0]
    run = joining(config)
    in_time: list[Row] = []
    late = 0
    for start, stop in pairwise(sorted({0, len(rows), *(place for place in cuts if place < len(rows))})):
        watermark_us = run.progress.watermark_us or 0
        taken = [row for row in rows[start:stop] if seconds(row) * 1_000_000 >= watermark_us]
        in_time += taken
        late += stop - start - len(taken)
        run.run(*inputs(rows[start:stop], config))
        late -= run.reports["it"].counts["late"]
        assert late == 0
    assert ordered(output(run)) == ordered(reference(in_time, config, joins))


def test_rows_without_a_time_or_a_key_are_left_out() -> None:
    config = CASES[0][0]
    run = joining(config)
    rows: list[Row] = [(0, "a", 1, 1, None), (0, "a", None, 1, 100), (0, "a", 1, 1, 100), (1, "a", 1, 1, None)]
    run.run(*inputs(rows, config))
    assert run.reports["it"].counts == {"without_time": 2, "late": 0}
    run.run(*inputs([(1, "a", 1, 1, 100), (1, "a", None, 1, 100)], config))
    assert len(output(run)) == 1
    assert kept(run) == [1, 1]


def test_late_rows_of_both_sides_are_dead_letters_where_they_are_to_be_kept() -> None:
    config = config_of("left.k = right.w", before="9s", after="9s", late="dead_letter", dead_letter="late")
    run = joining(config)
    run.run(*inputs([(0, "a", 1, 1, 104), (1, "a", 1, 1, 104)], config))
    run.run(*inputs([(0, "b", 2, 2, 98), (0, "a", 3, 3, 99), (1, None, 4, 4, 90)], config))
    assert run.reports["it"].counts == {"without_time": 0, "late": 2}
    letters = [json.loads(letter.to_json()) for letter in run.dead_letters]
    assert [(json.loads(letter["row"]), letter["reason"]) for letter in letters] == [
        ({"k": "b", "d": 2, "n": 2, "ts": str(at(98))}, "late: 1000 ms behind the watermark"),
        (
            {"w": None, "e": 4, "at": str(at(90)), "m": 4, "words": [None]},
            "late: 9000 ms behind the watermark",
        ),
    ]
    run.end()
    assert len(output(run)) == 2
    assert "late" not in config_of("left.k = right.w", after="1s").model_dump(exclude_defaults=True)


def opened(instance: JoinRows, state: NodeState, watermark_us: int | None = None) -> JoinRows:
    instance.open(Context("it", 0, 0, state, Timers(state.value("_timers")), watermark_us, 0))
    return instance


def kept(run: ChainTester) -> list[int]:
    """How many rows of each side the state has."""
    state = StateStore(run.files).load("it", run.lane, run.versions["it"]).claim_all()
    return [state[side].size if side in state else 0 for side in SIDES]


@pytest.mark.parametrize(("bounds", "sizes"), [({"before": "20s"}, (160, 340)), ({"window": "20s"}, (300, 300))])
def test_state_ends_with_the_watermark(bounds: dict[str, str], sizes: tuple[int, int]) -> None:
    """Ten rows a second of both sides: the left needs what may come late, the right what lies before that as well."""
    config = config_of("left.d = right.e", **bounds)
    run = joining(config)
    for second in range(100, 400, 2):
        rows: list[Row] = [(side, "a", 7 * second + i, 1, second + i % 2) for side in (0, 1) for i in range(10)]
        run.run(*inputs(rows, config))
    state = StateStore(run.files).load("it", run.lane, run.versions["it"])
    opened(JoinRows(config, schemas_of(config)), state, run.progress.watermark_us)
    for side, most in zip(SIDES, sizes, strict=True):
        assert 0 < state.claim_all()[side].size <= most
    # What is in files is written anew in turn, without what is gone.
    assert run.versions["it"].size_bytes < 1_000_000


def test_both_inputs_can_be_one_batch() -> None:
    config = config_of("left.d = right.other_d", after="0s")
    other = replace(Schema.parse("other_d BIGINT, other_ts TIMESTAMP"), event_time="other_ts")
    schemas = {"left": replace(Schema.parse("d BIGINT, ts TIMESTAMP"), event_time="ts"), "right": other}
    instance = opened(JoinRows(config, schemas), NodeState())
    arrays: list[Any] = [pa.array([1, 2, 2, None]), pa.array([at(5)] * 4, pa.timestamp("us", tz="UTC"))]
    made: list[Batch] = []
    for port, schema in schemas.items():
        batch = Batch(pa.record_batch(arrays, names=list(schema.names)), port=port)
        made += instance.process(batch)
    pairs = [row for batch in made for row in batch.rows.to_pylist()]
    assert sorted((row["d"], row["other_d"]) for row in pairs) == [(1, 1), (2, 2), (2, 2), (2, 2), (2, 2)]


@pytest.mark.parametrize(
    ("on", "bounds"), [("left.k = right.k", {"before": "1s"}), ("left.d = right.e", {"window": "1s"})]
)
def test_columns_are_those_of_the_operator(on: str, bounds: dict[str, Any]) -> None:
    config = config_of(on, **bounds)
    schema = Join().output_schema(config, schemas_of(config))
    made = joining(config).run(*inputs([(0, "a", 1, 1, 100), (1, "a", 1, 1, 100)], config))
    assert made is not None
    assert made.schema == arrow_schema(Schema((*schema.columns, *schema.hidden)))


def test_an_event_time_that_can_only_be_named_comes_along() -> None:
    hidden = Schema.parse("_timestamp TIMESTAMP").columns
    left = Schema(Schema.parse("d BIGINT").columns, hidden, "_timestamp")
    schemas = {"left": left, "right": RIGHT}
    config = config_of("left.d = right.e", before="1s")
    assert why_not(config, schemas) is None
    instance = opened(JoinRows(config, schemas), NodeState())
    time = pa.timestamp("us", tz="UTC")
    right = inputs([(1, "a", 1, 5, 100)], config)[0].rows
    rows = pa.record_batch([pa.array([1]), pa.array([at(100)], time)], names=["d", "_timestamp"])
    assert list(instance.process(Batch(right, port="right"))) == []
    (made,) = instance.process(Batch(rows, port="left"))
    assert made.rows.schema.names == ["d", "w", "e", "at", "m", "words", "_timestamp"]
    assert made.rows.column("_timestamp").to_pylist() == [at(100)]


@pytest.mark.parametrize("type_", ["TINYINT", "SMALLINT", "INT", "BIGINT", "STRING", "BOOLEAN", "DATE", "TIMESTAMP"])
def test_keys_of_all_exact_types(type_: str) -> None:
    schemas: dict[str, Schema] = {
        side: replace(Schema.parse(f"{side}_k {type_}, {side}_at TIMESTAMP"), event_time=f"{side}_at") for side in SIDES
    }
    config = config_of("left.left_k = right.right_k", before="1s")
    assert why_not(config, schemas) is None
    instance = opened(JoinRows(config, schemas), NodeState())
    fields = {side: arrow_schema(schema) for side, schema in schemas.items()}
    keys = pa.array([1, 0, None, 1], pa.int64())
    key = fields["left"].field(0).type
    whole = keys.cast(pa.int32()) if type_ == "DATE" else keys
    arrays: list[Any] = [whole.cast(key), pa.array([at(5)] * 4, pa.timestamp("us", tz="UTC"))]
    made: list[Batch] = []
    for side in SIDES:
        made += instance.process(Batch(pa.record_batch(arrays, schema=fields[side]), port=side))
    pairs = [row for batch in made for row in batch.rows.to_pylist()]
    assert all(row["left_k"] == row["right_k"] for row in pairs)
    assert len(pairs) == 5


@pytest.mark.parametrize(
    ("on", "settings_", "reason"),
    [
        ("left.k = right.k", {"kind": "left"}, None),
        ("left.x = right.y", {}, "DOUBLE"),
        ("left.d = right.i", {}, "BIGINT on the left"),
        ("lower(left.k) = right.k", {}, "only expressions"),
        ("left.k = right.k AND left.x < right.y", {}, None),
        ("left.k = right.k AND left.d + 1 < right.i", {}, None),
        ("left.k = right.k AND left.d IN (1, 2)", {}, None),
        ("left.k = right.k AND left.ts > '2026-01-01'", {}, "left to Spark"),
        ("left.k = right.k AND left.d > 1.5", {}, None),
        ("left.k = right.k AND (left.d = right.i) IS TRUE", {}, None),
        ("left.k = right.k AND left.d <=> right.i", {}, None),
        (r"left.k = right.k AND left.k > 'a\n'", {}, "left to Spark"),
        ("left.k = right.k AND soundex(left.k) = 'a'", {"kind": "left"}, "left to Spark"),
        ("left.k = right.k AND left._offset > 3", {}, "does not come along"),
        ("left.k = right.k AND left.d > right.i AND left.k > 'b' AND left.d < 7 AND left.b", {}, None),
        ("left.k = right.k AND NOT (left.b = right.b OR left.b IS NOT NULL) AND left.ts <= right.at", {}, None),
    ],
)
def test_what_is_left_to_spark(on: str, settings_: dict[str, Any], reason: str | None) -> None:
    hidden = Schema.parse("_offset BIGINT").columns
    left = Schema(Schema.parse("k STRING, d BIGINT, x DOUBLE, b BOOLEAN, ts TIMESTAMP").columns, hidden, "ts")
    right = replace(Schema.parse("k STRING, i INT, y DOUBLE, b BOOLEAN, at TIMESTAMP"), event_time="at")
    found = why_not(config_of(on, before="1s", **settings_), {"left": left, "right": right})
    assert (found is None) == (reason is None)
    assert reason is None or (found is not None and reason in found)


def test_types_and_times_that_are_not_known() -> None:
    config = config_of("left.k = right.w", before="1s")
    nested = replace(Schema.parse("w STRING, s STRUCT<x:INT>, at TIMESTAMP"), event_time="at")
    assert "STRUCT" in (why_not(config, {"left": LEFT, "right": nested}) or "")
    assert "event time" in (why_not(config, {"left": LEFT, "right": replace(RIGHT, event_time=None)}) or "")
