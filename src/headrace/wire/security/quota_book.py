"""Which byte rates are allowed to whom. The most particular rule wins, as in Kafka."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

PRODUCE: Final = "producer_byte_rate"
CONSUME: Final = "consumer_byte_rate"
RATES: Final = (PRODUCE, CONSUME)

USER: Final = "user"
CLIENT_ID: Final = "client-id"
ENTITY_TYPES: Final = (USER, CLIENT_ID)

# Stands for everybody of a type who has no rule of their own.
DEFAULT: Final = "<default>"


@dataclass(frozen=True, slots=True)
class QuotaKey:
    """None: the rule does not look at it."""

    user: str | None = None
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class QuotaBook:
    rules: Mapping[QuotaKey, Mapping[str, float]] = field(default_factory=dict)

    def __iter__(self) -> Iterator[tuple[QuotaKey, Mapping[str, float]]]:
        return iter(self.rules.items())

    def with_rule(self, key: QuotaKey, rates: Mapping[str, float]) -> QuotaBook:
        """No rates remove the rule."""
        others = {known: found for known, found in self.rules.items() if known != key}
        return QuotaBook({**others, key: dict(rates)} if rates else others)

    def rule_for(self, kind: str, user: str, client_id: str) -> tuple[QuotaKey, float] | None:
        """The rule that holds, and its bytes per second; None when nothing is limited."""
        for key in _from_particular(user, client_id):
            rate = self.rules.get(key, {}).get(kind)
            if rate is not None:
                return key, rate
        return None


def _from_particular(user: str, client_id: str) -> Iterator[QuotaKey]:
    for some_user in (user, DEFAULT):
        for some_client in (client_id, DEFAULT, None):
            yield QuotaKey(some_user, some_client)
    for some_client in (client_id, DEFAULT):
        yield QuotaKey(None, some_client)
