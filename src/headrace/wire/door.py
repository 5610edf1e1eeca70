"""Who may be connected: how many, from one address and in all, and for how long without a word.

No sockets here. A visit is told when something comes and goes; the door decides who is let in, and who has to leave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Final

from headrace.wire.event_log import CountedLog

# A connection that came, or spoke, less than this ago is not closed to make room for another.
GRACE_S: Final = 1.0
# How often visits are looked at: within a quarter of the shortest limit, but not all the time and not too seldom.
SWEEP_S_MIN: Final = 0.05
SWEEP_S_MAX: Final = 10.0

# Places beyond the limits, for our own parts: a client of this machine that comes then must first prove to be one.
RESERVED: Final = 32
# How long such a client may take, and after which time it may be closed for another.
TRIAL_MS_MAX: Final = 5_000
TRIAL_GRACE_S: Final = 0.2

LOOPBACK: Final = "loopback"


def _nothing(reason: str | None) -> None:
    """Before a visit has a connection there is nothing to close."""


@dataclass(slots=True, eq=False)
class Visit:
    """One connection, as far as the door is concerned. All times are those of the event loop."""

    address: str
    since_s: float
    # When the last whole request came, or the last answer went.
    heard_s: float = 0.0
    # Whether a whole request ever came.
    spoke: bool = False
    # When the last byte came of a request that is not whole; None between requests.
    partial_s: float | None = None
    # One of our own parts: it is not closed to make room.
    is_own: bool = False
    # In the reserve, and not known as our own.
    on_trial: bool = False
    # Whether the broker works for it, or does not let it speak.
    busy: Callable[[], bool] = field(default=lambda: False)
    # Ends the connection; `leave` is called in the end. A reason is logged.
    close: Callable[[str | None], None] = field(default=_nothing)

    def __post_init__(self) -> None:
        self.heard_s = self.since_s

    def heard(self, now_s: float, *, whole: bool, partial: bool) -> None:
        """Bytes came: with them the end of a request, the beginning of one, or both."""
        self.spoke = self.spoke or whole
        self.partial_s = now_s if partial else None
        if whole:
            self.heard_s = now_s

    def prove_own(self) -> None:
        """Called when the client has authenticated as one of our own parts."""
        self.is_own, self.on_trial = True, False

    def idle_s(self, now_s: float) -> float:
        return 0.0 if self.busy() else now_s - max(self.heard_s, self.partial_s or 0.0)


@dataclass(frozen=True, slots=True)
class DoorLimits:
    connections_max: int
    per_address_max: int
    idle_ms_max: int
    first_request_ms_max: int
    partial_request_ms_max: int

    @property
    def sweep_s(self) -> float:
        shortest_ms = min(self.idle_ms_max, self.first_request_ms_max, self.partial_request_ms_max)
        return min(max(shortest_ms / 4_000, SWEEP_S_MIN), SWEEP_S_MAX)


class Door:
    """Where there is no room left, the connection that has been silent longest makes room: its client comes again."""

    def __init__(self, limits: DoorLimits) -> None:
        self.limits = limits
        self.refused = CountedLog("connection refused")
        self.closed = CountedLog("connection closed")
        self._visits: dict[Visit, None] = {}
        self._reserved: dict[Visit, None] = {}
        self._counts: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._visits) + len(self._reserved)

    def enter(self, host: str, now_s: float) -> Visit | str:
        """A visit, or the reason why there is none."""
        address = address_of(host)
        full = self._full(address, now_s)
        visit = Visit(address, now_s, on_trial=full is not None)
        if full is not None:
            if address != LOOPBACK or not self._has_reserve(now_s):
                return full
            self._reserved[visit] = None
            return visit
        self._visits[visit] = None
        self._counts[address] = self._counts.get(address, 0) + 1
        return visit

    def _full(self, address: str, now_s: float) -> str | None:
        """Why there is no ordinary place, once those who are idle made room; None when there is one."""
        limits = self.limits
        if self._counts.get(address, 0) >= limits.per_address_max and not self._make_room(self._from(address), now_s):
            return f"more than {limits.per_address_max} connections from one address, none of them idle"
        if len(self._visits) >= limits.connections_max and not self._make_room(self._visits, now_s):
            return f"more than {limits.connections_max} connections in all, none of them idle"
        return None

    def _has_reserve(self, now_s: float) -> bool:
        """Strangers cannot keep the reserve by taking it again and again: the oldest of them goes first."""
        if len(self._reserved) < RESERVED:
            return True
        waiting = [visit for visit in self._reserved if visit.on_trial and now_s - visit.since_s >= TRIAL_GRACE_S]
        if waiting:
            self.refused.warning(client=LOOPBACK, reason="all places are taken, and it is none of our own parts")
            self._end(waiting[0], None)
        return bool(waiting)

    def leave(self, visit: Visit) -> None:
        """May be called more than once."""
        self._reserved.pop(visit, None)
        if visit not in self._visits:
            return
        del self._visits[visit]
        self._counts[visit.address] -= 1
        if not self._counts[visit.address]:
            del self._counts[visit.address]

    def sweep(self, now_s: float) -> None:
        """Called now and then: closes what is overdue."""
        for visit in (*self._visits, *self._reserved):
            if visit.on_trial and _passed(visit.since_s, TRIAL_MS_MAX, now_s):
                self._end(visit, "all places are taken, and it is none of our own parts")
            elif not visit.busy():
                self._look(visit, now_s)
        self.refused.settle()
        self.closed.settle()

    def _look(self, visit: Visit, now_s: float) -> None:
        limits = self.limits
        if visit.partial_s is not None and _passed(visit.partial_s, limits.partial_request_ms_max, now_s):
            self._end(visit, f"no byte of a request that had begun within {limits.partial_request_ms_max} ms")
        elif not visit.spoke and _passed(visit.since_s, limits.first_request_ms_max, now_s):
            self._end(visit, f"no request within {limits.first_request_ms_max} ms")
        elif _passed(visit.heard_s, limits.idle_ms_max, now_s):
            self._end(visit, None)

    def _from(self, address: str) -> Iterable[Visit]:
        return (visit for visit in self._visits if visit.address == address)

    def _make_room(self, visits: Iterable[Visit], now_s: float) -> bool:
        """Closes the one that never spoke, or else spoke longest ago."""
        idle = [visit for visit in visits if not visit.is_own and visit.idle_s(now_s) >= GRACE_S]
        if not idle:
            return False
        self._end(min(idle, key=lambda visit: (visit.spoke, -visit.idle_s(now_s))), None)
        return True

    def _end(self, visit: Visit, reason: str | None) -> None:
        """Its place is free at once, whatever the transport still has to do."""
        self.leave(visit)
        visit.close(reason)


def address_of(host: str) -> str:
    """What counts as one client. Whoever is on this machine can take any loopback address: they are all one."""
    try:
        return LOOPBACK if ip_address(host.partition("%")[0]).is_loopback else host
    except ValueError:
        return host


def _passed(since_s: float, limit_ms: int, now_s: float) -> bool:
    return now_s - since_s > limit_ms / 1000
