"""What request handlers work with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from headrace.log import LogStore
from headrace.wire.commit import Committer
from headrace.wire.config import BrokerConfig
from headrace.wire.coordinators.groups import Groups
from headrace.wire.offset_service import OFFSETS_TOPIC, OffsetService
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
    # Where clients reach the broker: the port is known only once it listens.
    host: str
    port: int
    cluster_id: str
    # Something began that depends on the time.
    wake_ticker: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Call:
    """Who sent a request, and in which version."""

    version: int
    client_id: str
    client_host: str
