"""How printed SQL is broken into lines."""

from __future__ import annotations

from collections.abc import Sequence

LINE_CHARACTERS_MAX = 100
_INDENT = "  "


def listed(before: str, items: Sequence[str]) -> list[str]:
    """`before a, b, c` on one line if it fits, else an item per line."""
    line = f"{before} {', '.join(items)}"
    if len(line) <= LINE_CHARACTERS_MAX and "\n" not in line:
        return [line]
    return [before, *_items_per_line(items)]


def bracketed(before: str, items: Sequence[str], *, one_line: bool) -> list[str]:
    """`before (a, b)`, or an item per line between the brackets."""
    line = f"{before} ({', '.join(items)})"
    if one_line and len(line) <= LINE_CHARACTERS_MAX and "\n" not in line:
        return [line]
    return [f"{before} (", *_items_per_line(items), ")"]


def called(before: str, arguments: Sequence[str]) -> list[str]:
    """`before(a, b)`, or an argument per line between the brackets."""
    line = f"{before}({', '.join(arguments)})"
    if len(line) <= LINE_CHARACTERS_MAX and "\n" not in line:
        return [line]
    return [f"{before}(", *_items_per_line(arguments), ")"]


def indented(lines: Sequence[str]) -> list[str]:
    return [f"{_INDENT}{line}" for line in lines]


def _items_per_line(items: Sequence[str]) -> list[str]:
    return [f"{_INDENT}{item}{',' if index < len(items) - 1 else ''}" for index, item in enumerate(items)]
