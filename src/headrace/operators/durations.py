"""Durations as people write them: `5 seconds`, `10s`, `1 hour 30 minutes`. One canonical spelling each."""

from __future__ import annotations

import re
from decimal import Decimal

from headrace.errors import InvalidInput

MAX_DURATION_MS = 3_650 * 86_400_000  # ten years: beyond that it is a mistake

# Largest first: the canonical spelling takes the first unit that divides the duration.
_UNITS_MS = {"day": 86_400_000, "hour": 3_600_000, "minute": 60_000, "second": 1_000, "millisecond": 1}
_SHORT = {
    "d": "day", "h": "hour", "hr": "hour", "m": "minute", "min": "minute", "s": "second", "sec": "second",
    "ms": "millisecond", "milli": "millisecond",
}  # fmt: skip
_PART = re.compile(r"\s*(\d{1,15}(?:\.\d{1,9})?)\s*([A-Za-z]+)\s*,?")
_EXAMPLES = ("500 ms", "10s", "5 minutes", "1 hour 30 minutes", "2 days")


def duration_ms(text: str) -> int:
    """Milliseconds. Raises InvalidInput that says what a duration looks like."""
    position, total = 0, Decimal(0)
    while position < len(text.rstrip()) or position == 0:
        part = _PART.match(text, position)
        if part is None:
            raise InvalidInput(f"{text!r} is no duration", hint=f"write it like {', '.join(_EXAMPLES)}")
        total += Decimal(part[1]) * _UNITS_MS[_unit(part[2], text)]
        position = part.end()
    if total != int(total):
        raise InvalidInput(f"the duration {text!r} is finer than a millisecond")
    if total > MAX_DURATION_MS:
        raise InvalidInput(f"the duration {text!r} is longer than {canonical_duration_of(MAX_DURATION_MS)}")
    return int(total)


def canonical_duration(text: str) -> str:
    """The one spelling: `canonical_duration("90s") == "90 seconds"`, `"60s"` is `"1 minute"`."""
    return canonical_duration_of(duration_ms(text))


def canonical_duration_of(milliseconds: int) -> str:
    if milliseconds == 0:
        return "0 seconds"
    unit = next(unit for unit, size_ms in _UNITS_MS.items() if milliseconds % size_ms == 0)
    count = milliseconds // _UNITS_MS[unit]
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"


def _unit(word: str, text: str) -> str:
    folded = word.lower()
    unit = _SHORT.get(folded, folded.removesuffix("s"))
    unit = _SHORT.get(unit, unit)
    if unit not in _UNITS_MS:
        raise InvalidInput(f"unknown unit {word!r} in the duration {text!r}", valid=(*_UNITS_MS, *_SHORT))
    return unit
