"""Keeps clients to their byte rates: whoever took too much is not served for as long as it takes to make up for it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from headrace.wire.security.quota_book import DEFAULT, QuotaBook, QuotaKey

# So much of a rate may be taken at once.
BURST_MS: Final = 1_000
# A client that asks for far too much at once is stopped for so long at most; what is left over counts on.
THROTTLE_MS_MAX: Final = 30_000
# Of these the ones idle longest are forgotten: they owe nothing.
METERS_MAX: Final = 10_000


@dataclass(slots=True)
class _Meter:
    """Bytes taken that time has not made up for."""

    owed_bytes: float
    at_ms: int


class Throttle:
    def __init__(self, book: Callable[[], QuotaBook], monotonic_ms: Callable[[], int]) -> None:
        self._book = book
        self._monotonic_ms = monotonic_ms
        self._meters: OrderedDict[tuple[str, QuotaKey], _Meter] = OrderedDict()

    @property
    def is_off(self) -> bool:
        """Nobody has a quota."""
        return not self._book().rules

    def charge(self, kind: str, user: str, client_id: str, size_bytes: int) -> int:
        """How many milliseconds the client must not be served now that it took so much; 0 when it may go on."""
        book = self._book()
        if not book.rules:
            return 0
        found = book.rule_for(kind, user, client_id)
        if found is None:
            return 0
        key, rate = found
        return self._charge((kind, _who(key, user, client_id)), max(rate, 1.0), size_bytes)

    def _charge(self, who: tuple[str, QuotaKey], rate: float, size_bytes: int) -> int:
        now_ms = self._monotonic_ms()
        meter = self._meters.setdefault(who, _Meter(0.0, now_ms))
        self._meters.move_to_end(who)
        if len(self._meters) > METERS_MAX:
            self._meters.popitem(last=False)
        made_up = (now_ms - meter.at_ms) * rate / 1000
        meter.owed_bytes = max(0.0, meter.owed_bytes - made_up) + size_bytes
        meter.at_ms = now_ms
        over = meter.owed_bytes - rate * BURST_MS / 1000
        return max(0, min(THROTTLE_MS_MAX, int(over * 1000 / rate)))


def _who(key: QuotaKey, user: str, client_id: str) -> QuotaKey:
    """Each of those for whom a default holds has a meter of their own."""
    return QuotaKey(user if key.user == DEFAULT else key.user, client_id if key.client_id == DEFAULT else key.client_id)
