"""Places in a topic as people write them: earliest, latest, offset:N or timestamp:ISO8601."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

from headrace.errors import InvalidInput

VALID: Final = ("earliest", "latest", "offset:42", "timestamp:2026-01-31T12:00:00Z")
OFFSET_DIGITS_MAX: Final = 18


@dataclass(frozen=True, slots=True)
class TopicPosition:
    """`value` is an offset or a time in ms since 1970, UTC; 0 for earliest and latest."""

    kind: Literal["earliest", "latest", "offset", "timestamp"]
    value: int = 0


def parse_position(text: str) -> TopicPosition:
    """Raises InvalidInput with what is valid."""
    kind, _, value = text.partition(":")
    if kind in ("earliest", "latest") and not value:
        return TopicPosition("earliest" if kind == "earliest" else "latest")
    if kind == "offset" and value.isascii() and value.isdecimal() and len(value) <= OFFSET_DIGITS_MAX:
        return TopicPosition("offset", int(value))
    if kind == "timestamp":
        return TopicPosition("timestamp", _moment_ms(value))
    raise InvalidInput(f"{text[:60]!r} is no place in a topic", valid=VALID)


def _moment_ms(text: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(f"{text[:60]!r} is no time", valid=VALID) from None
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return max(0, int(aware.timestamp() * 1000))
