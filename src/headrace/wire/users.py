"""Passwords of users, set while no broker runs: how the first administrator comes in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from headrace.credential import OWN_USER
from headrace.errors import Conflict, ExternalFailure, InvalidInput, NotFound, did_you_mean
from headrace.log.directory import DirectoryLock, check_format
from headrace.log.storage import OsStorage
from headrace.wire.codes import Refusal
from headrace.wire.security.credentials import HASHES, from_password
from headrace.wire.security.registry import SecurityRegistry

# The broker that runs is the one that writes these: it takes a change at once.
_RUNNING_HINT: Final = (
    "of a broker that runs, change users with Kafka's tool: kafka-configs --bootstrap-server … --alter "
    "--entity-type users --entity-name USER --add-config 'SCRAM-SHA-512=[password=…]' "
    "(or --delete-config SCRAM-SHA-512); or stop the broker first"
)


def set_password(data_dir: Path, user: str, password: str) -> None:
    """The user can authenticate with it, by every mechanism, once the broker is started.

    Raises InvalidInput, Conflict when a broker runs on the directory, ExternalFailure when the disk refused.
    """
    if not user or "\0" in user or "," in user or user == OWN_USER:
        raise InvalidInput(f"{user!r} is no user name", valid=[f"any text without commas, but {OWN_USER}"])
    if not password:
        raise InvalidInput("the password is empty")
    with _registry(data_dir) as registry:
        state = registry.state
        for mechanism in HASHES:
            state = state.with_credential(user, mechanism, from_password(mechanism, password))
        registry.put(state)


def remove_user(data_dir: Path, user: str) -> None:
    """Raises NotFound, and as `set_password`."""
    with _registry(data_dir) as registry:
        known = registry.state.credentials
        if user not in known:
            raise NotFound(f"no user {user!r}", hint=did_you_mean(user, known))
        state = registry.state
        for mechanism in known[user]:
            state = state.with_credential(user, mechanism, None)
        registry.put(state)


def list_users(data_dir: Path) -> dict[str, tuple[str, ...]]:
    """Users and the mechanisms they can authenticate with."""
    return {user: tuple(sorted(own)) for user, own in sorted(SecurityRegistry(data_dir).state.credentials.items())}


@contextmanager
def _registry(data_dir: Path) -> Iterator[SecurityRegistry]:
    storage = OsStorage()
    storage.make_directory(data_dir)
    try:
        lock = DirectoryLock(data_dir)
    except Conflict as conflict:
        raise Conflict(conflict.message, hint=_RUNNING_HINT) from None
    try:
        check_format(storage, data_dir)
        yield SecurityRegistry(data_dir)
    except Refusal as refusal:
        raise ExternalFailure(refusal.message) from refusal
    finally:
        lock.release()
