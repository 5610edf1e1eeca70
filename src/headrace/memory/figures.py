"""Figures of a pool."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PoolStats:
    slot_bytes: int
    segments: int
    slots_free: int
    slots_lent: int
    mapped_bytes: int
    max_bytes: int
    max_loans: int | None
    copies: int
    """How often `writable` copied, and how many bytes that took."""
    copied_bytes: int
