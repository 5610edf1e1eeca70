"""DescribeUserScramCredentials, AlterUserScramCredentials."""

from __future__ import annotations

from headrace.credential import OWN_USER
from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.messages.security import (
    AlteredUser,
    AlterScramRequest,
    AlterScramResponse,
    CredentialInfo,
    DescribedUser,
    DescribeScramRequest,
    DescribeScramResponse,
    ScramUpsertion,
)
from headrace.wire.security.credentials import MECHANISM_NUMBERS, Credential, from_salted_password
from headrace.wire.security.resources import CLUSTER, Operation
from headrace.wire.services import Call, Services


def describe_scram(services: Services, call: Call, request: DescribeScramRequest) -> DescribeScramResponse:
    """Mechanisms and iterations; never the keys."""
    try:
        call.require(Operation.DESCRIBE, CLUSTER)
    except Refusal as refusal:
        return DescribeScramResponse(refusal.code, refusal.message)
    known = services.security.state.credentials
    names = [entry.name for entry in request.users] if request.users else sorted(known)
    return DescribeScramResponse(
        ErrorCode.NONE, None, tuple(_described(name, names, known.get(name)) for name in names)
    )


def _described(name: str, asked: list[str], own: object) -> DescribedUser:
    if asked.count(name) > 1:
        return DescribedUser(name, ErrorCode.DUPLICATE_RESOURCE, f"{name!r} is named more than once")
    if not isinstance(own, dict):
        return DescribedUser(name, ErrorCode.RESOURCE_NOT_FOUND, f"no user {name!r} with SCRAM credentials")
    numbers = {mechanism: number for number, mechanism in MECHANISM_NUMBERS.items()}
    infos = tuple(CredentialInfo(numbers[mechanism], found.iterations) for mechanism, found in sorted(own.items()))
    return DescribedUser(name, ErrorCode.NONE, None, infos)


def alter_scram(services: Services, call: Call, request: AlterScramRequest) -> AlterScramResponse:
    """One answer for each user; a user's changes take effect together or not at all."""
    users = dict.fromkeys([*(entry.name for entry in request.deletions), *(entry.name for entry in request.upsertions)])
    return AlterScramResponse(tuple(_altered(services, call, request, user) for user in users))


def _altered(services: Services, call: Call, request: AlterScramRequest, user: str) -> AlteredUser:
    try:
        call.require_administration(Operation.ALTER)
        changes = _changes(services, request, user)
        state = services.security.state
        for mechanism, credential in changes:
            state = state.with_credential(user, mechanism, credential)
        services.security.put(state)
    except Refusal as refusal:
        return AlteredUser(user, refusal.code, refusal.message)
    return AlteredUser(user, ErrorCode.NONE)


def _changes(services: Services, request: AlterScramRequest, user: str) -> list[tuple[str, Credential | None]]:
    if not user:
        raise Refusal(ErrorCode.UNACCEPTABLE_CREDENTIAL, "the user's name is empty")
    if user == OWN_USER:
        raise Refusal(ErrorCode.UNACCEPTABLE_CREDENTIAL, f"{user} stands for Headrace's own parts")
    own = services.security.state.credentials.get(user, {})
    changes: list[tuple[str, Credential | None]] = []
    for deletion in request.deletions:
        if deletion.name == user:
            mechanism = _mechanism(deletion.mechanism)
            if mechanism not in own:
                raise Refusal(ErrorCode.RESOURCE_NOT_FOUND, f"{user!r} has no credential for {mechanism}")
            changes.append((mechanism, None))
    changes += [_upserted(entry) for entry in request.upsertions if entry.name == user]
    mechanisms = [mechanism for mechanism, _ in changes]
    if len(set(mechanisms)) < len(mechanisms):
        raise Refusal(ErrorCode.DUPLICATE_RESOURCE, f"a credential of {user!r} is changed more than once")
    return changes


def _upserted(entry: ScramUpsertion) -> tuple[str, Credential]:
    mechanism = _mechanism(entry.mechanism)
    return mechanism, from_salted_password(mechanism, entry.salted_password, entry.salt, entry.iterations)


def _mechanism(number: int) -> str:
    if number not in MECHANISM_NUMBERS:
        raise Refusal(ErrorCode.UNSUPPORTED_SASL_MECHANISM, f"mechanism {number}; known are {MECHANISM_NUMBERS}")
    return MECHANISM_NUMBERS[number]
