"""What one client may do: asked by every handler before it does anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from headrace.wire.codes import Refusal
from headrace.wire.security.acls import Acls
from headrace.wire.security.resources import DENIED, OPERATIONS, Operation, Resource, ResourceKind

ANONYMOUS: Final = "User:ANONYMOUS"


@dataclass(frozen=True, slots=True)
class Access:
    """The rights of a principal that speaks from a host. Without `acls` everything is allowed."""

    principal: str = ANONYMOUS
    host: str = ""
    acls: Callable[[], Acls] | None = None

    def allows(self, operation: Operation, resource: Resource) -> bool:
        return self.acls is None or self.acls().allow(self.principal, self.host, operation, resource)

    def allows_any(self, operation: Operation, kind: ResourceKind) -> bool:
        return self.acls is None or self.acls().allow_any(self.principal, self.host, operation, kind)

    def require(self, operation: Operation, resource: Resource) -> None:
        """Raises a Refusal with the code that clients know for this kind of resource."""
        if self.acls is not None and not self.allows(operation, resource):
            name = f"{resource.kind.name} {resource.name!r}"
            raise Refusal(DENIED[resource.kind], f"{self.principal} may not {operation.name} {name}")

    def operations(self, resource: Resource) -> int:
        """All that is allowed, one bit for each operation."""
        allowed = (op for op in OPERATIONS[resource.kind] if self.allows(op, resource))
        return sum(1 << operation for operation in allowed)
