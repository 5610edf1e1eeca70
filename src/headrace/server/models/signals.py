"""Signals as the API shows them."""

from __future__ import annotations

from typing import Any

from headrace.server.models.base import Model
from headrace.signals import Handling, Kind, State


class SignalView(Model):
    """`cut`: topic → partition → offset; rows below it are before the signal. `number` grows with each one placed."""

    id: str
    kind: Kind
    topics: list[str]
    pipeline: str | None
    node: str | None
    parameters: dict[str, Any]
    handling: Handling
    state: State
    number: int
    time_ms: int
    cut: dict[str, dict[int, int]]
    reason: str | None


class SignalList(Model):
    """In the order of their places."""

    signals: list[SignalView]
