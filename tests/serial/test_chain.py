from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from headrace.errors import InvalidConfig, InvalidInput
from headrace.serial import (
    Batch,
    Chain,
    Context,
    LaneInput,
    Link,
    Moment,
    NodeState,
    OnError,
    Operator,
    OperatorFailed,
    Signal,
    Step,
    Timer,
    per_batch,
    per_row,
    schema_of,
)
from headrace.testing import ChainTester, Crash, CrashPoint


@dataclass
class Trade:
    symbol: str
    price: float


@dataclass
class Alert:
    symbol: str


class Pass(Operator):
    stateless = True

    def process(self, batch: Batch) -> Iterable[Batch]:
        return [batch.to("out")]


class Double(Operator):
    """Writes in place."""

    def process(self, batch: Batch) -> Iterable[Batch]:
        mine = batch.writable()
        mine.array("n")[:] *= 2
        return [mine.to("out")]


class Total(Operator):
    def open(self, context: Context) -> None:
        self.total = context.state.value("total", 0)

    def process(self, batch: Batch) -> Iterable[Batch]:
        self.total.value += int(np.sum(batch.column("n").to_numpy()))
        return [Batch(pa.record_batch({"total": [self.total.value]}))]


class Alarm(Operator):
    """Says when it was called; asks for the times in its rows."""

    def process(self, batch: Batch) -> Iterable[Batch]:
        for at_us in batch.column("event").drop_null().to_pylist():
            self.context.timers.at_event_time(int(at_us or 0))
        for at_us in batch.column("processing").drop_null().to_pylist():
            self.context.timers.at_processing_time(int(at_us or 0))
        return []

    def on_timer(self, timer: Timer) -> Iterable[Batch]:
        yield Batch(pa.record_batch({"at": [timer.at_us], "clock": [timer.clock]}))

    def on_signal(self, signal: Signal) -> Iterable[Batch]:
        yield Batch(pa.record_batch({"at": [0], "clock": [signal.kind]}))


def numbers(*values: int) -> pa.RecordBatch:
    return pa.record_batch({"n": pa.array(values, pa.int64())})


def address(rows: pa.RecordBatch) -> int:
    values = rows.column("n").buffers()[1]
    assert values is not None
    return values.address


def test_batches_pass_by_reference() -> None:
    chain = Chain.line([Step(f"p{i}", Pass()) for i in range(5)])
    tester = ChainTester(lambda: chain)
    batch = numbers(1, 2, 3)
    out = tester.run(batch)
    assert out is not None
    assert address(out.to_batches()[0]) == address(batch)
    assert all(report.copies.count == 0 for report in tester.reports.values())


def test_only_a_shared_batch_is_copied_and_that_is_counted() -> None:
    fan_out = [Link("p", "a"), Link("p", "b")]
    tester = ChainTester(lambda: Chain([Step("p", Pass()), Step("a", Double()), Step("b", Pass())], fan_out))
    original = numbers(1, 2)
    assert tester.run(original) == pa.table({"n": [2, 4, 1, 2]})
    assert original == numbers(1, 2)
    assert tester.reports["a"].copies.count == 1
    assert tester.reports["a"].copies.bytes == 16


def test_the_only_holder_of_private_rows_writes_in_place() -> None:
    chain = Chain.line([Step("a", Double()), Step("b", Double())])
    tester = ChainTester(lambda: chain)
    tester.run(numbers(1, 2))
    # The first had to copy, for the test holds its rows; the second got what the first had made.
    assert tester.reports["a"].copies.count == 1
    assert tester.reports["b"].copies.count == 0


def test_rows_that_are_still_on_their_way_are_not_written_over() -> None:
    fan_out = [Link("p", "a"), Link("p", "b")]
    tester = ChainTester(lambda: Chain([Step("p", Double()), Step("a", Pass()), Step("b", Double())], fan_out))
    assert tester.run(numbers(1, 2)) == pa.table({"n": [2, 4, 4, 8]}), "the writer comes after one who let them pass"
    assert [tester.reports[node].copies.count for node in ("p", "a", "b")] == [1, 0, 1]


def test_rows_fan_out_and_come_together_again_by_reference() -> None:
    links = [Link("a", "u"), Link("b", "u", target_port="in_2")]
    steps = [Step("a", Pass()), Step("b", Pass()), Step("u", Pass())]
    tester = ChainTester(lambda: Chain(steps, links, entries=[[("a", "in"), ("b", "in")], [("u", "in_3")]]))
    first, second = numbers(1, 2), numbers(3)
    out = tester.run(first, LaneInput(second, source=1))
    assert out == pa.table({"n": [1, 2, 1, 2, 3]})
    assert [address(batch) for batch in tester.rows] == [address(first), address(first), address(second)]
    assert tester.reports["u"].rows_in == 5


def test_a_shared_batch_cannot_be_written() -> None:
    with pytest.raises(InvalidInput, match="shared"):
        Batch(numbers(1)).array("n")


def test_state_goes_on_in_the_next_batch() -> None:
    tester = ChainTester(lambda: Chain.line([Step("t", Total())]))
    tester.run(numbers(1, 2))
    tester.run()
    assert tester.run(numbers(3)) == pa.table({"total": [6]})


