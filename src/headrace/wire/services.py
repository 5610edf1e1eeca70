"""What request handlers work with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from headrace.log import LogStore
from headrace.wire.commit import Committer
from headrace.wire.config import BrokerConfig
from headrace.wire.coordinators.groups import Groups
from headrace.wire.offset_service import OFFSETS_TOPIC, OffsetService
from headrace.wire.security.access import Access
from headrace.wire.security.resources import Operation, Resource
from headrace.wire.transaction_service import TRANSACTIONS_TOPIC, TransactionService
from headrace.wire.waiters import FetchWaiters

INTERNAL_TOPICS = frozenset({OFFSETS_TOPIC, TRANSACTIONS_TOPIC})


@dataclass(frozen=True, slots=True)
class Services:
    config: BrokerConfig
    store: LogStore
    committer: Committer
    waiters: FetchWaiters
    groups: Groups
    offsets: OffsetService
    transactions: TransactionService
    # Milliseconds since 1970, and milliseconds that never jump: the one for what is kept, the other for waiting.
    clock: Callable[[], int]
    monotonic_ms: Callable[[], int]
    cluster_id: str
    # Something began that depends on the time.
    wake_ticker: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a client reaches the broker, as it is told."""

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Call:
    """Who sent a request, by which way, and in which version."""

    version: int
    client_id: str
    client_host: str
    access: Access
    endpoint: Endpoint

    def require(self, operation: Operation, resource: Resource) -> None:
        """Raises a Refusal unless the client may do that."""
        self.access.require(operation, resource)

    def allows(self, operation: Operation, resource: Resource) -> bool:
        return self.access.allows(operation, resource)
