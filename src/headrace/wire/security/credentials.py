"""Passwords as SCRAM keeps them: salted and hashed. Nothing here can be turned back into a password."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from headrace.credential import OWN_MECHANISM, credential_path
from headrace.errors import DiskFailure
from headrace.process.files import PRIVATE, write_atomically
from headrace.wire.codes import ErrorCode, Refusal

# Kafka's numbers of the mechanisms, and the hash of each.
MECHANISM_NUMBERS: Final = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}
HASHES: Final = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
PLAIN: Final = "PLAIN"
MECHANISMS: Final = (*HASHES, PLAIN)

ITERATIONS_MIN: Final = 4_096
ITERATIONS_MAX: Final = 16_384
ITERATIONS: Final = 8_192
SALT_BYTES: Final = 24
# Of the secret of a data directory: nobody guesses it, so that few iterations do.
SECRET_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class Credential:
    iterations: int
    salt: bytes = field(repr=False)
    stored_key: bytes = field(repr=False)
    server_key: bytes = field(repr=False)

    def to_dict(self) -> dict[str, object]:
        keys = {"salt": self.salt, "stored_key": self.stored_key, "server_key": self.server_key}
        return {"iterations": self.iterations} | {name: base64.b64encode(raw).decode() for name, raw in keys.items()}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Credential:
        """Raises ValueError, KeyError."""
        salt, stored_key, server_key = (
            base64.b64decode(fields[name], validate=True) for name in ("salt", "stored_key", "server_key")
        )
        return cls(int(fields["iterations"]), salt, stored_key, server_key)


def from_salted_password(mechanism: str, salted_password: bytes, salt: bytes, iterations: int) -> Credential:
    """What an administrator's client sends. Raises a Refusal for iterations or salts that would not protect it."""
    if not ITERATIONS_MIN <= iterations <= ITERATIONS_MAX:
        raise Refusal(
            ErrorCode.UNACCEPTABLE_CREDENTIAL,
            f"{iterations} iterations; {ITERATIONS_MIN} to {ITERATIONS_MAX} are valid",
        )
    if not salt or len(salted_password) != hashlib.new(HASHES[mechanism]).digest_size:
        raise Refusal(ErrorCode.UNACCEPTABLE_CREDENTIAL, "an empty salt, or a password that is not hashed as it says")
    name = HASHES[mechanism]
    client_key = hmac.digest(salted_password, b"Client Key", name)
    server_key = hmac.digest(salted_password, b"Server Key", name)
    return Credential(iterations, salt, hashlib.new(name, client_key).digest(), server_key)


def from_password(mechanism: str, password: str) -> Credential:
    salt = secrets.token_bytes(SALT_BYTES)
    salted = hashlib.pbkdf2_hmac(HASHES[mechanism], password.encode(), salt, ITERATIONS)
    return from_salted_password(mechanism, salted, salt, ITERATIONS)


def own_credential(directory: Path) -> Credential:
    """Of our own parts, made the first time. Raises DiskFailure."""
    path = credential_path(directory)
    try:
        secret = path.read_text().strip()
    except FileNotFoundError:
        secret = ""
    except OSError as error:
        raise DiskFailure(f"{path} cannot be read: {error.strerror}") from error
    if not secret:
        secret = secrets.token_urlsafe(SECRET_BYTES)
        write_atomically(path, secret + "\n", mode=PRIVATE)
    salt = secrets.token_bytes(SALT_BYTES)
    salted = hashlib.pbkdf2_hmac(HASHES[OWN_MECHANISM], secret.encode(), salt, ITERATIONS_MIN)
    return from_salted_password(OWN_MECHANISM, salted, salt, ITERATIONS_MIN)


def is_password(mechanism: str, credential: Credential, password: str) -> bool:
    """Takes milliseconds: not for the event loop's own thread."""
    salted = hashlib.pbkdf2_hmac(HASHES[mechanism], password.encode(), credential.salt, credential.iterations)
    found = from_salted_password(mechanism, salted, credential.salt, credential.iterations)
    return hmac.compare_digest(found.stored_key, credential.stored_key)


def decoy(mechanism: str) -> Credential:
    """For a user that does not exist: the exchange fails at its end, as with a wrong password."""
    size = hashlib.new(HASHES[mechanism]).digest_size
    return Credential(ITERATIONS, secrets.token_bytes(SALT_BYTES), secrets.token_bytes(size), secrets.token_bytes(size))
