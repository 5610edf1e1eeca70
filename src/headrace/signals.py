"""Signals: events that are no rows, each at one place in the topics it is sent to. What all parts say of them.

A client asks for a signal with a record in the topic `__signals`; the broker places it and answers there with the cut.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal, TypeAlias, get_args

from headrace.errors import InvalidInput, did_you_mean

SIGNALS_TOPIC: Final = "__signals"
TOPICS_MAX: Final = 16
REQUEST_BYTES_MAX: Final = 64 * 1024

Kind: TypeAlias = Literal[
    "start",
    "pause",
    "resume",
    "stop",
    "close_window",
    "advance_watermark",
    "update_parameters",
    "refresh_state",
    "snapshot_metrics",
    "custom",
    "withdraw",
]
Handling: TypeAlias = Literal["once", "until_handled", "always"]
State: TypeAlias = Literal["requested", "placed", "refused"]

KINDS: Final[tuple[str, ...]] = get_args(Kind)
HANDLINGS: Final[tuple[str, ...]] = get_args(Handling)
# Signals to a job as a whole: they have no node.
JOB_KINDS: Final = ("start", "pause", "resume", "stop", "advance_watermark", "snapshot_metrics", "withdraw")
# Signals that operators are offered: these can also be offered again.
OPERATOR_KINDS: Final = ("close_window", "refresh_state", "custom")

# Topic → partition → offset: rows below it are before the signal, rows from it on after.
Cut: TypeAlias = dict[str, dict[int, int]]

_ID: Final = re.compile(r"[A-Za-z0-9._:-]{1,100}")


@dataclass(frozen=True, slots=True)
class SignalRequest:
    """What a client asks for. Checked when made: raises InvalidInput.

    `pipeline` None: for every pipeline that reads the topics; `node` None: for every operator.
    """

    id: str
    kind: str
    topics: tuple[str, ...]
    pipeline: str | None = None
    node: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    handling: str = "once"

    def __post_init__(self) -> None:
        _check_fields(self)
        _check_use(self)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "topics": list(self.topics), "parameters": dict(self.parameters)}

    def to_bytes(self) -> bytes:
        """As a client sends it."""
        return json.dumps(self.to_json()).encode()

    @classmethod
    def from_json(cls, value: object) -> SignalRequest:
        """Raises InvalidInput that names the field and what it may be."""
        known = [known.name for known in fields(cls)]
        if not isinstance(value, dict):
            raise InvalidInput("a signal is a JSON object", valid=known)
        for name in value:
            if name not in known:
                raise InvalidInput(f"a signal has no field {name!r}", valid=known, hint=did_you_mean(name, known))
        missing = [name for name in ("id", "kind", "topics") if name not in value]
        if missing or not isinstance(value["topics"], list):
            raise InvalidInput(f"a signal needs {', '.join(missing) or 'a list of topics'}", valid=known)
        return cls(**{**value, "topics": tuple(value["topics"])})


@dataclass(frozen=True, slots=True)
class SignalRecord:
    """What stands in `__signals` under the signal's id. `number` grows from each placed signal to the next."""

    request: SignalRequest
    state: State
    time_ms: int
    number: int = 0
    cut: Cut = field(default_factory=dict)
    reason: str | None = None

    def to_bytes(self) -> bytes:
        return json.dumps(self.to_json()).encode()

    def to_json(self) -> dict[str, Any]:
        own = {"state": self.state, "time_ms": self.time_ms, "number": self.number}
        return {**self.request.to_json(), **own, "cut": self.cut, "reason": self.reason}

    @classmethod
    def from_bytes(cls, data: bytes) -> SignalRecord:
        """Reads what the broker wrote."""
        value = json.loads(data)
        own = {name: value.pop(name) for name in ("state", "time_ms", "number", "reason")}
        cut = {topic: {int(p): offset for p, offset in ends.items()} for topic, ends in value.pop("cut").items()}
        return cls(SignalRequest.from_json(value), cut=cut, **own)


def read_request(key: bytes | None, value: bytes | None) -> SignalRequest:
    """A request as any Kafka client sends it: JSON, its id the record's key or in the value. Raises InvalidInput."""
    if value is None or len(value) > REQUEST_BYTES_MAX:
        raise InvalidInput(f"a signal is a JSON object of at most {REQUEST_BYTES_MAX} bytes")
    try:
        asked = json.loads(value)
        named = None if key is None else key.decode()
    except ValueError as error:
        raise InvalidInput(f"a signal is a JSON object: {error}") from None
    if isinstance(asked, dict) and named is not None and asked.setdefault("id", named) != named:
        raise InvalidInput(f"the record's key is {named[:120]!r}, and id in its value another")
    return SignalRequest.from_json(asked)


def watermark_us(parameters: Mapping[str, Any]) -> int:
    """Where `advance_watermark` goes: `to` as ISO 8601, in UTC where it names no zone. Raises InvalidInput."""
    text = parameters.get("to")
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        raise InvalidInput(f"advance_watermark needs a time, not {text!r}", valid=["to=2026-01-31T12:00:00Z"]) from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def _check_fields(request: SignalRequest) -> None:
    if not isinstance(request.id, str) or not _ID.fullmatch(request.id):
        raise InvalidInput(
            f"{str(request.id)[:120]!r} is no id of a signal", valid=["1 to 100 letters, digits, '.', '_', ':' and '-'"]
        )
    _check_choice("kind", request.kind, KINDS)
    _check_choice("handling", request.handling, HANDLINGS)
    if not request.topics or len(set(request.topics)) != len(request.topics) or len(request.topics) > TOPICS_MAX:
        raise InvalidInput(f"a signal names 1 to {TOPICS_MAX} topics, each once")
    named = (*request.topics, *(name for name in (request.pipeline, request.node) if name is not None))
    if not all(isinstance(name, str) and name for name in named):
        raise InvalidInput("topics, pipeline and node of a signal are texts")
    if not isinstance(request.parameters, Mapping):
        raise InvalidInput("parameters of a signal are a JSON object")


def _check_choice(name: str, given: object, valid: tuple[str, ...]) -> None:
    if given not in valid:
        hint = did_you_mean(str(given), valid)
        raise InvalidInput(f"a signal's {name} is {str(given)[:120]!r}", valid=valid, hint=hint)


def _check_use(request: SignalRequest) -> None:
    """What a kind needs, and what it cannot have."""
    if request.node is not None and request.kind in JOB_KINDS:
        raise InvalidInput(f"{request.kind} is for a whole pipeline, not for a node")
    if request.handling != "once" and request.kind not in OPERATOR_KINDS:
        raise InvalidInput(f"{request.kind} is handled once", valid=OPERATOR_KINDS)
    if request.kind == "advance_watermark":
        watermark_us(request.parameters)
    if request.kind == "update_parameters" and (request.node is None or not request.parameters):
        raise InvalidInput("update_parameters needs a node and the parameters to set")
    if request.kind == "withdraw" and not isinstance(request.parameters.get("id"), str):
        raise InvalidInput("withdraw needs the id of a signal that is offered again", valid=["id=…"])