def test_timers_come_once_in_order_when_their_clock_got_there() -> None:
    tester = ChainTester(lambda: Chain.line([Step("a", Alarm())]), event_time="t")
    asked: dict[str, list[int | None]] = {
        "event": [30, 10, 10, None],
        "processing": [None, 500, None, None],
        "t": [0, 0, 0, 20],
    }
    rows = pa.record_batch({name: pa.array(values, pa.int64()) for name, values in asked.items()})
    assert tester.run(rows) is None
    assert tester.run() == pa.table({"at": [10], "clock": ["event"]})
    assert tester.run() is None
    tester.clock.advance(500)
    assert tester.run() == pa.table({"at": [500], "clock": ["processing"]})
    assert tester.end() == pa.table({"at": [30], "clock": ["event"]})


def test_functions_of_rows_and_batches() -> None:
    @per_row
    def alert(trade: Trade) -> Alert | None:
        return Alert(trade.symbol) if trade.price > 10 else None

    @per_batch(columns=Alert)
    def upper(rows: pa.RecordBatch) -> pa.RecordBatch:
        return pa.record_batch({"symbol": [str(name).upper() for name in rows.column("symbol").to_pylist()]})

    tester = ChainTester(lambda: Chain.line([Step("a", alert.operator()), Step("u", upper.operator())]))
    assert tester.run({"price": [1.0, 20.0], "symbol": ["x", "y"], "other": [1, 2]}) == pa.table({"symbol": ["Y"]})
    assert alert(Trade("z", 11.0)) == Alert("z")
    assert upper.output_schema == alert.output_schema == schema_of(Alert)


def test_a_function_without_types_is_refused() -> None:
    def untyped(row):  # type: ignore[no-untyped-def]
        return row

    with pytest.raises(InvalidInput, match="unknown rows"):
        per_row(untyped)


def inverse_chain(policy: OnError) -> Chain:
    @per_row
    def inverse(trade: Trade) -> Trade:
        return Trade(trade.symbol, 1 / trade.price)

    return Chain.line([Step("inverse", inverse.operator(), policy)])


TRADES: dict[str, list[Any]] = {
    "symbol": list("abcdefg"),
    "price": [1.0, 2.0, 0.0, 4.0, 5.0, 0.0, 8.0],
    "_offset": list(range(100, 107)),
}
INVERSES = [1.0, 0.5, 0.25, 0.2, 0.125]


@pytest.mark.parametrize("action", ["drop", "dead_letter"])
def test_only_the_rows_that_fail_are_set_aside(action: str) -> None:
    tester = ChainTester(lambda: inverse_chain(OnError(action)))  # type: ignore[arg-type]
    out = tester.run(TRADES)
    assert out is not None
    assert out["price"].to_pylist() == INVERSES
    assert tester.reports["inverse"].failed == 2
    letters = [(letter.offset, letter.reason) for letter in tester.dead_letters]
    reason = "ZeroDivisionError: float division by zero"
    assert letters == ([(102, reason), (105, reason)] if action == "dead_letter" else [])


def test_a_failure_names_node_lane_offset_row_and_code() -> None:
    tester = ChainTester(lambda: inverse_chain(OnError("fail")), lane=3)
    with pytest.raises(OperatorFailed) as caught:
        tester.run(TRADES)
    text = str(caught.value)
    place = "partition 3, offset 102"
    for part in ("node 'inverse'", "lane 3", place, '"symbol": "c"', "ZeroDivisionError", "1 / trade.price"):
        assert part in text
    assert caught.value.record is not None
    assert (caught.value.record["symbol"], caught.value.record["_offset"]) == ("c", 102)
    assert text.splitlines()[-1].startswith('record: {"symbol": "c"')


def test_a_failure_behind_rows_that_were_made_anew_names_the_records_they_were_made_of() -> None:
    @per_row
    def same(trade: Trade) -> Trade:
        return trade

    broken = Step("total", Total())
    tester = ChainTester(lambda: Chain.line([Step("same", same.operator()), broken]), lane=2)
    with pytest.raises(OperatorFailed, match=r"node 'total'.*lane 2, partition 2, offsets 100 to 106, 7 rows from"):
        tester.run(TRADES)


def test_a_row_is_tried_again() -> None:
    tries: list[str] = []

    @per_row
    def flaky(trade: Trade) -> Trade:
        tries.append(trade.symbol)
        if len(tries) < 3:
            raise ConnectionError("not yet")
        return trade

    step = Step("flaky", flaky.operator(), OnError("fail", retries=2, retry_delay_ms=0))
    assert ChainTester(lambda: Chain.line([step])).run({"symbol": ["a"], "price": [1.0]}) is not None
    assert tries == ["a", "a", "a"]


def test_an_operator_with_state_cannot_set_rows_aside() -> None:
    with pytest.raises(InvalidConfig, match="Total keeps state"):
        ChainTester(lambda: Chain.line([Step("t", Total(), OnError("drop"))])).run(numbers(1))


