"""What request handlers work with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, NamedTuple, TypeVar

from headrace.credential import CREDENTIAL_FILE, OWN_MECHANISM, OWN_USER
from headrace.log import LogStore
from headrace.signals import SIGNALS_TOPIC
from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.commit import Committer
from headrace.wire.config import BrokerConfig
from headrace.wire.coordinators.consumer_groups import ConsumerGroups
from headrace.wire.coordinators.groups import Groups
from headrace.wire.gate import IngestGate
from headrace.wire.group_room import GroupRoom
from headrace.wire.group_service import GroupService
from headrace.wire.group_settings import GroupSettings
from headrace.wire.offset_service import OFFSETS_TOPIC, OffsetService
from headrace.wire.recalls import Recalls
from headrace.wire.security.access import ANONYMOUS, Access
from headrace.wire.security.registry import SecurityRegistry
from headrace.wire.security.resources import CLUSTER, Operation, Resource, topic
from headrace.wire.security.session import Session
from headrace.wire.security.throttle import Throttle
from headrace.wire.sequencer import Sequencer
from headrace.wire.topic_turns import TopicTurns
from headrace.wire.transaction_service import TRANSACTIONS_TOPIC, TransactionService
from headrace.wire.waiters import FetchWaiters

Response = TypeVar("Response")

INTERNAL_TOPICS = frozenset({OFFSETS_TOPIC, TRANSACTIONS_TOPIC, SIGNALS_TOPIC})

_ADMINISTRATION: Final = (
    "users, access control lists and quotas are changed by clients that authenticate: a super user (sasl_mechanisms "
    f"and super_users in broker.toml), or {OWN_USER} ({OWN_MECHANISM}) with the credential of the data directory, "
    f"which is in the file log/{CREDENTIAL_FILE}"
)


@dataclass(frozen=True, slots=True)
class Services:
    config: BrokerConfig
    store: LogStore
    committer: Committer
    waiters: FetchWaiters
    gate: IngestGate
    topic_turns: TopicTurns
    recalls: Recalls
    groups: Groups
    consumer_groups: ConsumerGroups
    group_service: GroupService
    group_room: GroupRoom
    group_settings: GroupSettings
    offsets: OffsetService
    transactions: TransactionService
    sequencer: Sequencer
    security: SecurityRegistry
    throttle: Throttle
    # Milliseconds since 1970, and milliseconds that never jump: the one for what is kept, the other for waiting.
    clock: Callable[[], int]
    monotonic_ms: Callable[[], int]
    # As `monotonic_ms` without the time in which the broker could not listen: for sessions of groups.
    listening_ms: Callable[[], int]
    cluster_id: str
    # Something began that depends on the time.
    wake_ticker: Callable[[], None]


class AfterSync(NamedTuple, Generic[Response]):
    """A handler's answer that waits for the disk and for nothing else: made when what was appended is settled.

    None where the client wants no answer. It must not write anything more.
    """

    answer: Callable[[], Response | None]


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
    session: Session
    endpoint: Endpoint

    @property
    def access(self) -> Access:
        return self.session.access

    def require(self, operation: Operation, resource: Resource) -> None:
        """Raises a Refusal unless the client may do that."""
        self.access.require(operation, resource)

    def require_administration(self, operation: Operation) -> None:
        """Raises a Refusal unless the client may change users, access control lists or quotas.

        Where nobody must authenticate, that is left to those who do: another account of this machine could otherwise
        give itself a password before users are set up, or slow everybody down.
        """
        if self.access.principal == ANONYMOUS:
            raise Refusal(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, _ADMINISTRATION)
        self.require(operation, CLUSTER)

    def require_creation(self, name: str) -> None:
        """Raises a Refusal unless the client may create that topic."""
        resource = topic(name)
        if self.access.keeps(Operation.CREATE, resource) or not self.allows(Operation.CREATE, CLUSTER):
            self.require(Operation.CREATE, resource)

    def charge(self, throttle: Throttle, kind: str, size_bytes: int) -> int:
        """Count bytes against the client's quota: how long it is not served after this, which it is told."""
        if throttle.is_off:
            return 0
        user = self.access.principal.removeprefix("User:")
        self.session.throttle_ms = throttle.charge(kind, user, self.client_id, size_bytes)
        return self.session.throttle_ms

    def allows(self, operation: Operation, resource: Resource) -> bool:
        return self.access.allows(operation, resource)
