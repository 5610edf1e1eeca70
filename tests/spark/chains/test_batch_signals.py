"""What becomes of signals from one commit record to the next."""

from __future__ import annotations

import json

import pytest

from headrace.errors import InvalidInput
from headrace.graph.document import Json, Node
from headrace.graph.schema import Schema
from headrace.operators import Catalogue
from headrace.operators.serial_chain import ChainPlan
from headrace.signals import SignalRequest
from headrace.spark.chains.batch_signals import STANDING_MAX, BatchSignals, SignalsRecord


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
    with pytest.raises(InvalidInput, match="aggregates of session-window cannot change"):
        plan.check_adjustment("w", {"aggregates": ["max(n) AS s"]}, catalogue)
    with pytest.raises(InvalidInput, match="no serial operator 'x'"):
        plan.check_adjustment("x", {"gap": "5m"}, catalogue)
    with pytest.raises(InvalidInput):
        plan.check_adjustment("w", {"gap": "no time"}, catalogue)
    scored = ChainPlan.line((Node("s", "score", {"model": "json:dumps", "features": ["n"]}),), schema)
    with pytest.raises(InvalidInput, match="columns or keys"):
        scored.check_adjustment("s", {"into": "other"}, catalogue)
