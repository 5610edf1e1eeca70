"""Chains that are no lines: unions of sources, and of branches, against a slow reference on random rows."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.errors import HeadraceError, InvalidInput
from headrace.graph import Schema, validate
from headrace.graph.text import parse_text
from headrace.operators import Catalogue
from headrace.operators.serial_chain import ChainPlan
from headrace.serial import LaneInput
from headrace.spark.planning.queries import plan_queries
from headrace.spark.planning.query_chain import chain_of
from headrace.testing import ChainTester

CATALOGUE = Catalogue()
Row = tuple[str, int]
ONE = Schema.parse("k STRING, n BIGINT")
SOURCES = 'topic one schema="k STRING, n BIGINT" as one'
OTHER = 'topic two schema="n BIGINT, k STRING" as two'
TOTALS = 'length-window 3 keys=k aggregates=["sum(n) AS s"]'
# Rows of one source or the other, in the order in which a lane gets them.
PIECES = st.lists(
    st.tuples(st.integers(0, 1), st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), max_size=6)), max_size=8
)


def planned(text: str) -> ChainPlan:
    validated = validate(parse_text(text, CATALOGUE, name="p"), CATALOGUE)
    (plan,) = plan_queries(validated, CATALOGUE)
    chain = chain_of(plan, validated, CATALOGUE)
    assert chain is not None
    return chain


def batch(source: int, rows: list[Row]) -> LaneInput:
    keys, numbers = pa.array([k for k, _ in rows], pa.string()), pa.array([n for _, n in rows], pa.int64())
    columns = {"k": keys, "n": numbers} if source == 0 else {"n": numbers, "k": keys}
    return LaneInput(pa.record_batch(columns), source=source)


def totals(rows: list[Row]) -> list[tuple[str, int]]:
    """Of the last three numbers of a key, row by row."""
    seen: dict[str, list[int]] = defaultdict(list)
    found = []
    for key, number in rows:
        seen[key].append(number)
        found.append((key, sum(seen[key][-3:])))
    return found


def run(plan: ChainPlan, pieces: list[tuple[int, list[Row]]]) -> tuple[list[tuple[str, int]], ChainTester]:
    """Each piece a micro-batch of its own."""
    tester = ChainTester(lambda: plan.chain(CATALOGUE))
    for source, rows in pieces:
        tester.run(batch(source, rows))
    return [(row["k"], row["s"]) for out in tester.rows for row in out.to_pylist()], tester


@given(PIECES)
@settings(deadline=None, max_examples=60)
def test_a_union_of_topics_into_a_window(pieces: list[tuple[int, list[Row]]]) -> None:
    plan = planned(f"{SOURCES} ! union as all ! {TOTALS} as w ! preview\n{OTHER} ! @all.in_2")
    assert [one.source for one in plan.inputs] == ["one", "two"]
    assert [node.id for node in plan.nodes] == ["all", "w"]
    found, _ = run(plan, pieces)
    assert found == totals([row for _, rows in pieces for row in rows])


@given(PIECES)
@settings(deadline=None, max_examples=60)
def test_one_output_to_two_operators_and_two_outputs_into_one(pieces: list[tuple[int, list[Row]]]) -> None:
    score = "score headrace.operators.samples:mean_model features=n"
    plan = planned(
        f"""{SOURCES} ! deduplicate k as once
        @once ! {score} as a ! union as all ! {TOTALS} as w ! preview
        @once ! {score} as b ! @all.in_2"""
    )
    pieces = [(0, rows) for _, rows in pieces]
    found, tester = run(plan, pieces)
    once, expected = set[str](), list[Row]()
    for _, rows in pieces:
        fresh = {key: (key, number) for key, number in reversed(rows) if key not in once}
        once.update(fresh)
        in_order = [row for row in dict.fromkeys(rows) if fresh.get(row[0]) == row]
        expected += [*in_order, *in_order]
    assert found == totals(expected)
    assert sum(report.copies.count for report in tester.reports.values()) == 0


def test_a_filter_between_a_topic_and_the_union_is_left_to_the_topics_reader() -> None:
    plan = planned(f"{SOURCES} ! filter n>1 as some ! union as all ! {TOTALS} ! preview\n{OTHER} ! @all.in_2")
    assert [one.source for one in plan.inputs] == ["some", "two"]


def test_what_only_spark_can_do_before_the_union_keeps_the_union_in_sparks_plan() -> None:
    plan = planned(f"{SOURCES} ! filter \"soundex(k) = 'a'\" ! union as all ! {TOTALS} ! preview\n{OTHER} ! @all.in_2")
    assert [one.source for one in plan.inputs] == ["all"]


def test_rows_come_into_a_chain_from_a_topic_and_through_sparks_plan() -> None:
    plan = planned(
        f"{SOURCES} ! {TOTALS} as w ! union as all ! preview\n"
        'topic two schema="k STRING, n BIGINT, s BIGINT" ! filter n>1 as some ! @all.in_2'
    )
    assert [one.source for one in plan.inputs][1:] == ["some"]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ("partitioned=custom", "go together"),
        ("partitioner=builtins:len", "go together"),
        ("partitioned=custom partitioner=builtins:nothing", "has no 'nothing'"),
        ("partitioned=custom partitioner=math:pi", "is no function"),
        ("partitioned=round_robin", "partitioned"),
    ],
)
def test_a_partitioning_that_cannot_be_is_refused(settings: str, told: str) -> None:
    with pytest.raises(HeadraceError, match=told):
        planned(f"{SOURCES} ! {TOTALS} {settings} ! preview")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"{SOURCES} ! union as all ! {TOTALS} partitioned=as_topic ! preview\n{OTHER} ! @all.in_2", "one topic"),
        (
            f'{SOURCES} ! {TOTALS} ! aggregate keys=k aggregates=["approx_count_distinct(s) AS t"] ! preview',
            "cannot follow a serial",
        ),
        (
            f"{SOURCES} ! {TOTALS} as w ! union as all ! preview\n"
            'file rows schema="k STRING, n BIGINT, s BIGINT" ! @all.in_2',
            "not all topics",
        ),
        (f"{SOURCES} ! python headrace.operators.samples:unchanged ! {TOTALS} ! preview", "leave them where they are"),
        (
            f"{SOURCES} ! filter \"soundex(k) = 'a'\" ! {TOTALS} ! deduplicate s ! preview",
            "neighbouring serial nodes have different keys",
        ),
        (
            'topic one schema="k STRING, n BIGINT, at TIMESTAMP" event_time=at ! @j.left\n'
            'topic two schema="k STRING, m BIGINT, ts TIMESTAMP" event_time=ts ! @j.right\n'
            f'join "left.k = right.k AND soundex(left.k) = right.k" kind=left after=1h as j ! {TOTALS} ! preview',
            "one source",
        ),
    ],
)
def test_what_cannot_be_one_chain_is_refused(text: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        planned(text)


TIMED = (
    'topic one schema="k STRING, a BIGINT, at TIMESTAMP" event_time=at as one ! @first.left\n'
    'topic two schema="k STRING, b BIGINT, bt TIMESTAMP" event_time=bt as two'
    ' ! select "k AS k2" b bt as renamed ! @first.right\n'
    'topic three schema="k STRING, c BIGINT, ct TIMESTAMP" event_time=ct as three'
    ' ! select "k AS k3" c ct as others ! @second.right\n'
    'join "left.k = right.k2" after="10 seconds" as first ! @second.left\n'
    'join "left.k = right.k3" before="4 seconds" after="4 seconds" as second ! preview'
)
MOMENTS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from("ab"), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40
)


def timed(source: int, rows: list[tuple[str, int, int]]) -> LaneInput:
    keys = pa.array([key for key, _, _ in rows], pa.string())
    numbers = pa.array([number for _, number, _ in rows], pa.int64())
    times = pa.array([second * 1_000_000 for _, _, second in rows], pa.int64()).view(pa.timestamp("us", tz="UTC"))
    names = [("k", "a", "at"), ("k2", "b", "bt"), ("k3", "c", "ct")][source]
    return LaneInput(pa.record_batch([keys, numbers, times], names=list(names)), origin=source << 16, source=source)


@given(MOMENTS, st.integers(1, 7))
@settings(deadline=None, max_examples=80)
def test_a_pair_that_waited_long_still_finds_the_third(events: list[tuple[int, str, int, int]], per_batch: int) -> None:
    """The time of a pair is that of its first row, which the watermark has passed when the second one comes."""
    plan = planned(TIMED)
    assert len(plan.stages(CATALOGUE)) == 1
    order = [one.source for one in plan.inputs]
    places = [order.index(name) for name in ("one", "renamed", "others")]
    times = [["at", "bt", "ct"][places.index(number)] for number in range(3)]
    tester = ChainTester(lambda: plan.chain(CATALOGUE), event_times=times, delay_us=3_000_000)
    rows: list[tuple[int, str, int, int]] = []
    second = 0
    for number, (source, key, step, back) in enumerate(events):
        second += step
        rows.append((source, key, number, max(0, second - back)))
    for start in range(0, len(rows), per_batch):
        batch = rows[start : start + per_batch]
        inputs = [timed(source, [(key, number, at)]) for source, key, number, at in batch]
        tester.run(*(replace(one, source=places[one.source], origin=places[one.source] << 16) for one in inputs))
    found = sorted((row["a"], row["b"], row["c"]) for out in tester.rows for row in out.to_pylist())
    assert found == sorted(
        (a, b, c)
        for (s1, k1, a, t1) in rows
        for (s2, k2, b, t2) in rows
        for (s3, k3, c, t3) in rows
        if (s1, s2, s3) == (0, 1, 2) and k1 == k2 == k3 and 0 <= t2 - t1 <= 10 and -4 <= t3 - t1 <= 4
    )


WINDOWS = (
    'topic one schema="k STRING, a BIGINT, at TIMESTAMP" event_time=at as one\n'
    '! tumbling-window "2 seconds" time=at keys=["k"] aggregates=["count(*) AS n"] as short\n'
    '! select k n "_event_time AS moment" as told\n'
    '! {kind} "10 seconds" {more} time=moment keys=["k"] aggregates=["sum(n) AS total"] emit={emit} as long ! preview'
)
STEPS = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=40)


@pytest.mark.parametrize("emit", ["final", "changes"])
@pytest.mark.parametrize(("kind", "more"), [("tumbling-window", ""), ("sliding-window", 'every="5 seconds"')])
@given(rows=STEPS, per_batch=st.integers(1, 7))
@settings(deadline=None, max_examples=40)
def test_windows_of_windows_miss_no_row(
    emit: str, kind: str, more: str, rows: list[tuple[str, int, int]], per_batch: int
) -> None:
    """What a window lets out is below the watermark by then, and yet not late for the next one."""
    plan = planned(WINDOWS.format(kind=kind, more=more, emit=emit))
    assert [node.id for node in plan.nodes] == ["short", "told", "long"]
    tester = ChainTester(lambda: plan.chain(CATALOGUE), event_times=["at"], delay_us=3_000_000)
    second, timed_rows = 0, list[tuple[str, int, int]]()
    for number, (key, step, back) in enumerate(rows):
        second += step
        timed_rows.append((key, number, max(0, second - back)))
    for start in range(0, len(timed_rows), per_batch):
        tester.run(timed(0, timed_rows[start : start + per_batch]))
    for _ in range(3):
        tester.end()
    expected: dict[tuple[str, int], int] = defaultdict(int)
    for key, _, at in timed_rows:
        # The last moment of its short window lies in these.
        told, every = at // 2 * 2 + 1, 5 if more else 10
        for end in range(told // every * every + every, told + 11, every):
            expected[key, end] += 1
    found = [row for out in tester.rows for row in out.to_pylist()]
    if emit == "final":
        assert len({(row["k"], row["_window_end"]) for row in found}) == len(found)
    newest = {(row["k"], int(row["_window_end"].timestamp())): row["total"] for row in found}
    assert newest == expected


def test_three_windows_in_a_row_miss_no_row() -> None:
    """What the second lets out, in the same micro-batch as the first, is not late for the third."""
    text = WINDOWS.format(kind="tumbling-window", more="", emit="final").removesuffix(" ! preview")
    last = 'tumbling-window "20 seconds" time=moment keys=["k"] aggregates=["sum(total) AS all"] ! preview'
    plan = planned(f'{text}\n! select k total "_event_time AS moment" ! {last}')
    tester = ChainTester(lambda: plan.chain(CATALOGUE), event_times=["at"], delay_us=3_000_000)
    # All windows of a row end at once.
    for at in range(19, 400, 20):
        tester.run(timed(0, [("a", 0, at), ("b", 0, at)]))
        tester.run()
    for _ in range(3):
        tester.end()
    found = [(row["k"], row["all"]) for out in tester.rows for row in out.to_pylist()]
    assert sorted(found) == [("a", 1)] * 20 + [("b", 1)] * 20
    assert {name: report.counts.get("late", 0) for name, report in tester.reports.items()} == dict.fromkeys(
        tester.reports, 0
    )
