"""One way in: an address, whether it is encrypted, and how clients prove who they are there."""

from __future__ import annotations

import socket
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from headrace.errors import InvalidConfig
from headrace.wire.config import BrokerConfig
from headrace.wire.security.access import ANONYMOUS
from headrace.wire.security.credentials import Credential
from headrace.wire.security.registry import SecurityRegistry
from headrace.wire.security.session import AccessPolicy, Session
from headrace.wire.services import Endpoint

# The names that RFC 2253 has; others stay as OpenSSL calls them.
_SHORT: Final = {
    "commonName": "CN",
    "countryName": "C",
    "domainComponent": "DC",
    "localityName": "L",
    "organizationName": "O",
    "organizationalUnitName": "OU",
    "stateOrProvinceName": "ST",
    "streetAddress": "STREET",
    "userId": "UID",
}
_ESCAPED: Final = frozenset(',=+<>#;"\\')

# A peer that is gone without a word is noticed after IDLE + CNT × INTVL seconds.
KEEP_ALIVE: Final = {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 15, "TCP_KEEPCNT": 4}


@dataclass(frozen=True, slots=True)
class Listener:
    """`endpoint` is what clients are told; the port is known once it listens."""

    endpoint: Endpoint
    policy: AccessPolicy

    def session(self, host: str, certificate: dict[str, Any] | None) -> Session:
        """For a new connection from a host, with the client's certificate if it showed one."""
        return Session(self.policy, ANONYMOUS if not certificate else principal_of(certificate), host)


def policy_of(config: BrokerConfig, registry: SecurityRegistry, own: Credential) -> AccessPolicy:
    """Of the main listener."""
    return AccessPolicy(
        lambda: registry.state,
        config.sasl_mechanisms,
        frozenset(f"User:{user}" for user in config.super_users),
        config.authenticated and config.authorization == "acls",
        own,
        config.anonymous,
    )


def local_policy(config: BrokerConfig, registry: SecurityRegistry, own: Credential) -> AccessPolicy:
    """Of the second listener, on loopback. Where others prove who they are it is for our own parts alone."""
    return AccessPolicy(lambda: registry.state, own=own, anonymous=not config.closed)


def principal_of(certificate: dict[str, Any]) -> str:
    """The subject's distinguished name as RFC 2253 writes it, most particular part first, as Kafka does."""
    parts = ["+".join(_part(name, value) for name, value in group) for group in certificate.get("subject", ())]
    return "User:" + ",".join(reversed(parts))


def _part(name: str, value: str) -> str:
    """No value can look like the end of its part, or like a further one. Java escapes the same characters."""
    inner = value.strip(" ")
    start = value.find(inner) if inner else len(value)
    escaped = "".join(f"\\{one}" if one in _ESCAPED else one for one in inner).replace("\0", "\\00")
    before, after = "\\ " * start, "\\ " * (len(value) - start - len(inner))
    return f"{_SHORT.get(name, name)}={before}{escaped}{after}"


def tls_context(config: BrokerConfig) -> ssl.SSLContext | None:
    """None when no certificate is set. Raises InvalidConfig that names the file."""
    if config.tls_certificate is None or config.tls_key is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(config.tls_certificate, config.tls_key)
    except (OSError, ssl.SSLError) as error:
        raise _unreadable(config.tls_certificate, error) from None
    if config.tls_client_ca is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        try:
            context.load_verify_locations(config.tls_client_ca)
        except (OSError, ssl.SSLError) as error:
            raise _unreadable(config.tls_client_ca, error) from None
    return context


def _unreadable(path: Path, error: Exception) -> InvalidConfig:
    return InvalidConfig(
        f"TLS certificate {path} cannot be used: {error}", hint="PEM files, the key without a password"
    )


def keep_alive(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEEP_ALIVE.items():
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
