"""Where micro-batches end, against a model of a broker: rows, signals, crashes and sources in any order.

The query reads two topics, one of them twice.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.signals import Cut, SignalRecord, SignalRequest
from headrace.spark.reading.positions import Position
from headrace.spark.sources.cuts import Cuts
from headrace.spark.sources.topic_source import share_limit
from headrace.spark.specs import Offsets

TOPIC, OTHER = "t", "u"
PARTITIONS = {TOPIC: 2, OTHER: 1}
SOURCES = {"one": TOPIC, "two": OTHER, "again": OTHER}
ROWS_PER_BATCH_MAX = 3
ROUNDS_MAX = 500

# What can happen next. The three steps of the sequencer are apart, for a source may look in between.
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("row"), st.sampled_from([(topic, p) for topic, n in PARTITIONS.items() for p in range(n)])),
        st.tuples(
            st.just("request"),
            st.tuples(
                st.sampled_from(["custom", "pause", "resume"]),
                st.sampled_from([(TOPIC,), (OTHER,), (TOPIC, OTHER)]),
            ),
        ),
        st.tuples(st.sampled_from(["bounds", "plan"]), st.sampled_from(list(SOURCES))),
        st.tuples(st.sampled_from(["marks", "lost_marks", "cut", "commit", "crash"]), st.none()),
    ),
    max_size=80,
)
Row: TypeAlias = "tuple[str, int, int]"
Steps: TypeAlias = "list[tuple[str, Any]]"
START: Position = {node: {str(p): 0 for p in range(PARTITIONS[topic])} for node, topic in SOURCES.items()}


@dataclass
class Broker:
    """Partitions hold True for rows, and False for marks; `records` is `__signals`."""

    topics: dict[str, list[list[bool]]] = field(
        default_factory=lambda: {topic: [[] for _ in range(count)] for topic, count in PARTITIONS.items()}
    )
    records: dict[str, SignalRecord] = field(default_factory=dict)
    marks: Cut | None = None
    pending: SignalRequest | None = None

    def row(self, topic: str, partition: int) -> None:
        self.topics[topic][partition].append(True)

    def request(self, kind: str, topics: tuple[str, ...]) -> None:
        if self.pending is None:
            self.pending = SignalRequest(f"s{len(self.records)}", kind, topics)
            self.records[self.pending.id] = SignalRecord(self.pending, "requested", 0)

    def mark(self) -> None:
        if self.pending is not None:
            for partition in (partition for topic in self.pending.topics for partition in self.topics[topic]):
                partition.append(False)
            self.marks = {topic: dict(enumerate(map(len, self.topics[topic]))) for topic in self.pending.topics}

    def cut(self) -> None:
        if self.pending is not None and self.marks is not None:
            number = len(self.records)
            self.records[self.pending.id] = SignalRecord(self.pending, "placed", 0, number, self.marks)
            self.pending = self.marks = None

    def bounds(self, node: str) -> Offsets:
        return {str(p): len(rows) for p, rows in enumerate(self.topics[SOURCES[node]])}

    def cuts(self) -> Cuts:
        return Cuts.of(self.records.values(), SOURCES, "pipeline", START)


@dataclass
class Query:
    """Each source looks at its bounds, later at the signals, and plans its part; once all have, the micro-batch can be
    committed. A crash forgets what was planned."""

    broker: Broker
    position: Position = field(default_factory=lambda: START)
    seen: dict[str, Offsets] = field(default_factory=dict)
    planned: dict[str, Offsets] = field(default_factory=dict)
    handled: list[Row | str] = field(default_factory=list)
    """Rows, and ids of signals, in the order of commits."""

    def plan(self, node: str) -> None:
        if node not in self.seen or node in self.planned:
            return
        cuts, begin = self.broker.cuts(), self.position[node]
        end = {p: max(end, begin[p]) for p, end in self.seen.pop(node).items()}
        end = begin if cuts.is_held(self.position, {}) else cuts.limited(node, self.position, begin, end)
        self.planned[node] = share_limit(begin, end, ROWS_PER_BATCH_MAX)

    def commit(self) -> None:
        if self.planned.keys() == SOURCES.keys():
            self.handled += self._run(self.planned)
            self.position, self.planned = self.planned, {}

    def forget(self) -> None:
        self.seen, self.planned = {}, {}

    def _run(self, end: Position) -> list[Row | str]:
        """More may be known now than when the micro-batch was planned."""
        rows: list[Row | str] = [
            (node, p, offset)
            for node, topic in SOURCES.items()
            for p, content in enumerate(self.broker.topics[topic])
            for offset in range(self.position[node][str(p)], end[node][str(p)])
            if content[offset]
        ]
        return rows + [signal.request.id for signal in self.broker.cuts().between(self.position, end)]


def run(steps: Steps) -> tuple[Broker, Query]:
    broker = Broker()
    query = Query(broker)
    for step, detail in steps:
        match step:
            case "row":
                broker.row(*detail)
            case "request":
                broker.request(*detail)
            case "marks":
                broker.mark()
            case "lost_marks":
                # The broker crashes: marks stay, and the request is placed anew.
                broker.marks = None
            case "cut":
                broker.cut()
            case "bounds":
                query.seen[detail] = broker.bounds(detail)
            case "plan":
                query.plan(detail)
            case "commit":
                query.commit()
            case _:
                query.forget()
    return broker, query


def finish(broker: Broker, query: Query) -> None:
    """The broker comes to rest, a pause ends, and the query reads everything."""
    broker.mark()
    broker.cut()
    broker.request("resume", (TOPIC, OTHER))
    broker.mark()
    broker.cut()
    query.forget()
    ends = {node: broker.bounds(node) for node in SOURCES}
    for _ in range(ROUNDS_MAX):
        query.seen = dict(ends)
        for node in SOURCES:
            query.plan(node)
        query.commit()
        if query.position == ends:
            return
    raise AssertionError(f"the query stands at {query.position}, the topics at {ends}")


@given(STEPS)
@settings(max_examples=400, deadline=None)
def test_every_row_is_on_its_side_of_every_signal(steps: Steps) -> None:
    broker, query = run(steps)
    finish(broker, query)
    rows = {
        (node, p, offset)
        for node, topic in SOURCES.items()
        for p, content in enumerate(broker.topics[topic])
        for offset, is_row in enumerate(content)
        if is_row
    }
    assert Counter(query.handled) == Counter([*rows, *broker.records]), "each once, none left out"
    place = {name: index for index, name in enumerate(query.handled)}
    for name, record in broker.records.items():
        for node, partition, offset in rows:
            if (cut := record.cut.get(SOURCES[node])) is not None:
                assert (place[node, partition, offset] < place[name]) == (offset < cut[partition])


@given(STEPS)
@settings(max_examples=200, deadline=None)
def test_nothing_is_handled_between_a_pause_and_its_end(steps: Steps) -> None:
    broker, query = run(steps)
    signals = broker.cuts().signals
    passed = [signal for signal in signals if signal.request.id in query.handled]
    pauses = [signal for signal in passed if signal.request.kind == "pause"]
    if pauses and not any(s.request.kind == "resume" and s.number > pauses[-1].number for s in signals):
        assert query.handled[-1] == pauses[-1].request.id


def placed(name: str, number: int, ends: dict[int, int], kind: str = "custom") -> SignalRecord:
    return SignalRecord(SignalRequest(name, kind, (TOPIC,)), "placed", 0, number, {TOPIC: ends})


class OneSource:
    """The cuts of a query that reads one topic."""

    def __init__(self, *signals: SignalRecord, began: Offsets | None = None) -> None:
        self.cuts = Cuts.of(signals, {"n": TOPIC}, "pipeline", {"n": began or {}})

    def limited(self, begin: Offsets, end: Offsets) -> Offsets:
        return self.cuts.limited("n", {"n": begin}, begin, end)

    def between(self, start: Offsets, end: Offsets) -> list[str]:
        return [signal.request.id for signal in self.cuts.between({"n": start}, {"n": end})]

    def is_held(self, position: Offsets, released: Offsets) -> bool:
        return self.cuts.is_held({"n": position}, {"n": released})


def test_adjacent_cuts_share_a_micro_batch_only_if_nothing_lies_between() -> None:
    first, second, third = placed("a", 1, {0: 3, 1: 5}), placed("b", 2, {0: 4, 1: 6}), placed("c", 3, {0: 5, 1: 9})
    cuts = OneSource(first, second, third)
    end = cuts.limited({"0": 0, "1": 0}, {"0": 100, "1": 100})
    assert end == {"0": 4, "1": 6}
    assert cuts.between({"0": 0, "1": 0}, end) == ["a", "b"]
    assert cuts.limited(end, {"0": 100, "1": 100}) == {"0": 5, "1": 9}


def test_a_query_that_began_past_a_cut_in_one_partition_waits_for_the_others() -> None:
    cuts = OneSource(placed("a", 1, {0: 3, 1: 5}))
    assert cuts.limited({"0": 8, "1": 0}, {"0": 20, "1": 20}) == {"0": 8, "1": 5}
    assert cuts.between({"0": 8, "1": 0}, {"0": 8, "1": 5}) == ["a"]


def test_a_partition_that_was_added_later_lies_wholly_above_the_cut() -> None:
    cuts = OneSource(placed("a", 1, {0: 3}))
    assert cuts.limited({"0": 0, "1": 0}, {"0": 9, "1": 9}) == {"0": 3, "1": 0}
    assert cuts.limited({"0": 3, "1": 0}, {"0": 9, "1": 9}) == {"0": 9, "1": 9}


def test_signals_to_other_pipelines_and_topics_cut_nothing() -> None:
    other = SignalRecord(SignalRequest("o", "pause", (TOPIC,), pipeline="other"), "placed", 0, 1, {TOPIC: {0: 1}})
    cuts = OneSource(other)
    assert cuts.limited({"0": 0}, {"0": 9}) == {"0": 9}
    assert cuts.between({"0": 0}, {"0": 9}) == []
    assert not cuts.is_held({"0": 1}, {})


def test_what_stopped_a_query_before_it_was_started_again_or_began_does_not_hold_it() -> None:
    stop, pause = placed("stop", 1, {0: 3}, "stop"), placed("pause", 2, {0: 7}, "pause")
    assert OneSource(stop).is_held({"0": 3}, {})
    assert not OneSource(stop).is_held({"0": 3}, {"0": 3}), "it was started again by hand"
    assert OneSource(pause).is_held({"0": 7}, {"0": 7}), "a pause outlives a restart"
    assert not OneSource(pause, began={"0": 7}).is_held({"0": 7}, {}), "it is older than the query"


def test_a_source_that_reached_the_cut_waits_for_the_others() -> None:
    signal = SignalRecord(SignalRequest("a", "custom", (TOPIC, OTHER)), "placed", 0, 1, {TOPIC: {0: 3}, OTHER: {0: 5}})
    cuts = Cuts.of([signal], {"one": TOPIC, "two": OTHER}, "pipeline", {})
    for behind, expected in ((0, 3), (4, 3), (5, 100)):
        position = {"one": {"0": 3}, "two": {"0": behind}}
        assert cuts.limited("one", position, {"0": 3}, {"0": 100}) == {"0": expected}
