"""Where micro-batches end, against a model of a broker: rows, signals, crashes and sources in any order."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.signals import SignalRecord, SignalRequest
from headrace.spark.cuts import Cuts
from headrace.spark.source import share_limit
from headrace.spark.specs import Offsets

TOPIC = "t"
PARTITIONS = 2
ROWS_PER_BATCH_MAX = 3
ROUNDS_MAX = 500

# What can happen next. The three steps of the sequencer are apart, for a source may look in between.
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("row"), st.integers(0, PARTITIONS - 1)),
        st.tuples(st.just("request"), st.sampled_from(["custom", "pause", "resume"])),
        st.tuples(st.sampled_from(["marks", "lost_marks", "cut", "bounds", "plan", "commit", "crash"]), st.none()),
    ),
    max_size=60,
)


@dataclass
class Broker:
    """Partitions hold the names of rows, and None for marks; `records` is `__signals`."""

    partitions: list[list[str | None]] = field(default_factory=lambda: [[] for _ in range(PARTITIONS)])
    records: dict[str, SignalRecord] = field(default_factory=dict)
    marks: dict[int, int] | None = None
    pending: SignalRequest | None = None

    def row(self, partition: int) -> None:
        self.partitions[partition].append(f"{partition}:{len(self.partitions[partition])}")

    def request(self, kind: str) -> None:
        if self.pending is None:
            self.pending = SignalRequest(f"s{len(self.records)}", kind, (TOPIC,))
            self.records[self.pending.id] = SignalRecord(self.pending, "requested", 0)

    def mark(self) -> None:
        if self.pending is not None:
            for rows in self.partitions:
                rows.append(None)
            self.marks = {p: len(rows) for p, rows in enumerate(self.partitions)}

    def cut(self) -> None:
        if self.pending is not None and self.marks is not None:
            number = len(self.records)
            self.records[self.pending.id] = SignalRecord(self.pending, "placed", 0, number, {TOPIC: self.marks})
            self.pending = self.marks = None

    def bounds(self) -> Offsets:
        return {str(p): len(rows) for p, rows in enumerate(self.partitions)}

    def cuts(self) -> Cuts:
        return Cuts.of(self.records.values(), TOPIC, "pipeline", {"0": 0, "1": 0})


@dataclass
class Query:
    """Looks at the bounds, later at the signals, plans a micro-batch, and later commits it or crashes."""

    broker: Broker
    position: Offsets = field(default_factory=lambda: {"0": 0, "1": 0})
    seen: Offsets | None = None
    planned: Offsets | None = None
    handled: list[str] = field(default_factory=list)
    """Rows, and ids of signals, in the order of commits."""

    def plan(self) -> None:
        if self.seen is None or self.planned is not None:
            return
        cuts = self.broker.cuts()
        if not cuts.is_held(self.position, {}):
            end = cuts.limited(self.position, {p: max(end, self.position[p]) for p, end in self.seen.items()})
            self.planned = share_limit(self.position, end, ROWS_PER_BATCH_MAX)
        self.seen = None

    def commit(self) -> None:
        if self.planned is not None:
            self.handled += self._run(self.planned)
            self.position, self.planned = self.planned, None

    def _run(self, end: Offsets) -> list[str]:
        """More may be known now than when the micro-batch was planned."""
        rows = [
            row
            for p, content in enumerate(self.broker.partitions)
            for row in content[self.position[str(p)] : end[str(p)]]
            if row is not None
        ]
        return rows + [signal.request.id for signal in self.broker.cuts().between(self.position, end)]


def run(steps: list[tuple[str, object]]) -> tuple[Broker, Query]:
    broker = Broker()
    query = Query(broker)
    for step, detail in steps:
        match step:
            case "row":
                broker.row(int(str(detail)))
            case "request":
                broker.request(str(detail))
            case "marks":
                broker.mark()
            case "lost_marks":
                # The broker crashes: marks stay, and the request is placed anew.
                broker.marks = None
            case "cut":
                broker.cut()
            case "bounds":
                query.seen = broker.bounds()
            case "plan":
                query.plan()
            case "commit":
                query.commit()
            case _:
                query.seen = query.planned = None
    return broker, query


def finish(broker: Broker, query: Query) -> None:
    """The broker comes to rest, a pause ends, and the query reads everything."""
    broker.mark()
    broker.cut()
    broker.request("resume")
    broker.mark()
    broker.cut()
    query.seen = query.planned = None
    for _ in range(ROUNDS_MAX):
        query.seen = broker.bounds()
        query.plan()
        query.commit()
        if query.position == broker.bounds():
            return
    raise AssertionError(f"the query stands at {query.position}, the topic at {broker.bounds()}")


@given(STEPS)
@settings(max_examples=400, deadline=None)
def test_every_row_is_on_its_side_of_every_signal(steps: list[tuple[str, object]]) -> None:
    broker, query = run(steps)
    finish(broker, query)
    rows = {row for content in broker.partitions for row in content if row is not None}
    signals = {name: record.cut[TOPIC] for name, record in broker.records.items()}
    assert sorted(query.handled) == sorted([*rows, *signals]), "each once, none left out"
    place = {name: index for index, name in enumerate(query.handled)}
    for name, cut in signals.items():
        for row in rows:
            partition, offset = map(int, row.split(":"))
            assert (place[row] < place[name]) == (offset < cut[partition])


@given(STEPS)
@settings(max_examples=200, deadline=None)
def test_nothing_is_handled_between_a_pause_and_its_end(steps: list[tuple[str, object]]) -> None:
    broker, query = run(steps)
    signals = broker.cuts().signals
    passed = [signal for signal in signals if signal.request.id in query.handled]
    pauses = [signal for signal in passed if signal.request.kind == "pause"]
    if pauses and not any(s.request.kind == "resume" and s.number > pauses[-1].number for s in signals):
        assert query.handled[-1] == pauses[-1].request.id


def placed(name: str, number: int, ends: dict[int, int], kind: str = "custom") -> SignalRecord:
    return SignalRecord(SignalRequest(name, kind, (TOPIC,)), "placed", 0, number, {TOPIC: ends})


def cuts_of(*signals: SignalRecord, began: Offsets | None = None) -> Cuts:
    return Cuts.of(signals, TOPIC, "pipeline", began or {})


def test_adjacent_cuts_share_a_micro_batch_only_if_nothing_lies_between() -> None:
    first, second, third = placed("a", 1, {0: 3, 1: 5}), placed("b", 2, {0: 4, 1: 6}), placed("c", 3, {0: 5, 1: 9})
    cuts = cuts_of(first, second, third)
    end = cuts.limited({"0": 0, "1": 0}, {"0": 100, "1": 100})
    assert end == {"0": 4, "1": 6}
    assert [s.request.id for s in cuts.between({"0": 0, "1": 0}, end)] == ["a", "b"]
    assert cuts.limited(end, {"0": 100, "1": 100}) == {"0": 5, "1": 9}


def test_a_query_that_began_past_a_cut_in_one_partition_waits_for_the_others() -> None:
    cuts = cuts_of(placed("a", 1, {0: 3, 1: 5}))
    assert cuts.limited({"0": 8, "1": 0}, {"0": 20, "1": 20}) == {"0": 8, "1": 5}
    assert [s.request.id for s in cuts.between({"0": 8, "1": 0}, {"0": 8, "1": 5})] == ["a"]


def test_a_partition_that_was_added_later_lies_wholly_above_the_cut() -> None:
    cuts = cuts_of(placed("a", 1, {0: 3}))
    assert cuts.limited({"0": 0, "1": 0}, {"0": 9, "1": 9}) == {"0": 3, "1": 0}
    assert cuts.limited({"0": 3, "1": 0}, {"0": 9, "1": 9}) == {"0": 9, "1": 9}


def test_signals_to_other_pipelines_and_topics_cut_nothing() -> None:
    other = SignalRecord(SignalRequest("o", "pause", (TOPIC,), pipeline="other"), "placed", 0, 1, {TOPIC: {0: 1}})
    cuts = Cuts.of([other], TOPIC, "pipeline", {})
    assert cuts.limited({"0": 0}, {"0": 9}) == {"0": 9}
    assert cuts.between({"0": 0}, {"0": 9}) == []
    assert not cuts.is_held({"0": 1}, {})


def test_what_stopped_a_query_before_it_was_started_again_or_began_does_not_hold_it() -> None:
    stop, pause = placed("stop", 1, {0: 3}, "stop"), placed("pause", 2, {0: 7}, "pause")
    assert cuts_of(stop).is_held({"0": 3}, {})
    assert not cuts_of(stop).is_held({"0": 3}, {"0": 3}), "it was started again by hand"
    assert cuts_of(pause).is_held({"0": 7}, {"0": 7}), "a pause outlives a restart"
    assert not cuts_of(pause, began={"0": 7}).is_held({"0": 7}, {}), "it is older than the query"
