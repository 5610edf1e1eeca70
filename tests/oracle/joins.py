"""Joins of two streams within a distance of time, row by row in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.oracle.clock import QueryClock
from tests.oracle.cuts import Cut, Row, batches_of
from tests.oracle.windows import Key


@dataclass(slots=True)
class Joined:
    pairs: list[tuple[Row, Row]] = field(default_factory=list)
    alone: list[Row] = field(default_factory=list)
    """Left rows that can find no partner any more."""
    late: list[Row] = field(default_factory=list)


def interval_join(
    log: list[Row],
    cuts: list[Cut],
    clock: QueryClock,
    sides: tuple[str, str],
    within_us: int,
    key: Callable[[Row], Key],
) -> Joined:
    """Rows of equal keys whose times are at most `within_us` apart. A row below the watermark is late."""
    result, kept = Joined(), {side: list[Row]() for side in sides}
    waiting: list[Row] = []
    left, right = sides
    for cut, rows in batches_of(log, cuts):
        over = [row for row in waiting if _is_over(row, clock, within_us)]
        result.alone += over
        waiting = [row for row in waiting if row not in over]
        for row in rows:
            if clock.watermark_us is not None and row.time_us < clock.watermark_us:
                result.late.append(row)
                continue
            side = row.origin[0]
            partners = [
                other
                for other in kept[right if side == left else left]
                if key(other) == key(row) and abs(other.time_us - row.time_us) <= within_us
            ]
            result.pairs += [(row, other) if side == left else (other, row) for other in partners]
            kept[side].append(row)
            if side == left and not partners:
                waiting.append(row)
            waiting = [one for one in waiting if side == left or one not in partners]
        clock.after(cut, rows)
    return result


def _is_over(row: Row, clock: QueryClock, within_us: int) -> bool:
    return clock.watermark_us is not None and row.time_us + within_us < clock.watermark_us
