"""What becomes of signals from one commit record to the next."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from headrace.errors import InvalidInput
from headrace.graph import parse_text
from headrace.graph.document import Json, Node
from headrace.graph.schema import Schema
from headrace.operators import Catalogue
from headrace.operators.serial_chain import ChainPlan
from headrace.signals import SignalRecord, SignalRequest
from headrace.spark.chains.batch_signals import STANDING_MAX, BatchSignals, SignalsRecord
from headrace.spark.jobs.query_signals import QuerySignals
from headrace.spark.jobs.sending import signal_to
from headrace.spark.writing.commit import CommitRecord


def request(name: str, kind: str = "custom", **more: object) -> SignalRequest:
    return SignalRequest(name, kind, ("t",), **more)  # type: ignore[arg-type]


def step(
    before: SignalsRecord, *fresh: SignalRequest, handled: dict[str, list[str]] | None = None, moved: bool = True
) -> SignalsRecord:
    """One micro-batch, through the commit record as it is written."""
    record = BatchSignals(before, fresh, moved).after(handled or {}, {})
    return SignalsRecord.from_json(json.loads(json.dumps(record.to_json())))


def fates(record: SignalsRecord) -> dict[str, str]:
    return {outcome.id: outcome.fate for outcome in record.outcomes}


def test_once_is_offered_once_whatever_becomes_of_it() -> None:
    first = step(SignalsRecord(), request("all"), request("one", node="n"), handled={})
    assert fates(first) == {"all": "passed", "one": "dropped"}
    assert BatchSignals(first).offered == ()
    assert fates(step(SignalsRecord(), request("x", node="n"), handled={"x": ["n"]})) == {"x": "handled"}


def test_until_handled_is_offered_again_and_then_no_more() -> None:
    record = step(SignalsRecord(), request("again", node="n", handling="until_handled"))
    assert fates(record) == {"again": "kept"}
    record = step(record)
    assert fates(record) == {}, "nothing new to tell"
    assert [signal.id for signal in BatchSignals(record, (request("new"),)).offered] == ["again", "new"]
    record = step(record, handled={"again": ["n"]})
    assert fates(record) == {"again": "handled"}
    assert record.outcomes[0].handled_by == ("n",)
    assert BatchSignals(record).offered == ()


def test_always_is_offered_until_it_is_withdrawn() -> None:
    record = step(SignalsRecord(), request("ever", handling="always"), handled={"ever": ["n"]})
    for _ in range(3):
        record = step(record, handled={"ever": ["n"]})
        assert [signal.id for signal in BatchSignals(record).offered] == ["ever"]
    record = step(record, request("end", "withdraw", parameters={"id": "ever"}), handled={"ever": ["n"]})
    assert fates(record) == {"end": "handled"}
    assert BatchSignals(record).offered == ()


def test_signals_that_stand_have_a_limit() -> None:
    many = [request(f"s{n}", handling="always") for n in range(STANDING_MAX + 1)]
    record = step(SignalsRecord(), *many)
    assert len(record.standing) == STANDING_MAX
    assert fates(record)[f"s{STANDING_MAX}"] == "dropped"


def test_settings_are_kept_and_added_to() -> None:
    record = step(SignalsRecord(), request("a", "update_parameters", node="n", parameters={"x": 1, "y": 2}))
    record = step(record, request("b", "update_parameters", node="n", parameters={"y": 3}))
    assert record.parameters == {"n": {"x": 1, "y": 3}}
    assert record.outcomes[0].handled_by == ("n",)
    refused = BatchSignals(record, (request("c", "update_parameters", node="n", parameters={"x": 9}),)).after(
        {}, {"c": "x is fixed"}
    )
    assert refused.parameters == record.parameters
    assert [(o.fate, o.reason) for o in refused.outcomes] == [("dropped", "x is fixed")]


def test_a_pause_lasts_until_something_is_read_again() -> None:
    record = step(SignalsRecord(), request("p", "pause"))
    assert record.paused_by == "p"
    assert step(record, moved=False).paused_by == "p"
    assert step(record).paused_by is None
    assert step(SignalsRecord(), request("p", "pause"), request("r", "resume")).paused_by is None
    assert step(SignalsRecord(), request("s", "stop")).stopped_by == "s"


def test_only_settings_that_leave_state_and_columns_alone_can_change() -> None:
    catalogue = Catalogue()
    window: dict[str, Json] = {"gap": "1m", "time": "ts", "keys": ["k"], "aggregates": ["sum(n) AS s"]}
    schema = Schema(Schema.parse("k STRING, n DOUBLE, ts TIMESTAMP").columns, event_time="ts")
    plan = ChainPlan.line((Node("w", "session-window", window),), schema)
    plan.check_adjustment("w", {"gap": "5m"}, catalogue)
    assert plan.adjusted({"w": {"gap": "5m"}}).nodes[0].config["gap"] == "5m"
    with pytest.raises(InvalidInput, match="aggregates of session-window cannot be changed by a signal"):
        plan.check_adjustment("w", {"aggregates": ["max(n) AS s"]}, catalogue)
    with pytest.raises(InvalidInput, match="no serial operator 'x'"):
        plan.check_adjustment("x", {"gap": "5m"}, catalogue)
    with pytest.raises(InvalidInput):
        plan.check_adjustment("w", {"gap": "no time"}, catalogue)
    scored = ChainPlan.line((Node("s", "score", {"model": "json:dumps", "features": ["n"]}),), schema)
    with pytest.raises(InvalidInput, match="into of score cannot be changed"):
        scored.check_adjustment("s", {"into": "other"}, catalogue)
    selected = ChainPlan.line((Node("c", "select", {"columns": ["n"]}),), schema)
    with pytest.raises(InvalidInput, match="columns or keys"):
        selected.check_adjustment("c", {"columns": ["n", "k"]}, catalogue)


# Settings that lead to code, to an address, or to where rows go.
NOT_BY_SIGNAL = {"url", "model", "function", "source", "sink", "topic", "dead_letter", "path", "partitioner", "into"}


def test_no_operator_lets_a_signal_name_code_or_addresses() -> None:
    """A signal may come from whoever may write to a topic; a deploy may not."""
    catalogue = Catalogue()
    for name in catalogue.names:
        operator = catalogue.get(name)
        assert not NOT_BY_SIGNAL & set(operator.adjustable), name
        assert set(operator.adjustable) <= set(operator.settings), name


class Told:
    """What QuerySignals publishes."""

    def __init__(self) -> None:
        self.events: list[tuple[str | None, Mapping[str, object]]] = []

    def __call__(self, kind: str, details: Mapping[str, object], node: str | None) -> None:
        self.events.append((node, details))


def lookups(**more: Json) -> ChainPlan:
    schema = Schema.parse("k STRING")
    return ChainPlan.line((Node("h", "http-lookup", {"url": "http://127.0.0.1:1/{k}", **more}),), schema)


class EmptyLog:
    """A signal log in which nothing new stands."""

    sources: Mapping[str, str] = {"rows": "t"}

    def cuts(self) -> EmptyLog:
        return self

    def between(self, start: object, end: object) -> list[SignalRecord]:
        return []


def opened(parameters: Mapping[str, Mapping[str, Json]]) -> CommitRecord:
    record = SignalsRecord(parameters=parameters)
    begin = {"rows": {"0": 0}}
    return CommitRecord(3, 0, "identity", begin, json.dumps({"0": 5, "tick": 3}), signals=record.to_json())


def test_stored_settings_that_no_plan_accepts_are_ignored_and_told_once() -> None:
    """As a signal of an earlier version could leave them, or a deploy of another operator under the same name."""
    told = Told()
    signals = QuerySignals(EmptyLog(), Catalogue(), frozenset(), told)  # type: ignore[arg-type]
    stored: dict[str, dict[str, Json]] = {"h": {"url": "http://127.0.0.1:2/{k}"}, "gone": {"x": 1}}
    last = opened(stored)
    for _ in range(2):
        assert signals.of_batch(last, str(last.offsets), lookups()).before.parameters == {}
    assert [node for node, _ in told.events] == ["h", "gone"]
    assert "url of http-lookup cannot be changed by a signal" in str(told.events[0][1]["reason"])
    good = opened({"h": {"timeout": "3 seconds"}})
    assert signals.of_batch(good, str(good.offsets), lookups()).before.parameters == {"h": {"timeout": "3 seconds"}}


def test_a_change_that_may_not_be_is_refused_before_it_is_sent() -> None:
    text = 'topic t schema="k STRING" ! http-lookup "http://127.0.0.1:1/{k}" as h ! to-topic out'
    catalogue = Catalogue()
    document = parse_text(text, catalogue, name="cards")
    ok = signal_to(document, "update_parameters", catalogue, node="h", parameters={"timeout": "3 seconds"})
    assert ok.parameters == {"timeout": "3 seconds"}
    for wrong, told in (
        ({"url": "http://127.0.0.1:2/{k}"}, "url of http-lookup cannot be changed by a signal"),
        ({"timeout": "soon"}, "timeout"),
        ({"in_flight": "many"}, "in_flight"),
    ):
        with pytest.raises(InvalidInput, match=told):
            signal_to(document, "update_parameters", catalogue, node="h", parameters=wrong)


def test_changes_of_one_micro_batch_are_checked_one_on_the_other() -> None:
    """Each alone would do, both together would not; the first stands, the second is dropped with its reason."""
    told = Told()
    signals = QuerySignals(EmptyLog(), Catalogue(), frozenset(), told)  # type: ignore[arg-type]
    first = request("a", "update_parameters", node="h", parameters={"on_error": "fail"})
    second = request("b", "update_parameters", node="h", parameters={"on_error": "dead_letter", "retries": 1})
    third = request("c", "update_parameters", node="h", parameters={"in_flight": 10**9})
    fourth = request("d", "update_parameters", node="h", parameters={"in_flight": 2})
    record = signals.after(BatchSignals(SignalsRecord(), (first, second, third, fourth)), lookups(), ())
    assert fates(record) == {"a": "handled", "b": "dropped", "c": "dropped", "d": "handled"}
    assert record.parameters == {"h": {"on_error": "fail", "in_flight": 2}}
