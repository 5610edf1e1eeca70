"""What is known of a buffer beside its bytes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag


class Flags(IntFlag):
    NONE = 0
    KEY = 1
    """Can be understood without those before it."""
    GAP = 2
    """Something before it is missing."""
    DAMAGED = 4
    """Its source says that the content is not whole."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """Times are microseconds since 1970; 0 is unknown."""

    sequence: int = 0
    event_time_us: int = 0
    published_us: int = 0
    flags: Flags = Flags.NONE
