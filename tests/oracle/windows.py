"""Windows over event time, row by row in plain Python: what is emitted, and which rows are late."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.oracle.clock import QueryClock
from tests.oracle.cuts import Cut, Row, batches_of

Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True, order=True)
class Span:
    start_us: int
    end_us: int


@dataclass(frozen=True, slots=True)
class Emitted:
    """A window of a key that was closed, with its rows in order of arrival."""

    span: Span
    key: Key
    rows: tuple[Row, ...]


@dataclass(slots=True)
class Result:
    emitted: list[Emitted] = field(default_factory=list)
    late: list[Row] = field(default_factory=list)


def hopping(size_us: int, slide_us: int | None = None) -> Callable[[int], list[Span]]:
    """Windows aligned to the epoch; without a slide they do not overlap."""
    step_us = slide_us or size_us

    def spans(at_us: int) -> list[Span]:
        last = at_us - at_us % step_us
        starts = range(last, at_us - size_us, -step_us)
        return sorted(Span(start, start + size_us) for start in starts)

    return spans


def aligned_windows(
    log: list[Row], cuts: list[Cut], clock: QueryClock, spans: Callable[[int], list[Span]], key: Callable[[Row], Key]
) -> Result:
    """A row is late when all of its windows are closed at the watermark of its micro-batch."""
    result, open_ = Result(), dict[tuple[Span, Key], list[Row]]()
    for cut, rows in batches_of(log, cuts):
        result.emitted += _closed(open_, clock)
        for row in rows:
            still_open = [span for span in spans(row.time_us) if not clock.has_passed(span.end_us)]
            for span in still_open:
                open_.setdefault((span, key(row)), []).append(row)
            if not still_open:
                result.late.append(row)
        clock.after(cut, rows)
    return result


def sessions(log: list[Row], cuts: list[Cut], clock: QueryClock, gap_us: int, key: Callable[[Row], Key]) -> Result:
    """Rows of a key that follow each other within the gap. A row is late when the session it would be in is closed."""
    result, open_ = Result(), dict[tuple[Span, Key], list[Row]]()
    for cut, rows in batches_of(log, cuts):
        result.emitted += _closed(open_, clock)
        for group in _groups(rows, key):
            for span, members in _merged(open_, group, gap_us):
                if clock.has_passed(span.end_us):
                    result.late += members
                else:
                    open_[span, key(members[0])] = members
        clock.after(cut, rows)
    return result


def _groups(rows: list[Row], key: Callable[[Row], Key]) -> Iterator[tuple[Key, list[Row]]]:
    for one in sorted({key(row) for row in rows}):
        yield one, [row for row in rows if key(row) == one]


def _merged(
    open_: dict[tuple[Span, Key], list[Row]], group: tuple[Key, list[Row]], gap_us: int
) -> Iterator[tuple[Span, list[Row]]]:
    """The sessions that a key has with these rows. Those that were open are taken out of `open_`."""
    key, rows = group
    pieces = [(span, members) for (span, owner), members in open_.items() if owner == key]
    for span, _ in pieces:
        del open_[span, key]
    pieces += [(Span(row.time_us, row.time_us + gap_us), [row]) for row in rows]
    pieces.sort(key=lambda piece: (piece[0], piece[1][0].order))
    current: tuple[Span, list[Row]] | None = None
    for span, members in pieces:
        if current is not None and span.start_us <= current[0].end_us:
            joined = Span(current[0].start_us, max(current[0].end_us, span.end_us))
            current = (joined, [*current[1], *members])
            continue
        if current is not None:
            yield current
        current = (span, list(members))
    if current is not None:
        yield current


def _closed(open_: dict[tuple[Span, Key], list[Row]], clock: QueryClock) -> list[Emitted]:
    ended = [(span, key) for span, key in open_ if clock.has_passed(span.end_us)]
    return [Emitted(span, key, tuple(open_.pop((span, key)))) for span, key in sorted(ended)]
