"""Access control lists: what they say, and which of them a filter means. As Kafka's own authorizer decides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.security.resources import (
    CLUSTER,
    IMPLIED_BY,
    OPERATIONS,
    Operation,
    PatternType,
    Permission,
    Resource,
    ResourceKind,
)

WILDCARD: Final = "*"
EVERYBODY: Final = "User:*"


@dataclass(frozen=True, slots=True, order=True)
class Acl:
    """One rule: this principal, from this host, may or may not do that to every resource the pattern covers."""

    kind: ResourceKind
    name: str
    pattern: PatternType
    principal: str
    host: str
    operation: Operation
    permission: Permission

    def covers(self, resource: Resource) -> bool:
        if self.kind is not resource.kind:
            return False
        if self.pattern is PatternType.PREFIXED:
            return resource.name.startswith(self.name)
        return self.name in (resource.name, WILDCARD)

    def concerns(self, principal: str, host: str) -> bool:
        return self.principal in (principal, EVERYBODY) and self.host in (host, WILDCARD)


def check(acl: Acl) -> Acl:
    """The same. Raises a Refusal for a rule that could never mean anything."""
    if not acl.principal.startswith("User:") or acl.principal == "User:":
        raise Refusal(ErrorCode.INVALID_REQUEST, f"principal {acl.principal!r}; it is User:NAME or User:*")
    if not acl.name or not acl.host:
        raise Refusal(ErrorCode.INVALID_REQUEST, "resource name and host must not be empty")
    if acl.kind is ResourceKind.CLUSTER and acl.name != CLUSTER.name:
        raise Refusal(ErrorCode.INVALID_REQUEST, f"the only resource of its kind is {CLUSTER.name!r}")
    meaningful = (Operation.ALL, *OPERATIONS.get(acl.kind, ()))
    if acl.operation not in meaningful:
        names = ", ".join(operation.name for operation in meaningful)
        raise Refusal(ErrorCode.INVALID_REQUEST, f"{acl.operation.name} of a {acl.kind.name}; valid are {names}")
    return acl


@dataclass(frozen=True, slots=True)
class AclFilter:
    """Which rules are meant. None, and ANY, stand for all."""

    kind: ResourceKind
    name: str | None
    pattern: PatternType
    principal: str | None
    host: str | None
    operation: Operation
    permission: Permission

    def means(self, acl: Acl) -> bool:
        return (
            self.kind in (ResourceKind.ANY, acl.kind)
            and self._means_name(acl)
            and self.principal in (None, acl.principal)
            and self.host in (None, acl.host)
            and self.operation in (Operation.ANY, acl.operation)
            and self.permission in (Permission.ANY, acl.permission)
        )

    def _means_name(self, acl: Acl) -> bool:
        if self.pattern is PatternType.MATCH:
            return self.name is None or acl.covers(Resource(acl.kind, self.name))
        return self.pattern in (PatternType.ANY, acl.pattern) and self.name in (None, acl.name)


class Acls:
    """All rules. A denial wins over any permission; what nobody permitted is denied."""

    def __init__(self, acls: Iterable[Acl] = ()) -> None:
        self._acls = frozenset(acls)

    def __iter__(self) -> Iterator[Acl]:
        return iter(sorted(self._acls))

    def __len__(self) -> int:
        return len(self._acls)

    def meant(self, wanted: AclFilter) -> list[Acl]:
        return [acl for acl in self if wanted.means(acl)]

    def allow(self, principal: str, host: str, operation: Operation, resource: Resource) -> bool:
        concerned = [acl for acl in self._acls if acl.concerns(principal, host) and acl.covers(resource)]
        if any(acl.permission is Permission.DENY and acl.operation in (operation, Operation.ALL) for acl in concerned):
            return False
        enough = (operation, Operation.ALL, *IMPLIED_BY.get(operation, ()))
        return any(acl.permission is Permission.ALLOW and acl.operation in enough for acl in concerned)

    def allow_any(self, principal: str, host: str, operation: Operation, kind: ResourceKind) -> bool:
        """Whether there is a permission for some resource of a kind that no denial takes back wholly."""
        mine = [a for a in self._acls if a.kind is kind and a.concerns(principal, host)]
        fitting = [a for a in mine if a.operation in (operation, Operation.ALL)]
        denied = [a for a in fitting if a.permission is Permission.DENY]
        allowed = [a for a in fitting if a.permission is Permission.ALLOW]
        return any(not any(_swallows(deny, allow) for deny in denied) for allow in allowed)


def _swallows(deny: Acl, allow: Acl) -> bool:
    if deny.pattern is PatternType.PREFIXED:
        return allow.name.startswith(deny.name)
    return deny.name == WILDCARD or (deny.name == allow.name and allow.pattern is PatternType.LITERAL)
