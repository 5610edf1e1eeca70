"""Runs a serial operator as batch, as a stream with random cuts, and with crashes: for tests against a reference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, TypeVar

import pyarrow as pa
from hypothesis import strategies as st

from headrace.graph import Json, Node, Schema
from headrace.operators import Catalogue
from headrace.operators.arrow_types import arrow_schema
from headrace.operators.serial_chain import ChainPlan
from headrace.serial import LaneInput
from headrace.testing import ChainTester, Crash, CrashPoint, cut

SCHEMA = replace(Schema.parse("k STRING, n BIGINT, x DOUBLE, ts TIMESTAMP"), event_time="ts")
DELAY_US = 5_000_000
CATALOGUE = Catalogue()

Row = tuple[str | None, int | None, float | None, int]
_Any = TypeVar("_Any")


def rows_strategy(max_size: int = 40) -> st.SearchStrategy[list[Row]]:
    """Rows whose times go forward, each up to the watermark's delay out of order, in whole seconds."""
    row = st.tuples(
        st.sampled_from(["a", "b", "c", None]),
        st.one_of(st.none(), st.integers(-50, 50)),
        st.one_of(st.none(), st.integers(-50, 50).map(float)),
        st.integers(0, 7),
        st.integers(0, 5),
    )

    def timed(made: list[tuple[Any, Any, Any, int, int]]) -> list[Row]:
        now, out = 100, []
        for key, number, value, step, back in made:
            now += step
            out.append((key, number, value, now - back))
        return out

    return st.lists(row, max_size=max_size).map(timed)


plans = st.lists(
    st.tuples(st.integers(0, 40), st.sampled_from(["", "", "", "rows", "write", "commit", "task"])), max_size=6
)
CRASHES = {
    "rows": CrashPoint(after_batches=1),
    "write": CrashPoint(while_writing=True),
    "commit": CrashPoint(),
    "task": CrashPoint(keeps_memory=True),
}


def micro_batches(rows: Sequence[_Any], plan: Sequence[tuple[int, str]]) -> Iterator[tuple[Sequence[_Any], str]]:
    """The rows cut at the places of a plan, each piece with how its first attempt ends: "" for well."""
    places = sorted({0, len(rows), *(place for place, _ in plan if place < len(rows))})
    for number, (start, stop) in enumerate(pairwise(places)):
        yield rows[start:stop], plan[number % len(plan)][1] if plan else ""


def run_after_crash(tester: ChainTester, how: str, *batches: pa.RecordBatch | LaneInput) -> pa.Table | None:
    """One micro-batch; if told how, it crashes first, and is run again with the same rows."""
    if how:
        with suppress(Crash):
            tester.run(*batches, crash=CRASHES[how])
        if how != "task":
            tester.sweep()
    return tester.run(*batches)


def at(second: int) -> datetime:
    return datetime.fromtimestamp(second, UTC)


def as_batch(rows: Sequence[Row], schema: Schema = SCHEMA) -> pa.RecordBatch:
    columns = list(zip(*rows, strict=True)) if rows else [(), (), (), ()]
    values: list[Sequence[Any]] = [*columns[:3], [at(second) for second in columns[3]]]
    fields = arrow_schema(schema)
    arrays = [pa.array(list(column), field.type) for column, field in zip(values, fields, strict=True)]
    return pa.record_batch(arrays, schema=fields)


@dataclass(frozen=True)
class Case:
    """One operator with its settings."""

    operator: str
    config: dict[str, Json]
    schema: Schema = SCHEMA

    def tester(self) -> ChainTester:
        plan = ChainPlan.line((Node("it", self.operator, self.config),), self.schema)
        return ChainTester(lambda: plan.chain(CATALOGUE), event_time=self.schema.event_time, delay_us=DELAY_US)

    def batch(self, rows: Sequence[Row]) -> list[tuple[Any, ...]]:
        tester = self.tester()
        tester.run(as_batch(rows, self.schema))
        tester.end()
        return output(tester)

    def stream(self, rows: Sequence[Row], plan: Sequence[tuple[int, str]]) -> list[tuple[Any, ...]]:
        """In micro-batches cut at these places; some crash first, and are run again with the same rows."""
        tester = self.tester()
        crashes = dict(plan)
        for number, piece in enumerate(cut(as_batch(rows, self.schema), [place for place, _ in plan])):
            halves = cut(piece, [piece.num_rows // 2])
            how = list(crashes.values())[number % len(crashes)] if crashes else ""
            run_after_crash(tester, how, *halves)
        tester.end()
        return output(tester)


def output(tester: ChainTester) -> list[tuple[Any, ...]]:
    table = tester.table()
    return [] if table is None else [tuple(row.values()) for row in table.to_pylist()]


def ordered(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(rows, key=repr)


def same_both_ways(
    case: Case,
    reference: Callable[[Sequence[Row]], list[tuple[Any, ...]]],
    rows: list[Row],
    plan: list[tuple[int, str]],
) -> None:
    """The operator gives what the reference gives, as batch and as stream. Numbers in tests are whole: no rounding."""
    expected = ordered(reference(rows))
    assert ordered(case.batch(rows)) == expected
    assert ordered(case.stream(rows, plan)) == expected
