"""No row vanishes uncounted: what goes in comes out, or is counted as left out by a filter, bad, late, or without a
time."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from headrace.graph.validation import validate
from headrace.spark.planning.queries import plan_queries
from headrace.sql import parse

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

    from headrace.graph.document import Document
    from headrace.spark.jobs.status import NodeCount

pytestmark = pytest.mark.spark

START = datetime(2026, 1, 1, tzinfo=UTC)
ROWS_EACH = 60
IDLE_TIMEOUT_S = 600.0
END = {"k": "out", "ts": (START + timedelta(days=1)).isoformat()}


def row(key: str, second: float | None) -> dict[str, Any]:
    return {"k": key, "ts": None if second is None else (START + timedelta(seconds=second)).isoformat()}


def waves(chance: random.Random) -> list[list[Any]]:
    """What arrives, in three waves. Early rows are late once those of a second wave were seen, and then by far: of the
    windows of a row all are closed, or none, wherever micro-batches end. Many rows have the same key and time."""

    def one(from_s: int) -> Any:
        kind = chance.choices(["good", "bad", "timeless", "ruled out", "early"], [8, 1, 1, 2, 6])[0]
        if kind == "bad":
            return chance.choice([b"no json", b'{"k": "a", "ts": "yesterday"}', b"[1]"])
        key = "out" if kind == "ruled out" else chance.choice("ab")
        second = None if kind == "timeless" else chance.randint(0, 40) / 2 + (0 if kind == "early" else from_s)
        return row(key, second)

    return [[one(100 * wave) for _ in range(ROWS_EACH)] for wave in range(3)]


@dataclass(frozen=True)
class Case:
    """`windows` is how many windows a row lies in. With `in_spark` something is aggregated that is left to Spark."""

    window: str
    windows: int = 1
    keyed: bool = True
    in_spark: bool = False
    policy: str = "drop"

    def sql(self, source: str, target: str, letters: str) -> str:
        late = f", 'late.policy' = '{self.policy}', 'dead_letter.topic' = '{letters}'" * (self.policy != "drop")
        more = ", approx_count_distinct(k) AS ks" * self.in_spark
        keys = "GROUP BY k" * self.keyed
        return (
            "CREATE STREAM t (k STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '30' SECOND)"
            f" WITH (topic = '{source}'{late});"
            f"CREATE STREAM s WITH (topic = '{target}') AS SELECT count(*) AS n{more} FROM t WHERE k <> 'out'"
            f" {keys} WINDOW {self.window};"
        )

    def __str__(self) -> str:
        flags = ["keyed" if self.keyed else "keyless", "in Spark's plan" if self.in_spark else "as planned"]
        return ", ".join([self.window, *flags, self.policy])


TUMBLING, SLIDING, CUMULATE, SESSION = "TUMBLING(10s)", "SLIDING(20s, 5s)", "CUMULATE(20s, 5s)", "SESSION(5s)"
SLIDES = 4

QUICK = [Case(TUMBLING, policy="dead_letter"), Case(TUMBLING, in_spark=True)]
SLOW = [
    *(Case(window, keyed=keyed) for window in (TUMBLING, SESSION) for keyed in (True, False)),
    Case(TUMBLING, keyed=False, in_spark=True),
    *(Case(SLIDING, SLIDES, keyed=keyed, in_spark=in_spark) for keyed in (True, False) for in_spark in (True, False)),
    Case(SESSION, in_spark=True),
    Case(SESSION, policy="dead_letter"),
    Case(SLIDING, SLIDES, policy="dead_letter"),
    Case(TUMBLING, keyed=False, policy="dead_letter"),
]


def kinds_of(sent: list[Any]) -> Counter[str]:
    return Counter(
        "bad" if isinstance(one, bytes) else "out" if one["k"] == "out" else "timeless" if one["ts"] is None else "row"
        for one in sent
    )


def run(stack: Stack, document: Document, arriving: list[list[Any]], source: str) -> dict[str, NodeCount]:
    """Each wave is read before the next one comes. Returns what was counted of each node."""
    stack.engine.start(document)
    for wave in arriving:
        stack.produce(source, wave)
        assert stack.engine.wait_idle(document.name, IDLE_TIMEOUT_S)
    stack.engine.stop(document.name)
    (query,) = stack.engine.status(document.name).queries
    return {count.node: count for count in query.nodes}


def runs_in_chain(stack: Stack, document: Document) -> bool:
    plans = plan_queries(validate(document, stack.engine.catalogue), stack.engine.catalogue)
    return any(plan.in_chain for plan in plans)


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=str(case)) for case in QUICK]
    + [pytest.param(case, id=str(case), marks=pytest.mark.slow) for case in SLOW],
)
def test_rows_in_are_rows_out_and_those_that_are_counted(stack: Stack, case: Case) -> None:
    arriving = waves(random.Random(str(case)))
    source, target, letters = stack.topic("in", partitions=1), stack.name("out"), stack.name("late")
    document = parse(case.sql(source, target, letters), stack.name("pipeline"))
    assert not (case.in_spark and runs_in_chain(stack, document))
    counts = run(stack, document, [*arriving, [END]], source)
    sent = [one for wave in arriving for one in wave]
    kinds = kinds_of(sent)
    assert counts["t"].bad_total == kinds["bad"]
    assert counts["t"].rows_out_total == len(sent) + 1 - kinds["bad"]
    assert counts["s_filter"].rows_out_total == kinds["row"] + kinds["timeless"]
    counted = sum(found["n"] for found in stack.rows(target))
    lost = counts["s_window"].late_total
    assert lost > 0
    assert counted == (kinds["row"] - lost) * case.windows
    if case.policy == "dead_letter":
        assert len(stack.rows(letters)) == lost


def alike(count: int, second: float) -> list[dict[str, Any]]:
    return [row("a", second)] * count


# A window; its rows at 3, 3 and 13 seconds, and how often each counts when the watermark is at 0, 12 and 22 seconds.
OPEN_WINDOWS = {
    TUMBLING: [(3, 0, 1), (13, 12, 1)],
    SLIDING: [(3, 0, 4), (3, 12, 2), (13, 12, 4), (13, 22, 2)],
    CUMULATE: [(3, 0, 4), (3, 12, 2), (13, 12, 2)],
    SESSION: [(3, 0, 1), (13, 12, 1)],
}


@pytest.mark.parametrize("in_spark", [pytest.param(True, id="spark"), pytest.param(False, id="chain")])
@pytest.mark.parametrize(
    "window", [SLIDING, *(pytest.param(one, marks=pytest.mark.slow) for one in (TUMBLING, CUMULATE, SESSION))]
)
def test_rows_alike_are_late_one_by_one(stack: Stack, window: str, in_spark: bool) -> None:
    """In several micro-batches rows of one key and one time. One that still counts in some window is not late."""
    source, target = stack.topic("in", partitions=1), stack.name("out")
    more = ", approx_count_distinct(k) AS ks" * in_spark
    document = parse(
        f"CREATE STREAM t (k STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (topic = '{source}');"
        f"CREATE STREAM s WITH (topic = '{target}') AS SELECT count(*) AS n{more} FROM t WHERE k <> 'out'"
        f" GROUP BY k WINDOW {window};",
        stack.name("pipeline"),
    )
    steps = [(0, 3, 5), (12, 3, 15), (12, 13, 7), (22, 3, 11), (22, 13, 20), (22, 3, 2)]
    counting = {(second, watermark): times for second, watermark, times in OPEN_WINDOWS[window]}
    arriving = [part for watermark, second, count in steps for part in ([row("out", watermark)], alike(count, second))]
    counts = run(stack, document, [*arriving, [END]], source)
    late = sum(count for watermark, second, count in steps if (second, watermark) not in counting)
    expected = sum(count * counting.get((second, watermark), 0) for watermark, second, count in steps)
    assert counts["s_window"].late_total == late
    assert sum(found["n"] for found in stack.rows(target)) == expected


@pytest.mark.slow
def test_late_rows_are_counted_from_the_first_micro_batch_after_a_restart(stack: Stack) -> None:
    source, target = stack.topic("in", partitions=1), stack.name("out")
    document = parse(Case(TUMBLING, in_spark=True).sql(source, target, ""), stack.name("pipeline"))
    run(stack, document, [alike(3, 3), [row("out", 100)], alike(4, 3)], source)
    counts = run(stack, document, [alike(6, 3), [END]], source)
    assert counts["s_window"].late_total == 4 + 6
    assert [found["n"] for found in stack.rows(target)] == [3]


@pytest.mark.slow
def test_late_rows_are_those_behind_filters_functions_and_tables_of_that_time(stack: Stack) -> None:
    source, target, table = stack.topic("in", partitions=2), stack.name("out"), stack.name("table")
    document = parse(
        f"CREATE STREAM t (k STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (topic = '{source}');"
        f"CREATE TABLE wanted (k STRING PRIMARY KEY, v BIGINT) WITH (topic = '{table}');"
        f"CREATE STREAM s WITH (topic = '{target}') AS"
        " SELECT w.v, approx_count_distinct(t.k) AS ks FROM t JOIN wanted AS w"
        " ON t.k = w.k WHERE lower(t.k) <> 'b' GROUP BY w.v WINDOW TUMBLING(10s);",
        stack.name("pipeline"),
    )
    stack.engine.start(document)
    for topic, rows in [
        (table, [{"k": "a", "v": 1}, {"k": "b", "v": 2}]),
        (source, [row("c", 100)]),
        (source, [*alike(5, 3), row("b", 3), row("c", 3)]),
        (table, [{"k": "c", "v": 3}]),
        (source, [*alike(2, 4), row("c", 3), row("c", 3)]),
    ]:
        stack.produce(topic, rows)
        assert stack.engine.wait_idle(document.name, IDLE_TIMEOUT_S)
    (query,) = stack.engine.status(document.name).queries
    stack.engine.stop(document.name)
    assert {count.node: count.late_total for count in query.nodes if count.late_total} == {"s_window": 5 + 4}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "more"), [("LEFT JOIN", ""), ("FULL JOIN", ""), ("JOIN", " AND soundex(l.k) = soundex(r.k)"), ("JOIN", "")]
)
def test_late_rows_of_joins_are_counted_one_by_one(stack: Stack, kind: str, more: str) -> None:
    """All but the third one run in a chain."""
    left, right, target = stack.topic("left", partitions=1), stack.topic("right", partitions=1), stack.name("out")
    document = parse(
        f"CREATE STREAM l (k STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (topic = '{left}');"
        f"CREATE STREAM r (k STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (topic = '{right}');"
        f"CREATE STREAM s WITH (topic = '{target}') AS SELECT l.k AS one, r.k AS other FROM l {kind} r"
        f" ON l.k = r.k{more} WITHIN 5 SECONDS;",
        stack.name("pipeline"),
    )
    stack.engine.start(document)
    for topic, rows in [
        (left, alike(2, 3)),
        (right, [row("b", 3)]),
        (left, [row("c", 100)]),
        (right, [row("d", 100)]),
        (left, alike(5, 3)),
        (right, alike(4, 4)),
        (left, [END]),
        (right, [END]),
    ]:
        stack.produce(topic, rows)
        assert stack.engine.wait_idle(document.name, IDLE_TIMEOUT_S)
    stack.engine.stop(document.name)
    (query,) = stack.engine.status(document.name).queries
    assert {count.node: count.late_total for count in query.nodes if count.late_total} == {"s_join": 5 + 4}
