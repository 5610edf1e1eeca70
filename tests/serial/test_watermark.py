"""The watermark of a chain by the partitions of its sources: who holds it, who is idle, what a quiet stream does."""

from __future__ import annotations

import pytest

from headrace.serial import Progress

SECOND = 1_000_000
IDLE = 30 * SECOND
BOTH = (0, 1)
# Events of 1970, read fifty years later.
NOW = 1_700_000_000 * SECOND


def after(progress: Progress, latest_s: dict[int, int], at_s: float, *, unread: tuple[int, ...] = ()) -> Progress:
    """The progress after a micro-batch at this time, through its form in the commit record."""
    latest_us = {partition: seconds * SECOND for partition, seconds in latest_s.items()}
    done = progress.advanced(latest_us, NOW + int(at_s * SECOND), 0, IDLE, partitions=BOTH, unread=unread)
    return Progress.from_json(done.to_json())


def test_a_partition_without_its_first_row_holds_the_watermark() -> None:
    progress = after(Progress(), {0: 61}, 0)
    assert progress.watermark_us is None
    progress = after(progress, {1: 59}, 2.5)
    assert progress.watermark_us == 59 * SECOND


def test_a_partition_that_never_has_a_row_holds_it_for_the_idle_time_only() -> None:
    progress = after(Progress(), {0: 61}, 0)
    assert after(progress, {0: 90}, 29).watermark_us is None
    assert after(progress, {0: 90}, 30).watermark_us == 90 * SECOND
    # Without new rows, too: the micro-batch is a tick. Partition 0 had rows since.
    progress = after(progress, {0: 70}, 10)
    assert after(progress, {}, 31).watermark_us == 70 * SECOND


def test_a_stream_that_became_quiet_at_once_is_released_too() -> None:
    progress = after(Progress(), {0: 61}, 0)
    assert after(progress, {}, 29).watermark_us is None
    assert after(progress, {}, 31).watermark_us == 61 * SECOND


def test_the_wait_goes_on_after_a_restart() -> None:
    """It is counted from the first micro-batch of the query, which the commit record keeps."""
    progress = after(Progress(), {0: 5}, 0)
    assert progress.began_us == NOW
    assert after(Progress.from_json(progress.to_json()), {0: 61}, 40).watermark_us == 61 * SECOND


def test_a_record_of_an_older_release_begins_no_new_wait() -> None:
    progress = Progress.from_json([{"0": 5 * SECOND}, {"0": NOW}, 5 * SECOND])
    assert after(progress, {0: 61}, 1).watermark_us == 61 * SECOND


@pytest.mark.parametrize("first", [{0: 10, 1: 10}, {0: 10}])
def test_a_partition_with_unread_records_is_not_idle(first: dict[int, int]) -> None:
    progress = after(after(Progress(), first, 0), {0: 61}, 35, unread=(1,))
    assert progress.watermark_us == (10 * SECOND if 1 in first else None)
    assert after(progress, {0: 90}, 60).watermark_us == progress.watermark_us
    assert after(progress, {0: 90}, 66).watermark_us == 90 * SECOND


def test_an_input_that_ends_is_not_waited_for() -> None:
    progress = Progress().advanced({0: 61 * SECOND}, NOW, 0, IDLE)
    assert progress.watermark_us == 61 * SECOND


def test_event_time_of_a_quiet_stream_goes_on_at_the_pace_of_the_clock() -> None:
    """The rows are of another year; those after a pause are not late."""
    progress = Progress()
    for row_s, now_s, reached_s in ((1, 0, 0), (None, 8, 3), (31, 9, 30), (None, 17, 33), (331, 18, 330)):
        latest_us = {} if row_s is None else {0: row_s * SECOND}
        assert row_s is None or not progress.has_reached(row_s * SECOND)
        progress = progress.advanced(latest_us, NOW + now_s * SECOND, SECOND, IDLE, partitions=(0,))
        progress = progress.idled(NOW + now_s * SECOND, SECOND, 5 * SECOND, IDLE)
        assert progress.watermark_us == reached_s * SECOND


def test_event_time_of_events_of_today_is_that_far_behind_the_clock() -> None:
    progress = Progress().advanced({0: NOW}, NOW, SECOND, IDLE, partitions=(0,))
    assert progress.idled(NOW + 60 * SECOND, SECOND, 5 * SECOND, IDLE).watermark_us == NOW + 54 * SECOND
    # Read two seconds after the micro-batch began, by the clock: later rows must not be late.
    progress = Progress().advanced({0: NOW + 2 * SECOND}, NOW, 0, IDLE, partitions=(0,))
    assert progress.idled(NOW + 60 * SECOND, 0, 5 * SECOND, IDLE).watermark_us == NOW + 55 * SECOND


def test_a_quiet_stream_does_not_wait_for_a_first_row_longer_than_for_others() -> None:
    progress = Progress().advanced({0: 61 * SECOND}, NOW, 0, IDLE, partitions=BOTH)
    progress = progress.idled(NOW + 6 * SECOND, 0, 5 * SECOND, IDLE)
    assert progress.watermark_us == 62 * SECOND


def test_a_quiet_stream_behind_others_goes_on_as_far_as_they_have_come() -> None:
    progress = Progress().advanced({0: 61 * SECOND}, NOW, 0, IDLE)
    assert progress.idled(NOW + 9 * SECOND, 0, 5 * SECOND, IDLE, 62 * SECOND).watermark_us == 62 * SECOND
