"""What clients did and saw, and whether a log could have behaved so: the checks of Jepsen's Kafka workload.

Every value is sent once, so that a value names its send. A history is written down by the clients of a test while they
run, in the order of each client; `anomalies` then says everything that a log must not do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise

Place = tuple[int, int]
"""Partition and offset."""


class Outcome(Enum):
    """UNKNOWN: the answer was lost, both is possible."""

    OK = "ok"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Send:
    """`offset` is known when the send was acknowledged. `transaction` is None for a plain one."""

    client: str
    partition: int
    value: str
    outcome: Outcome
    offset: int | None = None
    transaction: str | None = None


@dataclass(frozen=True, slots=True)
class Poll:
    """What a consumer of committed records got at once. Within one `assignment` it reads a partition in order."""

    client: str
    assignment: int
    partition: int
    records: tuple[tuple[int, str], ...]


@dataclass(slots=True)
class History:
    """`ends` are the outcomes of transactions: OK for committed, FAILED for aborted. `final` is read at the end."""

    sends: list[Send] = field(default_factory=list)
    polls: list[Poll] = field(default_factory=list)
    ends: dict[str, Outcome] = field(default_factory=dict)
    final: dict[int, tuple[tuple[int, str], ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Anomaly:
    kind: str
    detail: str


def anomalies(history: History) -> list[Anomaly]:
    """Everything wrong with a history; empty when there is nothing."""
    checks = (_phantoms, _aborted_reads, _inconsistent_offsets, _duplicates, _lost, _unseen, _reordered, _polls)
    return [anomaly for check in checks for anomaly in check(history)]


def _fate(history: History, send: Send) -> Outcome:
    """Whether the value must, must not, or may be in the log."""
    end = Outcome.OK if send.transaction is None else history.ends.get(send.transaction, Outcome.UNKNOWN)
    if Outcome.FAILED in (send.outcome, end):
        return Outcome.FAILED
    return Outcome.OK if (send.outcome, end) == (Outcome.OK, Outcome.OK) else Outcome.UNKNOWN


def _observed(history: History) -> Iterator[tuple[Place, str]]:
    """Every record that anybody read."""
    for poll in history.polls:
        yield from (((poll.partition, offset), value) for offset, value in poll.records)
    yield from _finally(history)


def _finally(history: History) -> Iterator[tuple[Place, str]]:
    for partition, records in history.final.items():
        yield from (((partition, offset), value) for offset, value in records)


def _phantoms(history: History) -> Iterator[Anomaly]:
    sent = {send.value for send in history.sends}
    for place, value in _observed(history):
        if value not in sent:
            yield Anomaly("phantom", f"{value} at {place} was never sent")


def _aborted_reads(history: History) -> Iterator[Anomaly]:
    never = {send.value for send in history.sends if _fate(history, send) is Outcome.FAILED}
    for place, value in _observed(history):
        if value in never:
            yield Anomaly("aborted read", f"{value} at {place} was aborted or refused")


def _inconsistent_offsets(history: History) -> Iterator[Anomaly]:
    """One place has one value, whoever looks, and the one that was acknowledged there."""
    values: dict[Place, str] = {}
    acknowledged = (
        ((send.partition, send.offset), send.value)
        for send in history.sends
        if send.offset is not None and _fate(history, send) is Outcome.OK
    )
    for place, value in (*acknowledged, *_observed(history)):
        if values.setdefault(place, value) != value:
            yield Anomaly("inconsistent offset", f"{place} was {values[place]}, and then {value}")


def _duplicates(history: History) -> Iterator[Anomaly]:
    places: dict[str, set[Place]] = defaultdict(set)
    for place, value in _observed(history):
        places[value].add(place)
    for value, found in places.items():
        if len(found) > 1:
            yield Anomaly("duplicate", f"{value} is at {sorted(found)}")


def _lost(history: History) -> Iterator[Anomaly]:
    there = {value for _, value in _finally(history)}
    for send in history.sends:
        if _fate(history, send) is Outcome.OK and send.value not in there:
            yield Anomaly("lost", f"{send.value}, acknowledged at {(send.partition, send.offset)}")
    for poll in history.polls:
        for offset, value in poll.records:
            if value not in there:
                yield Anomaly("lost", f"{value}, which {poll.client} read at {(poll.partition, offset)}")


def _unseen(history: History) -> Iterator[Anomaly]:
    """Consumers read to the end: what is in the log passed one of them."""
    if not history.polls:
        return
    seen = {value for poll in history.polls for _, value in poll.records}
    for place, value in _finally(history):
        if value not in seen:
            yield Anomaly("unseen", f"{value} at {place} came to no consumer")


def _reordered(history: History) -> Iterator[Anomaly]:
    """What one client sent to one partition is there in that order."""
    places = {value: offset for (_, offset), value in _finally(history)}
    by_client: dict[tuple[str, int], list[Send]] = defaultdict(list)
    for send in history.sends:
        by_client[send.client, send.partition].append(send)
    for (client, partition), sends in by_client.items():
        kept = [(places[send.value], send.value) for send in sends if send.value in places]
        for (first, earlier), (second, later) in pairwise(kept):
            if first >= second:
                yield Anomaly(
                    "reordered", f"{client} sent {earlier} before {later}, partition {partition} has it after"
                )


def _polls(history: History) -> Iterator[Anomaly]:
    """Within an assignment offsets only grow, and no record between them is passed over."""
    contents = {partition: [offset for offset, _ in records] for partition, records in history.final.items()}
    positions: dict[tuple[str, int, int], int] = {}
    for poll in history.polls:
        key = (poll.client, poll.assignment, poll.partition)
        for offset, value in poll.records:
            before = positions.get(key)
            positions[key] = offset
            if before is None:
                continue
            if offset <= before:
                yield Anomaly("non-monotonic poll", f"{poll.client} read {value} at {offset} after {before}")
            elif skipped := [o for o in contents.get(poll.partition, ()) if before < o < offset]:
                yield Anomaly("skipping poll", f"{poll.client} went from {before} to {offset} past {skipped}")


def summary(found: Iterable[Anomaly]) -> Mapping[str, list[str]]:
    """Details by kind, for a test's message."""
    kinds: dict[str, list[str]] = defaultdict(list)
    for anomaly in found:
        kinds[anomaly.kind].append(anomaly.detail)
    return kinds
