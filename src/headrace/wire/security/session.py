"""One connection's way from unknown to authenticated. No sockets here: tokens in, tokens out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from headrace.credential import OWN_MECHANISM, OWN_USER
from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.door import LOOPBACK, address_of
from headrace.wire.security.access import Access
from headrace.wire.security.acls import Acls
from headrace.wire.security.credentials import HASHES, PLAIN, Credential, decoy, is_password
from headrace.wire.security.registry import SecurityState

TOKEN_BYTES_MAX: Final = 64 * 1024
OWN_PRINCIPAL: Final = f"User:{OWN_USER}"


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """How clients of one listener prove who they are, and whether they are bound by access control lists."""

    state: Callable[[], SecurityState]
    mechanisms: tuple[str, ...] = ()
    super_users: frozenset[str] = frozenset()
    enforces_acls: bool = False
    # That of our own parts, who may authenticate on every listener of this machine.
    own: Credential | None = None
    # Whether a client may stay that does not authenticate.
    anonymous: bool = True

    @property
    def offered(self) -> tuple[str, ...]:
        """All mechanisms that a client may choose."""
        extra = () if self.own is None or OWN_MECHANISM in self.mechanisms else (OWN_MECHANISM,)
        return (*self.mechanisms, *extra)

    def known(self, mechanism: str) -> SecurityState:
        """Who may authenticate by a mechanism."""
        users = self.state() if mechanism in self.mechanisms else SecurityState()
        # Nobody can take that name, whatever a file says.
        for known in HASHES:
            users = users.with_credential(OWN_USER, known, self.own if known == OWN_MECHANISM else None)
        return users

    def access_of(self, principal: str, host: str) -> Access:
        if principal == OWN_PRINCIPAL:
            return Access(principal, host, own=True)
        bound = self.enforces_acls and principal not in self.super_users
        return Access(principal, host, self._acls if bound else None)

    def _acls(self) -> Acls:
        return self.state().acls


class Exchange(Protocol):
    """One authentication. `answer` gets each token of the client; `user` is known once it succeeded."""

    user: str | None

    def answer(self, token: bytes) -> bytes:
        """Raises a Refusal when the client is not who it says. May take milliseconds."""
        ...


class Session:
    """What the broker knows of whoever is on a connection."""

    def __init__(self, policy: AccessPolicy, principal: str, host: str) -> None:
        """`principal` is what the connection itself proved, by a certificate for instance."""
        self._policy = policy
        self._host = host
        self._exchange: Exchange | None = None
        self.access = policy.access_of(principal, host)
        self.authenticated = not policy.mechanisms and policy.anonymous
        # The client failed to prove who it is: the connection ends with the answer.
        self.rejected = False
        # The client took more than its share: it is not served for so long after the answer.
        self.throttle_ms = 0

    @property
    def mechanisms(self) -> tuple[str, ...]:
        return self._policy.offered

    def choose(self, mechanism: str) -> None:
        """Begin an authentication. Raises a Refusal."""
        if mechanism not in self._policy.offered:
            self.rejected = True
            raise Refusal(ErrorCode.UNSUPPORTED_SASL_MECHANISM, f"enabled are {', '.join(self.mechanisms)}")
        kind = PlainExchange if mechanism == PLAIN else ScramExchange
        self._exchange = kind(mechanism, self._policy.known(mechanism))

    def answer(self, token: bytes) -> bytes:
        """The broker's answer to a client's token. Raises a Refusal; the client may then not try again."""
        if self._exchange is None:
            self.rejected = True
            raise Refusal(ErrorCode.ILLEGAL_SASL_STATE, "a mechanism is chosen first")
        try:
            if len(token) > TOKEN_BYTES_MAX:
                raise Refusal(ErrorCode.SASL_AUTHENTICATION_FAILED, "the token is too long")
            answer = self._exchange.answer(token)
        except Refusal:
            self.rejected, self._exchange = True, None
            raise
        if self._exchange.user is not None:
            self._require_place(self._exchange.user)
            self.access = self._policy.access_of(f"User:{self._exchange.user}", self._host)
            self.authenticated, self._exchange = True, None
        return answer

    def _require_place(self, user: str) -> None:
        """Our own parts are on this machine."""
        if user == OWN_USER and address_of(self._host) != LOOPBACK:
            self.rejected, self._exchange = True, None
            raise Refusal(ErrorCode.SASL_AUTHENTICATION_FAILED, f"{OWN_USER} is only known on loopback")


class PlainExchange:
    """User and password in one token, compared with what SCRAM keeps of the password."""

    def __init__(self, mechanism: str, state: SecurityState) -> None:
        self._state = state
        self.user: str | None = None

    def answer(self, token: bytes) -> bytes:
        try:
            authorization_id, user, password = token.decode().split("\0")
        except ValueError:
            raise Refusal(
                ErrorCode.SASL_AUTHENTICATION_FAILED, "the token is not authzid NUL user NUL password"
            ) from None
        known = self._state.credentials.get(user, {})
        mechanism = next(iter(known), "SCRAM-SHA-512")
        credential = known.get(mechanism) or decoy(mechanism)
        if authorization_id not in ("", user) or not is_password(mechanism, credential, password):
            raise Refusal(ErrorCode.SASL_AUTHENTICATION_FAILED, "invalid username or password")
        self.user = user
        return b""


class ScramExchange:
    def __init__(self, mechanism: str, state: SecurityState) -> None:
        from scramp import ScramMechanism  # noqa: PLC0415 - most brokers never need it

        self._mechanism = mechanism
        self._state = state
        self._claimed = ""
        self._server: Any = ScramMechanism(mechanism).make_server(self._credential)
        self._first_done = False
        self.user: str | None = None

    def _credential(self, user: str) -> tuple[bytes, bytes, bytes, int]:
        self._claimed = user
        found = self._state.credentials.get(user, {}).get(self._mechanism) or decoy(self._mechanism)
        return found.salt, found.stored_key, found.server_key, found.iterations

    def answer(self, token: bytes) -> bytes:
        from scramp import ScramException  # noqa: PLC0415

        try:
            answer = self._step(token.decode())
        except (ScramException, ValueError, KeyError, IndexError, AttributeError, TypeError):
            raise Refusal(
                ErrorCode.SASL_AUTHENTICATION_FAILED, f"invalid credentials with SASL mechanism {self._mechanism}"
            ) from None
        return answer.encode()

    def _step(self, message: str) -> str:
        if not self._first_done:
            self._server.set_client_first(message)
            self._first_done = True
            return str(self._server.get_server_first())
        self._server.set_client_final(message)
        final = str(self._server.get_server_final())
        self.user = self._claimed
        return final
