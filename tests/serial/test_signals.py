"""Signals in a chain: after the rows, in order, to all or to one; handled or not."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.graph.document import Json, Node
from headrace.graph.schema import Schema
from headrace.operators import Catalogue
from headrace.operators.serial_chain import ChainPlan
from headrace.serial import Batch, Chain, Context, Operator, OperatorFailed, Signal, Step, Timer
from headrace.testing import ChainTester, Crash, CrashPoint


class Sum(Operator):
    """`custom` makes it say its total; with `reset` it begins anew."""

    def open(self, context: Context) -> None:
        super().open(context)
        self.total = context.state.value("total", 0)

    def process(self, batch: Batch) -> Iterable[Batch]:
        self.total.value += sum(batch.rows.to_pydict()["n"])
        return []

    def on_signal(self, signal: Signal) -> Iterable[Batch] | None:
        if signal.kind != "custom":
            return None
        made = self.total.value
        if signal.parameters.get("reset"):
            self.total.value = 0
        return [Batch(pa.record_batch({"n": [made]}))]


class Pass(Operator):
    def process(self, batch: Batch) -> Iterable[Batch]:
        return [batch.to("out")]


class Alarm(Pass):
    """Wants to be called at 10 s of event time."""

    def process(self, batch: Batch) -> Iterable[Batch]:
        self.context.timers.at_event_time(10_000_000)
        return []

    def on_timer(self, timer: Timer) -> Iterable[Batch]:
        return [Batch(pa.record_batch({"n": [timer.at_us]}))]


class Broken(Pass):
    def on_signal(self, signal: Signal) -> Iterable[Batch] | None:
        raise ValueError("no signals, please")


def chain_of(*operators: Operator) -> ChainTester:
    return ChainTester(lambda: Chain.line([Step(f"n{i}", type(o)()) for i, o in enumerate(operators)]))


def numbers(made: pa.Table | None) -> list[int]:
    return [] if made is None else list(made.to_pydict()["n"])


def test_a_signal_comes_after_the_rows_and_in_order() -> None:
    chain = chain_of(Sum())
    signals = [Signal("a", "custom", parameters={"reset": True}), Signal("b", "custom")]
    assert numbers(chain.run({"n": [1, 2]}, {"n": [3]}, signals=signals)) == [6, 0]
    assert chain.handled == {"a": ["n0"], "b": ["n0"]}
    assert numbers(chain.run({"n": [4]}, signals=[Signal("c", "custom")])) == [4], "the state is kept"


def test_what_an_operator_makes_of_a_signal_passes_through_those_behind_it_before_they_get_it() -> None:
    chain = chain_of(Sum(), Pass(), Sum())
    assert numbers(chain.run({"n": [5]}, signals=[Signal("a", "custom")])) == [5]
    assert chain.handled == {"a": ["n0", "n2"]}


def test_a_directed_signal_reaches_its_node_alone() -> None:
    chain = chain_of(Sum(), Pass(), Sum())
    assert numbers(chain.run({"n": [5]}, signals=[Signal("a", "custom", "n2")])) == [0]
    assert chain.handled == {"a": ["n2"]}
    chain.run({"n": [5]}, signals=[Signal("b", "custom", "n1"), Signal("c", "custom", "nobody")])
    assert chain.handled == {}


def test_a_crash_repeats_the_signal_on_the_state_before_it() -> None:
    chain = chain_of(Sum())
    chain.run({"n": [1]})
    reset = [Signal("a", "custom", parameters={"reset": True})]
    for crash in (CrashPoint(while_writing=True), CrashPoint(), CrashPoint(keeps_memory=True)):
        with pytest.raises(Crash):
            chain.run({"n": [2]}, signals=reset, crash=crash)
    assert numbers(chain.run({"n": [2]}, signals=reset)) == [3]


def test_a_signal_advances_the_watermark_for_good() -> None:
    chain = chain_of(Alarm())
    assert numbers(chain.run({"n": [0]})) == []
    to = Signal("w", "advance_watermark", parameters={"to": "1970-01-01T00:00:10Z"})
    assert numbers(chain.run(signals=[to])) == [10_000_000]
    assert chain.progress.watermark_us == 10_000_000
    back = Signal("x", "advance_watermark", parameters={"to": "1970-01-01T00:00:05Z"})
    chain.run(signals=[back])
    assert chain.progress.watermark_us == 10_000_000, "it never goes back"


def test_an_operator_that_fails_on_a_signal_is_named() -> None:
    with pytest.raises(OperatorFailed, match="no signals, please") as failed:
        chain_of(Pass(), Broken()).run({"n": [1]}, signals=[Signal("a", "custom")])
    assert failed.value.node == "n1"


SCHEMA = Schema.parse("k STRING, n DOUBLE, ts TIMESTAMP")
ROWS = pa.table(
    {
        "k": ["a", "b", "a"],
        "n": [1.0, 2.0, 3.0],
        "ts": pa.array([1_000_000, 2_000_000, 3_000_000], pa.timestamp("us", tz="UTC")),
    }
)


@pytest.mark.parametrize(
    ("operator", "config"),
    [
        ("time-window", {"size": "1 minute"}),
        ("session-window", {"gap": "1 minute"}),
        ("tumbling-window", {"size": "1 minute"}),
        ("cumulate-window", {"size": "1 minute", "step": "1 minute"}),
    ],
)
@pytest.mark.parametrize("emit", ["final", "changes"])
def test_windows_close_at_the_signal_and_begin_anew(operator: str, config: dict[str, str], emit: str) -> None:
    node = Node("w", operator, {**config, "time": "ts", "keys": ["k"], "aggregates": ["sum(n) AS s"], "emit": emit})
    plan = ChainPlan.line((node,), Schema(SCHEMA.columns, event_time="ts"))
    chain = ChainTester(lambda: plan.chain(Catalogue()), event_time="ts")
    close = [Signal("close", "close_window")]
    closed = chain.run(ROWS, signals=close)
    assert closed is not None
    assert dict(zip(closed["k"].to_pylist(), closed["s"].to_pylist(), strict=True)) == {"a": 4.0, "b": 2.0}
    assert chain.handled == {"close": ["w"]}
    assert chain.run(signals=close) is None, "nothing is open any more"
    again = chain.run(ROWS.slice(0, 1), signals=close)
    assert again is not None
    assert again["s"].to_pylist() == [1.0]


@given(
    st.lists(st.one_of(st.none(), st.tuples(st.sampled_from("ab"), st.integers(-9, 9))), max_size=40),
    st.booleans(),
    st.integers(1, 4),
)
@settings(max_examples=60, deadline=None)
def test_a_length_window_is_empty_after_the_signal(
    steps: list[tuple[str, int] | None], keyed: bool, length: int
) -> None:
    """A step is a row, or None for the signal; each is a micro-batch of its own, some in a new process."""
    config: dict[str, Json] = {"length": length, "aggregates": ["sum(n) AS s", "count(*) AS c"]}
    plan = ChainPlan.line((Node("w", "length-window", {**config, "keys": ["k"] if keyed else []}),), SCHEMA)
    chain = ChainTester(lambda: plan.chain(Catalogue()))
    seen: dict[str, list[int]] = {}
    for number, step in enumerate(steps):
        if number % 3 == 0:
            with pytest.raises(Crash):
                chain.run(crash=CrashPoint())
        if step is None:
            assert chain.run(signals=[Signal("close", "close_window")]) is None
            assert chain.handled == {"close": ["w"]}
            seen.clear()
            continue
        key, n = step
        window = seen.setdefault(key if keyed else "", [])
        window.append(n)
        made = chain.run({"k": [key], "n": [float(n)], "ts": [None]})
        assert made is not None
        assert made.select(["s", "c"]).to_pylist() == [{"s": sum(window[-length:]), "c": len(window[-length:])}]


def test_a_refreshed_model_is_loaded_anew() -> None:
    LOADED.clear()
    plan = ChainPlan.line((Node("score", "score", {"model": f"{__name__}:load_model", "features": ["n"]}),), SCHEMA)
    chain = ChainTester(lambda: plan.chain(Catalogue()))
    for signals in ([], [Signal("r", "refresh_state")], []):
        chain.run(ROWS, signals=signals)
    assert LOADED == [1, 1]


LOADED: list[int] = []


def load_model() -> object:
    LOADED.append(1)
    return lambda matrix: matrix[:, 0]
