"""The checker itself: a sound history passes, and each kind of harm done to it is found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headrace.wire.history import History, Outcome, Poll, Send, anomalies


def sound() -> History:
    """A plain client, a committed and an aborted transaction, and a consumer that saw it all."""
    sends = [
        Send("p", 0, "a", Outcome.OK, 0),
        Send("p", 0, "b", Outcome.OK, 1),
        Send("p", 0, "maybe", Outcome.UNKNOWN),
        Send("t", 0, "c", Outcome.OK, 2, "t:1"),
        Send("t", 0, "gone", Outcome.OK, 4, "t:2"),
        Send("p", 0, "refused", Outcome.FAILED),
    ]
    kept = ((0, "a"), (1, "b"), (2, "c"))
    polls = [Poll("c", 1, 0, kept[:2]), Poll("c", 1, 0, kept[2:])]
    return History(sends, polls, {"t:1": Outcome.OK, "t:2": Outcome.FAILED}, {0: kept})


def test_a_sound_history_has_nothing_wrong() -> None:
    assert anomalies(sound()) == []


def kinds(history: History) -> set[str]:
    return {anomaly.kind for anomaly in anomalies(history)}


@pytest.mark.parametrize(
    ("final", "expected"),
    [
        ([(0, "a"), (2, "c")], "lost"),
        ([(0, "a"), (1, "b"), (2, "c"), (3, "b")], "duplicate"),
        ([(0, "b"), (1, "a"), (2, "c")], "reordered"),
        ([(0, "a"), (1, "b"), (2, "c"), (4, "gone")], "aborted read"),
        ([(0, "a"), (1, "b"), (2, "c"), (5, "refused")], "aborted read"),
        ([(0, "a"), (7, "b"), (2, "c")], "inconsistent offset"),
        ([(0, "a"), (1, "c"), (2, "b")], "inconsistent offset"),
        ([(0, "a"), (1, "b"), (2, "c"), (3, "maybe")], "unseen"),
        ([(0, "a"), (1, "b"), (2, "c"), (3, "who")], "phantom"),
    ],
)
def test_harm_to_the_log_is_found(final: list[tuple[int, str]], expected: str) -> None:
    history = sound()
    if expected == "inconsistent offset" and (7, "b") in final:
        history.sends[1] = replace(history.sends[1], offset=2)
    history.final = {0: tuple(final)}
    assert expected in kinds(history)


@pytest.mark.parametrize(
    ("polls", "expected"),
    [
        ([(0, "a"), (1, "b"), (0, "a"), (1, "b"), (2, "c")], "non-monotonic poll"),
        ([(0, "a"), (2, "c")], "skipping poll"),
        ([(0, "a"), (1, "b")], "unseen"),
        ([(0, "a"), (1, "b"), (2, "c"), (4, "gone")], "aborted read"),
        ([(0, "a"), (1, "b"), (2, "c"), (3, "maybe")], "lost"),
    ],
)
def test_harm_to_a_reader_is_found(polls: list[tuple[int, str]], expected: str) -> None:
    history = sound()
    history.polls = [Poll("c", 1, 0, tuple(polls))]
    assert expected in kinds(history)


def test_a_new_assignment_may_begin_anywhere() -> None:
    history = sound()
    history.polls.append(Poll("c", 2, 0, ((0, "a"), (1, "b"))))
    assert anomalies(history) == []
