"""Rows that came out beside the rows that were expected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Literal, TypeAlias

Row: TypeAlias = tuple[str, ...]
Sign = Literal[" ", "-", "+"]
Line: TypeAlias = tuple[Sign, Row]
LINES_SHOWN_MAX = 40
# Beyond so many, which of them belong together is not looked for.
PAIRED_MAX = 200


@dataclass(frozen=True, slots=True)
class Difference:
    """Rows with a sign: `-` was expected and did not come, `+` came and was not expected. A `+` right behind a `-`
    is what came instead, where they have values in common: those that differ are marked."""

    columns: Row
    lines: tuple[Line, ...]

    def __str__(self) -> str:
        shown = [(sign, tuple(map(_printable, row))) for sign, row in self.lines[:LINES_SHOWN_MAX]]
        widths = [max(map(len, column)) for column in zip(self.columns, *(row for _, row in shown), strict=True)]
        lines = [f"  {_printed(self.columns, widths)}"]
        for before, (sign, row) in zip([None, *shown], shown, strict=False):
            lines.append(f"{sign} {_printed(row, widths)}")
            if before is not None and (before[0], sign) == ("-", "+") and _common(before[1], row):
                lines.append(f"  {_marked(before[1], row, widths)}")
        left_out = len(self.lines) - len(shown)
        return "\n".join([*lines, *([f"  … and {left_out} more"] if left_out else [])])


def compare_rows(
    columns: Row, expected: Sequence[Row], actual: Sequence[Row], *, is_ordered: bool
) -> Difference | None:
    """None where they agree: as they stand, or as sets with counts."""
    lines = list(_in_order(expected, actual) if is_ordered else _as_sets(expected, actual))
    return None if all(sign == " " for sign, _ in lines) else Difference(columns, tuple(lines))


def _in_order(expected: Sequence[Row], actual: Sequence[Row]) -> Iterator[Line]:
    for tag, first, last, start, stop in SequenceMatcher(None, expected, actual, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from ((" ", row) for row in expected[first:last])
        else:
            for missing, extra in zip_longest(expected[first:last], actual[start:stop]):
                if missing is not None:
                    yield "-", missing
                if extra is not None:
                    yield "+", extra


def _as_sets(expected: Sequence[Row], actual: Sequence[Row]) -> Iterator[Line]:
    left = Counter(actual)
    extra = sorted((Counter(actual) - Counter(expected)).elements())
    for row in expected:
        left[row] -= 1
        if left[row] >= 0:
            yield " ", row
            continue
        yield "-", row
        if (instead := _nearest(row, extra)) is not None:
            extra.remove(instead)
            yield "+", instead
    yield from (("+", row) for row in extra)


def _nearest(row: Row, others: Sequence[Row]) -> Row | None:
    """The one with most values in common; None if none has any."""
    nearest = max(others[:PAIRED_MAX], key=lambda other: _common(row, other), default=None)
    return nearest if nearest is not None and _common(row, nearest) else None


def _common(one: Row, other: Row) -> int:
    return sum(left == right for left, right in zip(one, other, strict=True))


def _printable(cell: str) -> str:
    """On one line, whatever is in it."""
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in cell)


def _printed(row: Row, widths: Sequence[int]) -> str:
    cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
    return f"| {' | '.join(cells)} |"


def _marked(one: Row, other: Row, widths: Sequence[int]) -> str:
    """A mark below each value that differs."""
    pairs = zip(one, other, strict=True)
    marks = ("" if left == right else "^" * max(len(left), len(right)) for left, right in pairs)
    return f"  {'   '.join(mark.ljust(width) for mark, width in zip(marks, widths, strict=True))}".rstrip()