def test_a_failure_leaves_the_state_as_it_was() -> None:
    tester = ChainTester(lambda: Chain.line([Step("t", Total())]))
    tester.run(numbers(1))
    with pytest.raises(OperatorFailed):
        tester.run(numbers(2), pa.record_batch({"wrong": [1]}))
    assert tester.run(numbers(3)) == pa.table({"total": [4]})


def test_signals_reach_their_target_or_all() -> None:
    chain = Chain.line([Step("a", Alarm()), Step("p", Pass())])
    chain.open(0, Moment(0), {"a": NodeState(), "p": NodeState()})
    assert [batch.to_pylist() for batch in chain.signal(Signal("1", "custom"))] == [[{"at": 0, "clock": "custom"}]]
    assert chain.signal(Signal("2", "custom", "p")) == []


def test_late_rows_are_told_by_the_watermark() -> None:
    seen: list[list[bool]] = []

    class Watch(Operator):
        def process(self, batch: Batch) -> Iterable[Batch]:
            seen.append(self.context.is_late(batch.column("t")).tolist())
            return []

    tester = ChainTester(lambda: Chain.line([Step("w", Watch())]), event_time="t", delay_us=5)
    for times in ([10, 20], [14, 15, 16]):
        tester.run({"t": times})
    assert seen == [[False, False], [True, False, False]]


@pytest.mark.parametrize("stateless", [True, False])
def test_an_operator_that_hangs_is_ended_and_named(stateless: bool) -> None:
    class Hangs(Operator):
        def process(self, batch: Batch) -> Iterable[Batch]:
            while True:
                pass

    Hangs.stateless = stateless
    chain = Chain.line([Step("slow", Hangs())])
    chain.open(0, Moment(0, limit_s=0.5), {"slow": NodeState()})
    with pytest.raises(OperatorFailed, match=r"node 'slow': OperatorHangs: no answer within 0.5 s .*\"n\": 7"):
        chain.process(numbers(7))


class Held(Operator):
    """Holds its rows back to the end of the micro-batch's rows, and counts its signals."""

    def open(self, context: Context) -> None:
        super().open(context)
        self.held: list[int] = []

    def process(self, batch: Batch) -> Iterable[Batch]:
        self.held += batch.column("n").to_numpy().tolist()
        return []

    def on_rows_end(self) -> Iterable[Batch]:
        made = pa.record_batch({"n": [sum(self.held)]})
        self.held = []
        return [Batch(made)]

    def on_signal(self, signal: Signal) -> Iterable[Batch]:
        return [Batch(pa.record_batch({"n": [-len(self.held)]}))]


def test_the_end_of_the_rows_comes_before_signals_and_again_behind_them_and_passes_the_steps_behind() -> None:
    tester = ChainTester(lambda: Chain.line([Step("first", Held()), Step("second", Held())]))
    batches = [{"n": [1, 2]}, {"n": [3]}]
    told = tester.run(*batches, signals=[Signal("one", "custom", "second")])
    assert told is not None
    assert told.column("n").to_pylist() == [6, 0, 0]
    empty = tester.run()
    assert empty is not None
    assert empty.column("n").to_pylist() == [0]


class Untouched(Operator):
    """Forgets to say which slots it wrote to."""

    def process(self, batch: Batch) -> Iterable[Batch]:
        table = self.context.state.table("t", [("n", pa.int64())], [("count", pa.int64())])
        slots, _ = table.add([batch.column("n")])
        table["count"][slots] += 1
        return [Batch(pa.record_batch({"count": table.values("count", slots)}))]


class Places(Operator):
    """Changes its state in place."""

    def open(self, context: Context) -> None:
        self.seen = context.state.value("seen", {})

    def process(self, batch: Batch) -> Iterable[Batch]:
        for number in batch.column("n").to_pylist():
            self.seen.value[str(number)] = self.seen.value.get(str(number), 0) + 1
        return [Batch(pa.record_batch({"count": [self.seen.value[str(number)]]}))]


def test_state_changed_in_place_lasts_through_a_crash() -> None:
    tester = ChainTester(lambda: Chain.line([Step("it", Places())]))
    for count in (1, 2, 3):
        with pytest.raises(Crash):
            tester.run(numbers(7), crash=CrashPoint())
        assert tester.run(numbers(7)) == pa.table({"count": [count]})


def test_the_tester_shows_slots_that_were_not_touched() -> None:
    tester = ChainTester(lambda: Chain.line([Step("it", Untouched())]))
    # New rows count as touched; the second write is lost, as it is when another worker goes on.
    assert [tester.run(numbers(7)) for _ in range(3)] == [pa.table({"count": [n]}) for n in (1, 2, 2)]


def test_a_value_that_cannot_be_saved_names_its_node_and_state() -> None:
    class Wrong(Pass):
        def open(self, context: Context) -> None:
            context.state.value("d").value = {1: 2}

    with pytest.raises(OperatorFailed, match=r"node 'it': the state 'd'.*key 1"):
        ChainTester(lambda: Chain.line([Step("it", Wrong())])).run(numbers(1))
