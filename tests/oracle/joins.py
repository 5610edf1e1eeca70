"""Joins of two streams within a distance of time, or in the same windows, row by row in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TypeAlias

from tests.oracle.clock import QueryClock
from tests.oracle.cuts import Cut, Row, batches_of
from tests.oracle.windows import Key, Span, hopping

# Where a row looks for partners, by whether it is of the left: spans of time with their last moments.
Spans: TypeAlias = "Callable[[bool, int], list[Span]]"


@dataclass(slots=True)
class Joined:
    pairs: list[tuple[Row, Row]] = field(default_factory=list)
    """Left and right; as often as both rows are in one window."""
    ends_us: list[int] = field(default_factory=list)
    """For each pair, the last moment of the window."""
    alone: list[Row] = field(default_factory=list)
    """Rows of outer sides that can find no partner any more; once for each window."""
    late: list[Row] = field(default_factory=list)


@dataclass(slots=True)
class _Waiting:
    """A row of an outer side in one of its spans."""

    row: Row
    span: Span
    has_partner: bool = False


def within(before_us: int, after_us: int) -> Spans:
    """The right row is up to so much earlier or later than the left one."""

    def spans(is_left: bool, at_us: int) -> list[Span]:
        earlier, later = (before_us, after_us) if is_left else (after_us, before_us)
        return [Span(at_us - earlier, at_us + later)]

    return spans


def in_windows(size_us: int, slide_us: int | None = None) -> Spans:
    """Both rows are in the same window."""
    windows = hopping(size_us, slide_us)
    return lambda is_left, at_us: [Span(one.start_us, one.end_us - 1) for one in windows(at_us)]


def interval_join(
    log: list[Row],
    cuts: list[Cut],
    clock: QueryClock,
    sides: tuple[str, str],
    within_us: int,
    key: Callable[[Row], Key],
) -> Joined:
    """Rows of equal keys whose times are at most `within_us` apart, and left rows without a partner."""
    return stream_join(log, cuts, clock, sides, within(within_us, within_us), key, outer=sides[:1])


def stream_join(
    log: list[Row],
    cuts: list[Cut],
    clock: QueryClock,
    sides: tuple[str, str],
    spans: Spans,
    key: Callable[[Row], Key],
    *,
    outer: Collection[str] = (),
    also: Callable[[Row, Row], bool] = lambda left, right: True,
) -> Joined:
    """A row below the watermark is late. `outer` are the sides of which rows without a partner are told; `also` is what
    a pair must fulfil beside equal keys. Nulls in a key equal nothing."""
    result, kept = Joined(), {side: list[Row]() for side in sides}
    waiting: list[_Waiting] = []
    for cut, rows in batches_of(log, cuts):
        over = [one for one in waiting if clock.watermark_us is not None and one.span.end_us < clock.watermark_us]
        result.alone += [one.row for one in over if not one.has_partner]
        waiting = [one for one in waiting if one not in over]
        for row in rows:
            if clock.watermark_us is not None and row.time_us < clock.watermark_us:
                result.late.append(row)
                continue
            is_left = row.origin[0] == sides[0]
            for span in spans(is_left, row.time_us):
                own = _Waiting(row, span)
                for other in kept[sides[1] if is_left else sides[0]]:
                    left, right = (row, other) if is_left else (other, row)
                    inside = span.start_us <= other.time_us <= span.end_us
                    if inside and None not in key(row) and key(row) == key(other) and also(left, right):
                        result.pairs.append((left, right))
                        result.ends_us.append(span.end_us)
                        own.has_partner = True
                        _note(waiting, other, row.time_us)
                if row.origin[0] in outer:
                    waiting.append(own)
            kept[row.origin[0]].append(row)
        clock.after(cut, rows)
    return result


def _note(waiting: list[_Waiting], row: Row, partner_us: int) -> None:
    for one in waiting:
        if one.row is row and one.span.start_us <= partner_us <= one.span.end_us:
            one.has_partner = True
