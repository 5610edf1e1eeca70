"""Each row with the newest one of the other side not later than it, against a slow and obvious reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.operators.serial_cases import CATALOGUE, DELAY_US, at, micro_batches, ordered, output, plans, run_after_crash

from headrace.errors import HeadraceError
from headrace.graph import Edge, Json, Node, Schema
from headrace.operators.arrow_types import arrow_schema
from headrace.operators.serial_chain import ChainInput, ChainPlan
from headrace.serial import LaneInput, StateStore
from headrace.serial.places import origin_of
from headrace.serial.row_chunks import RowChunks
from headrace.testing import ChainTester

LEFT = replace(Schema.parse("k STRING, n BIGINT, ts TIMESTAMP"), event_time="ts")
RIGHT = replace(Schema.parse("k STRING, x DOUBLE, at TIMESTAMP"), event_time="at")
SCHEMAS = (LEFT, RIGHT)
EDGES = (Edge("l", "it", "out", "left"), Edge("r", "it", "out", "right"))

# Side, key, number, second.
Row = tuple[int, str | None, int, int]

steps = st.lists(
    st.tuples(
        st.integers(0, 1), st.sampled_from(["a", "b", None]), st.integers(0, 9), st.integers(0, 4), st.integers(0, 5)
    ),
    max_size=40,
)


def timed(made: Sequence[tuple[int, str | None, int, int, int]]) -> list[Row]:
    """Times of both sides go forward, each up to the watermark's delay out of order."""
    now, rows = 100, []
    for side, key, number, step, back in made:
        now += step
        rows.append((side, key, number, now - back))
    return rows


def joining(**config: Json) -> ChainTester:
    inputs = tuple(ChainInput(name, schema) for name, schema in zip("lr", SCHEMAS, strict=True))
    plan = ChainPlan((Node("it", "asof-join", config),), inputs, EDGES)
    times = [schema.event_time for schema in SCHEMAS]
    return ChainTester(lambda: plan.chain(CATALOGUE), event_times=times, delay_us=DELAY_US)


def inputs(rows: Sequence[Row]) -> list[LaneInput]:
    found = []
    for side, schema in enumerate(SCHEMAS):
        fields = arrow_schema(schema)
        columns = [[(key, number, at(second))[i] for of, key, number, second in rows if of == side] for i in range(3)]
        arrays: list[Any] = [pa.array(column, one.type) for column, one in zip(columns, fields, strict=True)]
        found.append(LaneInput(pa.record_batch(arrays, schema=fields), origin=origin_of(side, 0), source=side))
    return [one for one in found if one.rows.num_rows]


def streamed(run: ChainTester, rows: Sequence[Row], plan: Sequence[tuple[int, str]]) -> list[tuple[Any, ...]]:
    """In micro-batches cut at these places; some crash first, and are run again with the same rows."""
    for piece, how in micro_batches(rows, plan):
        run_after_crash(run, how, *inputs(piece))
    run.end()
    return output(run)


def reference(rows: Sequence[Row], *, kind: str, within_s: int | None) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for side, key, number, second in rows:
        if side == 1:
            continue
        known = [row for row in rows if row[0] == 1 and row[1] == key and key is not None and row[3] <= second]
        known = [row for row in known if within_s is None or second - row[3] <= within_s]
        # Of equal times the later in the order of arrival.
        newest = max(enumerate(known), key=lambda pair: (pair[1][3], pair[0]), default=None)
        if newest is not None:
            found.append((key, number, at(second), float(newest[1][2]), at(newest[1][3])))
        elif kind == "left":
            found.append((key, number, at(second), None, None))
    return found


@pytest.mark.parametrize(("kind", "within_s"), [("inner", None), ("left", None), ("left", 3)])
@settings(max_examples=60, deadline=None)
@given(made=steps, plan=plans)
def test_as_a_batch_and_as_a_stream(
    kind: str, within_s: int | None, made: Sequence[Any], plan: list[tuple[int, str]]
) -> None:
    rows = timed(made)
    expected = ordered(reference(rows, kind=kind, within_s=within_s))
    config: dict[str, Json] = {"keys": ["k"], "kind": kind}
    if within_s is not None:
        config["within"] = f"{within_s} seconds"
    assert ordered(streamed(joining(**config), rows, [])) == expected
    assert ordered(streamed(joining(**config), rows, plan)) == expected


def test_rows_come_out_by_time_and_late_ones_are_counted() -> None:
    run = joining(keys=["k"], kind="left")
    run.run(*inputs([(0, "a", 1, 104), (0, "a", 2, 102), (1, "a", 7, 101), (1, "a", 8, 103)]))
    run.run(*inputs([(0, "a", 3, 98), (0, "a", 4, 97), (1, "a", 9, 97)]))
    # Both sides came to 103 or further, and may come 5 seconds late.
    assert run.reports["it"].counts == {"without_time": 0, "late": 2}
    run.end()
    assert [(row[1], row[3]) for row in output(run)] == [(3, None), (2, 7.0), (1, 8.0)]


def test_replaced_rows_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headrace.operators.asof_join.REPLACED_ROWS_MAX", 10)
    run = joining(keys=["k"])
    for second in range(100, 400, 10):
        run.run(*inputs([(1, "ab"[second % 20 // 10], second, second + step) for step in range(10)]))
    kept = RowChunks(StateStore(run.files).load("it", run.lane, run.versions["it"]), "right").all()
    assert kept is not None
    assert kept.num_rows <= 40
    run.run(*inputs([(0, "a", 1, 400), (0, "b", 2, 400)]))
    run.end()
    assert sorted((row[0], row[3]) for row in output(run)) == [("a", 380.0), ("b", 390.0)]


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        (LEFT, replace(RIGHT, event_time=None), "the rows of the right have no event time"),
        (LEFT, replace(Schema.parse("k BIGINT, at TIMESTAMP"), event_time="at"), "the key 'k' is STRING on the left"),
        (LEFT, replace(Schema.parse("k STRING, n INT, at TIMESTAMP"), event_time="at"), "'n'"),
    ],
)
def test_inputs_that_do_not_fit(left: Schema, right: Schema, message: str) -> None:
    operator = CATALOGUE.get("asof-join")
    with pytest.raises(HeadraceError, match=message):
        operator.output_schema(operator.configure({"keys": ["k"]}), {"left": left, "right": right})
