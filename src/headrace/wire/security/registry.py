"""Credentials, access control lists and quotas, in one private file that is replaced whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from headrace.errors import CorruptData, DiskFailure
from headrace.process.files import PRIVATE, write_atomically
from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.security.acls import Acl, Acls
from headrace.wire.security.credentials import Credential
from headrace.wire.security.quota_book import QuotaBook, QuotaKey
from headrace.wire.security.resources import Operation, PatternType, Permission, ResourceKind

SECURITY_FILE: Final = "security.json"
FORMAT_VERSION: Final = 1
USERS_MAX: Final = 10_000
ACLS_MAX: Final = 10_000
QUOTAS_MAX: Final = 10_000


@dataclass(frozen=True, slots=True)
class SecurityState:
    """Credentials by user and mechanism."""

    credentials: Mapping[str, Mapping[str, Credential]] = field(default_factory=dict)
    acls: Acls = field(default_factory=Acls)
    quotas: QuotaBook = field(default_factory=QuotaBook)

    def with_credential(self, user: str, mechanism: str, credential: Credential | None) -> SecurityState:
        """None removes it."""
        own = {known: found for known, found in self.credentials.get(user, {}).items() if known != mechanism}
        if credential is not None:
            own[mechanism] = credential
        others = {known: found for known, found in self.credentials.items() if known != user}
        return replace(self, credentials={**others, user: own} if own else others)


class SecurityRegistry:
    """What is in the file is what holds: a change takes effect once it is on disk."""

    def __init__(self, directory: Path) -> None:
        """Reads the file, if there is one. Raises CorruptData."""
        self._path = directory / SECURITY_FILE
        self.state = _load(self._path)

    def put(self, state: SecurityState) -> None:
        """Raises a Refusal when a limit is passed or the disk refused; then everything is as before."""
        counts = ((state.credentials, USERS_MAX), (state.acls, ACLS_MAX), (state.quotas.rules, QUOTAS_MAX))
        if any(len(entries) > most for entries, most in counts):
            raise Refusal(
                ErrorCode.POLICY_VIOLATION, f"at most {USERS_MAX} users, {ACLS_MAX} ACLs and {QUOTAS_MAX} quotas"
            )
        try:
            write_atomically(self._path, json.dumps(_to_dict(state), indent=1), mode=PRIVATE)
        except DiskFailure as error:
            raise Refusal(ErrorCode.KAFKA_STORAGE_ERROR, error.message) from error
        self.state = state


def _to_dict(state: SecurityState) -> dict[str, object]:
    return {
        "format_version": FORMAT_VERSION,
        "credentials": {
            user: {mechanism: credential.to_dict() for mechanism, credential in own.items()}
            for user, own in state.credentials.items()
        },
        "acls": [
            [a.kind.name, a.name, a.pattern.name, a.principal, a.host, a.operation.name, a.permission.name]
            for a in state.acls
        ],
        "quotas": [{"user": key.user, "client_id": key.client_id, "rates": dict(r)} for key, r in state.quotas],
    }


def _load(path: Path) -> SecurityState:
    try:
        content = json.loads(path.read_text())
        if int(content["format_version"]) > FORMAT_VERSION:
            raise ValueError(f"format version {content['format_version']} is newer than {FORMAT_VERSION}")
        return SecurityState(
            {
                user: {mechanism: Credential.from_dict(fields) for mechanism, fields in own.items()}
                for user, own in content["credentials"].items()
            },
            Acls(_acl(fields) for fields in content["acls"]),
            QuotaBook({QuotaKey(q["user"], q["client_id"]): q["rates"] for q in content["quotas"]}),
        )
    except FileNotFoundError:
        return SecurityState()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CorruptData(
            f"{path} cannot be read: {type(error).__name__}: {error}", hint="restore it from a backup"
        ) from error


def _acl(fields: list[Any]) -> Acl:
    kind, name, pattern, principal, host, operation, permission = fields
    return Acl(
        ResourceKind[kind],
        name,
        PatternType[pattern],
        principal,
        host,
        Operation[operation],
        Permission[permission],
    )
