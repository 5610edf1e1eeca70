"""From an offset in a text to the line and column that a person sees."""

from __future__ import annotations

from headrace.errors import Place


def place_at(text: str, start: int, length: int = 1) -> Place:
    """The spot `length` characters long at offset `start`; the mark never runs past its line."""
    lines = (text[:start] + "|").splitlines()
    column = len(lines[-1])
    rest = text[start:].splitlines() or [""]
    return Place(len(lines), column, text, max(1, min(length, len(rest[0]))))
