"""What keyed classes and their settings are refused for, and how failures are reported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

import pytest
from tests.operators.keyed_cases import SECOND, Alert, Heard, Reading, Script, Silence, at

from headrace.errors import InvalidGraph, InvalidInput
from headrace.operators import KeyedOperator, describe, entry_of, keyed_states
from headrace.operators.settings_class import made_settings
from headrace.serial import OperatorFailed, waiting_rows
from headrace.testing import ChainTester, chain_tester

COLUMNS = "device STRING, ts TIMESTAMP"


@dataclass
class Kept:
    count: int = 0
    texts: list[str] = field(default_factory=list)


class Scripted(KeyedOperator[Reading, Kept, dict[str, Any], None]):
    """Does what a test says."""

    key = "device"
    event_time = "ts"
    columns = "device STRING, n BIGINT"
    does: Callable[[Any, Kept], None]
    does_later: Callable[[Any, Kept], None]

    def on_row(self, key: str, row: Reading, state: Kept) -> None:
        type(self).does(self, state)

    def on_timer(self, key: str, time: datetime, state: Kept) -> None:
        type(self).does_later(self, state)


def failure(does: Callable[[Any, Kept], Any], later: Callable[[Any, Kept], Any] | None = None) -> str:
    Scripted.does = staticmethod(does)
    Scripted.does_later = staticmethod(later or does)
    tester = chain_tester(Scripted, COLUMNS)
    tester.run([{"device": "a", "ts": at(1)}])
    with pytest.raises(OperatorFailed) as raised:
        tester.end()
    return str(raised.value)


def _set(state: Kept, name: str, value: Any) -> None:
    setattr(state, name, value)


@pytest.mark.parametrize(
    ("does", "message"),
    [
        (lambda _, state: state.missing, "Scripted.on_row failed for the key 'a' at 1970-01-01T00:00:01+00:00, row"),
        (lambda it, _: it.emit({"device": "a"}), "the emitted row has no 'n'"),
        (lambda it, _: it.emit({"device": "a", "n": 1, "m": 2}), "has 'm', which is no column"),
        (lambda it, _: it.emit({"device": "a", "n": "x"}), "the emitted column 'n' is int64, and gets 'x'"),
        (lambda it, _: it.emit(7), "7 is no row that can be emitted"),
        (lambda it, _: it.set_timer(datetime(2026, 1, 1)), "has no time zone"),
        (lambda _, state: _set(state, "count", 1.5), "the key 'a': the state of Scripted cannot hold this value"),
    ],
)
def test_a_failure_names_the_key_and_the_cause(does: Callable[[Any, Kept], None], message: str) -> None:
    assert message in failure(does)


def test_a_timer_that_sets_itself_again_is_refused() -> None:
    text = failure(lambda it, _: it.set_timer(it.now + SECOND), lambda it, _: it.set_timer(it.now))
    assert "Scripted.on_timer failed for the key 'a' at 1970-01-01T00:00:02+00:00" in text
    assert "on_timer sets a timer at 1970-01-01T00:00:02+00:00" in text


def test_a_failure_names_the_record() -> None:
    Scripted.does = staticmethod(lambda it, state: state.missing)
    tester = chain_tester(Scripted, COLUMNS)
    rows: dict[str, Any] = {"device": ["a"], "ts": [at(1)], "_offset": [77]}
    tester.run(rows)
    with pytest.raises(OperatorFailed, match="partition 0, offset 77, row"):
        tester.end()


def test_limits_fail_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyed_states, "STATE_CHARACTERS_MAX", 50)
    assert "the state of the key 'a' has" in failure(lambda _, state: state.texts.append("x" * 60))
    monkeypatch.setattr("headrace.operators.keyed_lane.TIMERS_PER_KEY_MAX", 2)
    many = failure(lambda it, _: [it.set_timer(at(second)) for second in range(10, 20)])
    assert "more than 2 timers wait for the key 'a'" in many
    monkeypatch.setattr(keyed_states, "KEYS_MAX", 0)
    assert "more than 0 keys have state in one lane" in failure(lambda _, state: _set(state, "count", 1))


def test_rows_that_wait_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting_rows, "WAITING_ROWS_MAX", 2)
    tester = chain_tester(Silence, COLUMNS)
    tester.run([{"device": "a", "ts": at(1)}])
    with pytest.raises(OperatorFailed, match="more than 2 rows wait for the watermark"):
        tester.run([{"device": "a", "ts": at(2)}, {"device": "a", "ts": at(3)}])


def test_a_state_with_a_new_field_goes_on() -> None:
    tester = chain_tester(Silence, COLUMNS, silence="1h")
    tester.run([{"device": "a", "ts": at(1)}])
    tester.run([{"device": "a", "ts": at(2)}])
    tester.run([{"device": "a", "ts": at(9)}])
    other = chain_tester(WithMore, COLUMNS)
    tester.make = other.make
    tester.run([{"device": "a", "ts": at(20)}])
    tester.run()
    assert [row["n"] for row in tester.emitted] == [103, 104]


@dataclass
class More(Heard):
    count: int = 2


class WithMore(KeyedOperator[Reading, More, dict[str, Any], None]):
    key = "device"
    event_time = "ts"
    columns = "device STRING, n BIGINT"

    def on_row(self, key: str, row: Reading, state: More) -> None:
        state.count += 1
        self.emit({"device": key, "n": state.count + 100 * (state.last is not None)})


def test_settings_are_shown_and_checked() -> None:
    entry = entry_of(Script)
    described: Any = describe(entry)["config_schema"]
    assert list(described["properties"]) == ["step", "again", "late", "dead_letter", "partitioned", "partitioner"]
    assert described["properties"]["step"]["default"] == "2 seconds"
    assert described["properties"]["step"]["format"] == "duration"
    assert described["properties"]["again"]["description"] == "A timer in so many sets the next."
    config = entry.configure({"step": "90s", "again": 2})
    assert entry.canonical_config(config) == {"step": "90 seconds", "again": 2}
    assert made_settings(Script.declared.settings_type or object, config).step == timedelta(seconds=90)
    with pytest.raises(InvalidGraph) as raised:
        entry.configure({"step": "soon", "again": 0, "agian": 1})
    text = str(raised.value)
    assert "the setting 'step': 'soon' is no duration" in text
    assert "the setting 'again' should be greater than or equal to 1, not 0" in text
    assert "unknown setting 'agian'" in text


@dataclass
class Wide:
    kind: Literal["a", "b"]
    names: list[str] = field(default_factory=list)
    until: timedelta | None = None
    waits: list[timedelta] | None = None

    def __post_init__(self) -> None:
        if self.kind == "b" and not self.names:
            raise ValueError("kind=b needs names")


class WideSettings(KeyedOperator[Reading, Heard, Alert, Wide]):
    key = "device"
    event_time = "ts"

    def on_row(self, key: str, row: Reading, state: Heard) -> None: ...


def test_settings_of_every_kind() -> None:
    entry = entry_of(WideSettings)
    config = entry.configure({"kind": "b", "names": ["x"], "until": "1h", "waits": ["2s"]})
    assert made_settings(Wide, config) == Wide("b", ["x"], timedelta(hours=1), [timedelta(seconds=2)])
    for wrong, message in [
        ({"kind": "b"}, "kind=b needs names"),
        ({"kind": "c"}, "cannot be 'c'"),
        ({}, "the setting 'kind' is missing"),
    ]:
        with pytest.raises(InvalidGraph, match=message):
            entry.configure(wrong)


@dataclass
class NoDefault:
    count: int


@dataclass
class Vague:
    kept: dict[str, Any] = field(default_factory=dict)


@dataclass
class Reserved:
    late: str = ""


@dataclass
class Unknown:
    what: complex = 0j


@dataclass
class UnknownMeta:
    what: int = field(default=0, metadata={"hlep": "x"})


def made(state: Any = Heard, settings: Any = None, **attributes: Any) -> type[KeyedOperator[Any, Any, Any, Any]]:
    base: Any = KeyedOperator[Reading, state, Alert, settings]

    class Made(base):  # type: ignore[misc]
        key = attributes.get("key", "device")
        event_time = attributes.get("event_time", "ts")

        def on_row(self, key: Any, row: Any, state: Any) -> None: ...

    return Made


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: made(key=()), "Made does not say its key"),
        (lambda: made(event_time=None), "does not say the event-time column"),
        (lambda: made(NoDefault), "'count' has no default"),
        (lambda: made(Vague), "'kept' does not say what it holds"),
        (lambda: made(int), "valid: a dataclass"),
        (lambda: entry_of(made(Heard, Reserved)), "the setting name 'late' is reserved"),
        (lambda: made(Heard, Unknown), "no setting has the type <class 'complex'>"),
        (lambda: made(Heard, UnknownMeta), "has the metadata 'hlep'"),
        (lambda: chain_tester(Silence, "device STRING, at TIMESTAMP"), "'ts'"),
        (lambda: chain_tester(Silence, "device BIGINT, ts TIMESTAMP"), "Reading takes 'device' as string"),
    ],
)
def test_what_does_not_fit_is_refused(make: Callable[[], ChainTester], message: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        make()
    assert message in str(raised.value)
