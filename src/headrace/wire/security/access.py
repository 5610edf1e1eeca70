"""What one client may do: asked by every handler before it does anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from headrace.credential import is_internal
from headrace.signals import SIGNALS_TOPIC
from headrace.wire.codes import Refusal
from headrace.wire.security.acls import Acls
from headrace.wire.security.resources import DENIED, OPERATIONS, Operation, Resource, ResourceKind

ANONYMOUS: Final = "User:ANONYMOUS"

# The transactions by which our own parts write.
OWN_TRANSACTIONS_PREFIX: Final = "headrace."
# Nobody at all writes these, which handlers say in Kafka's own words.
_BROKERS_OWN: Final = ("__consumer_offsets", "__transaction_state")

_CHANGES: Final = (
    Operation.WRITE,
    Operation.CREATE,
    Operation.DELETE,
    Operation.ALTER,
    Operation.ALTER_CONFIGS,
)


@dataclass(frozen=True, slots=True)
class Access:
    """The rights of a principal that speaks from a host. Without `acls` everything is allowed."""

    principal: str = ANONYMOUS
    host: str = ""
    acls: Callable[[], Acls] | None = None
    # One of our own parts, by the credential of the data directory.
    own: bool = False

    def keeps(self, operation: Operation, resource: Resource) -> bool:
        """Whether that is left to our own parts, whatever access control lists say."""
        if self.own or operation not in _CHANGES:
            return False
        if resource.kind is ResourceKind.TRANSACTIONAL_ID:
            return resource.name.startswith(OWN_TRANSACTIONS_PREFIX)
        if resource.kind is not ResourceKind.TOPIC or not is_internal(resource.name):
            return False
        if operation in (Operation.WRITE, Operation.DELETE) and resource.name in _BROKERS_OWN:
            return False
        # Users may ask for signals where they have the right to; nobody may who does not say who they are.
        asks = resource.name == SIGNALS_TOPIC and operation is Operation.WRITE
        return not (asks and self.principal != ANONYMOUS)

    def allows(self, operation: Operation, resource: Resource) -> bool:
        if self.keeps(operation, resource):
            return False
        return self.acls is None or self.acls().allow(self.principal, self.host, operation, resource)

    def allows_any(self, operation: Operation, kind: ResourceKind) -> bool:
        return self.acls is None or self.acls().allow_any(self.principal, self.host, operation, kind)

    def require(self, operation: Operation, resource: Resource) -> None:
        """Raises a Refusal with the code that clients know for this kind of resource."""
        if self.keeps(operation, resource):
            message = f"{resource.name} is changed by Headrace's own parts only"
            raise Refusal(DENIED[resource.kind], f"{message}: they prove it by the credential of the data directory")
        if self.acls is not None and not self.allows(operation, resource):
            name = f"{resource.kind.name} {resource.name!r}"
            raise Refusal(DENIED[resource.kind], f"{self.principal} may not {operation.name} {name}")

    def operations(self, resource: Resource) -> int:
        """All that is allowed, one bit for each operation."""
        allowed = (op for op in OPERATIONS[resource.kind] if self.allows(op, resource))
        return sum(1 << operation for operation in allowed)
