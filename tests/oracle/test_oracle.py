"""The oracle itself, by hand-made cases: small enough to be checked by reading."""

from __future__ import annotations

from tests.oracle.clock import PARTITION_IDLE_US, QueryClock, StreamClock
from tests.oracle.cuts import Cut, Row
from tests.oracle.joins import interval_join
from tests.oracle.windows import Result, Span, aligned_windows, hopping, sessions

S = 1_000_000


def rows(*listed: tuple[int, int], topic: str = "t") -> list[Row]:
    """(partition, second) in order of offset."""
    offsets: dict[int, int] = {}
    made = []
    for partition, second in listed:
        offset = offsets[partition] = offsets.get(partition, -1) + 1
        made.append(Row((topic, partition), offset, second * S, {"k": "a"}))
    return made


def cut(number: int, *ends: int, now_s: int | None = None, topic: str = "t") -> Cut:
    now_us = (number if now_s is None else now_s) * S
    return Cut(number, now_us, {(topic, partition): end for partition, end in enumerate(ends)})


def clock(partitions: int = 1, bound_s: int = 0, topic: str = "t") -> QueryClock:
    return QueryClock((StreamClock(bound_s * S, frozenset((topic, number) for number in range(partitions))),))


def key(row: Row) -> tuple[str]:
    return (row.values["k"],)


def told(result: Result) -> tuple[list[tuple[int, int, int]], list[int]]:
    emitted = [(one.span.start_us // S, one.span.end_us // S, len(one.rows)) for one in result.emitted]
    return emitted, [row.time_us // S for row in result.late]


def test_a_window_is_emitted_in_the_micro_batch_after_the_one_that_closes_it() -> None:
    log = rows((0, 1), (0, 12), (0, 3), (0, 13))
    everything = [cut(0, 4), cut(1, 4)]
    assert told(aligned_windows(log, everything, clock(), hopping(10 * S), key)) == ([(0, 10, 2)], [])
    assert told(aligned_windows(log, everything[:1], clock(), hopping(10 * S), key)) == ([], [])


def test_which_rows_are_late_depends_on_the_cuts() -> None:
    log = rows((0, 1), (0, 12), (0, 3), (0, 13))
    assert told(aligned_windows(log, [cut(0, 2), cut(1, 4)], clock(), hopping(10 * S), key)) == ([(0, 10, 1)], [3])
    bound = clock(bound_s=3)
    assert told(aligned_windows(log, [cut(0, 2), cut(1, 4), cut(2, 4)], bound, hopping(10 * S), key)) == (
        [(0, 10, 2)],
        [],
    )


def test_a_row_is_late_when_all_of_its_windows_are_closed() -> None:
    spans = hopping(10 * S, 5 * S)
    assert spans(7 * S) == [Span(0, 10 * S), Span(5 * S, 15 * S)]
    log = rows((0, 1), (0, 12), (0, 7), (0, 4), (0, 30))
    cuts = [cut(0, 2), cut(1, 5), cut(2, 5)]
    emitted, late = told(aligned_windows(log, cuts, clock(), spans, key))
    assert emitted == [(-5, 5, 1), (0, 10, 1), (5, 15, 2), (10, 20, 1)]
    assert late == [4]


def test_the_slowest_partition_counts_until_it_is_idle() -> None:
    log = rows((0, 61), (1, 20), (1, 21))
    held = [cut(0, 1, 1), cut(1, 1, 2)]
    assert told(aligned_windows(log, held, clock(2), hopping(10 * S), key)) == ([], [])
    idle_s = PARTITION_IDLE_US // S
    released = [cut(0, 1, 1), cut(1, 1, 1, now_s=idle_s), cut(2, 1, 2, now_s=idle_s + 1)]
    moving = clock(2)
    assert told(aligned_windows(log, released[:2], moving, hopping(10 * S), key)) == ([], [])
    assert moving.watermark_us == 20 * S, "all are idle: nothing says that time went on"


def test_when_all_are_idle_an_empty_partition_holds_nothing() -> None:
    log = rows((0, 61))
    idle_s = PARTITION_IDLE_US // S
    cuts = [cut(0, 1, 0), cut(1, 1, 0, now_s=idle_s), cut(2, 1, 0, now_s=idle_s + 1)]
    moving = clock(2)
    assert told(aligned_windows(log, cuts, moving, hopping(10 * S), key)) == ([], [])
    assert moving.watermark_us == 61 * S


def test_a_partition_without_its_first_row_holds_the_watermark() -> None:
    log = rows((0, 61), (1, 5))
    early = [cut(0, 1, 0), cut(1, 1, 1)]
    assert told(aligned_windows(log, early, clock(2), hopping(10 * S), key)) == ([], [])
    idle_s = PARTITION_IDLE_US // S
    log = rows((0, 61), (0, 62), (1, 5))
    late = [cut(0, 1, 0), cut(1, 2, 0, now_s=idle_s), cut(2, 2, 1, now_s=idle_s + 1)]
    assert told(aligned_windows(log, late, clock(2), hopping(10 * S), key)) == ([], [5])


def test_a_row_can_join_two_sessions_and_is_late_when_its_own_is_closed() -> None:
    log = rows((0, 1), (0, 9), (0, 5), (0, 60), (0, 2), (0, 59))
    cuts = [cut(0, 2), cut(1, 4), cut(2, 6), cut(3, 6)]
    behind = clock(bound_s=9)
    assert told(sessions(log, cuts, behind, 4 * S, key)) == ([(1, 13, 3)], [2])


def test_a_join_tells_pairs_rows_without_partner_and_late_rows() -> None:
    left, right = rows((0, 1), (0, 20), topic="l"), rows((0, 2), (0, 40), (0, 1), topic="r")
    cuts = [
        Cut(0, 0, {("l", 0): 1, ("r", 0): 1}),
        Cut(1, S, {("l", 0): 2, ("r", 0): 2}),
        Cut(2, 2 * S, {("l", 0): 2, ("r", 0): 3}),
    ]
    both = QueryClock(
        tuple(StreamClock(0, frozenset({(side, 0)})) for side in ("l", "r")),
    )
    joined = interval_join([*left, *right], cuts, both, ("l", "r"), 5 * S, key)
    assert [(one.time_us // S, other.time_us // S) for one, other in joined.pairs] == [(1, 2)]
    assert joined.alone == []
    assert [row.time_us // S for row in joined.late] == [1]
    further = [*cuts, Cut(3, 3 * S, {("l", 0): 3, ("r", 0): 3}), Cut(4, 4 * S, {("l", 0): 3, ("r", 0): 3})]
    longer = [*left, Row(("l", 0), 2, 50 * S, {"k": "a"}), *right]
    again = QueryClock(tuple(StreamClock(0, frozenset({(side, 0)})) for side in ("l", "r")))
    assert [row.time_us // S for row in interval_join(longer, further, again, ("l", "r"), 5 * S, key).alone] == [20]
