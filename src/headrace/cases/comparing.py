"""Rows that came out beside the rows that were expected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, TypeAlias

Row: TypeAlias = tuple[str, ...]
Sign = Literal[" ", "-", "+"]
LINES_SHOWN_MAX = 40


@dataclass(frozen=True, slots=True)
class Difference:
    """Rows with a sign: `-` was expected and did not come, `+` came and was not expected."""

    columns: Row
    lines: tuple[tuple[Sign, Row], ...]

    def __str__(self) -> str:
        shown = self.lines[:LINES_SHOWN_MAX]
        table = [self.columns, *(row for _, row in shown)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        signs: list[str] = [" ", *(sign for sign, _ in shown)]
        lines = [f"{sign} {_printed(row, widths)}" for sign, row in zip(signs, table, strict=True)]
        left_out = len(self.lines) - len(shown)
        return "\n".join([*lines, *([f"  … and {left_out} more"] if left_out else [])])


def compare_rows(
    columns: Row, expected: Sequence[Row], actual: Sequence[Row], *, is_ordered: bool
) -> Difference | None:
    """None where they agree: as they stand, or as sets with counts."""
    lines = _in_order(expected, actual) if is_ordered else _as_sets(expected, actual)
    return None if all(sign == " " for sign, _ in lines) else Difference(columns, tuple(lines))


def _in_order(expected: Sequence[Row], actual: Sequence[Row]) -> list[tuple[Sign, Row]]:
    lines: list[tuple[Sign, Row]] = []
    for tag, first, last, start, stop in SequenceMatcher(None, expected, actual, autojunk=False).get_opcodes():
        if tag == "equal":
            lines += [(" ", row) for row in expected[first:last]]
        else:
            lines += [("-", row) for row in expected[first:last]]
            lines += [("+", row) for row in actual[start:stop]]
    return lines


def _as_sets(expected: Sequence[Row], actual: Sequence[Row]) -> list[tuple[Sign, Row]]:
    left = Counter(actual)
    lines: list[tuple[Sign, Row]] = []
    for row in expected:
        sign: Sign = " " if left[row] > 0 else "-"
        left[row] -= 1
        lines.append((sign, row))
    extra = Counter(actual) - Counter(expected)
    return [*lines, *(("+", row) for row in sorted(extra.elements()))]


def _printed(row: Row, widths: Sequence[int]) -> str:
    cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
    return f"| {' | '.join(cells)} |"
