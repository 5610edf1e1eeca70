"""CreateAcls, DescribeAcls, DeleteAcls."""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum
from itertools import groupby
from typing import TypeVar

from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.messages.security import (
    AclCreation,
    AclCreationResult,
    AclDescription,
    AclsOfResource,
    CreateAclsRequest,
    CreateAclsResponse,
    DeleteAclsRequest,
    DeleteAclsResponse,
    DeleteAclsResult,
    DeletedAcl,
    DescribeAclsRequest,
    DescribeAclsResponse,
)
from headrace.wire.security.acls import Acl, AclFilter, Acls, check
from headrace.wire.security.resources import CLUSTER, Operation, PatternType, Permission, ResourceKind
from headrace.wire.services import Call, Services

Number = TypeVar("Number", bound=IntEnum)


def _known(kind: type[Number], number: int) -> Number:
    """Raises a Refusal for a number that has no meaning."""
    try:
        return kind(number)
    except ValueError:
        valid = ", ".join(f"{entry.value} ({entry.name})" for entry in kind)
        raise Refusal(ErrorCode.INVALID_REQUEST, f"{kind.__name__} {number}; known are {valid}") from None


def create_acls(services: Services, call: Call, request: CreateAclsRequest) -> CreateAclsResponse:
    """Rules that make no sense are refused one by one; the others take effect together."""
    outcomes = [_made(services, call, creation) for creation in request.creations]
    added = [outcome for outcome in outcomes if isinstance(outcome, Acl)]
    problem = AclCreationResult(ErrorCode.NONE)
    try:
        if added:
            state = services.security.state
            services.security.put(replace(state, acls=Acls([*state.acls, *added])))
    except Refusal as refusal:
        problem = AclCreationResult(refusal.code, refusal.message)
    return CreateAclsResponse(tuple(problem if isinstance(outcome, Acl) else outcome for outcome in outcomes))


def _made(services: Services, call: Call, creation: AclCreation) -> Acl | AclCreationResult:
    try:
        _require_enabled(services)
        call.require_administration(Operation.ALTER)
        acl = Acl(
            _known(ResourceKind, creation.resource_type),
            creation.resource_name,
            _known(PatternType, creation.resource_pattern_type),
            creation.principal,
            creation.host,
            _known(Operation, creation.operation),
            _known(Permission, creation.permission_type),
        )
        if acl.pattern not in (PatternType.LITERAL, PatternType.PREFIXED) or acl.permission is Permission.ANY:
            raise Refusal(ErrorCode.INVALID_REQUEST, "a rule is literal or prefixed, and allows or denies")
        return check(acl)
    except Refusal as refusal:
        return AclCreationResult(refusal.code, refusal.message)


def _require_enabled(services: Services) -> None:
    if not services.config.authenticated:
        raise Refusal(ErrorCode.SECURITY_DISABLED, "no authentication is set up, so nobody can be told apart")


def _filter(wanted: DescribeAclsRequest) -> AclFilter:
    return AclFilter(
        _known(ResourceKind, wanted.resource_type_filter),
        wanted.resource_name_filter,
        _known(PatternType, wanted.pattern_type_filter),
        wanted.principal_filter,
        wanted.host_filter,
        _known(Operation, wanted.operation),
        _known(Permission, wanted.permission_type),
    )


def describe_acls(services: Services, call: Call, request: DescribeAclsRequest) -> DescribeAclsResponse:
    try:
        _require_enabled(services)
        call.require(Operation.DESCRIBE, CLUSTER)
        found = services.security.state.acls.meant(_filter(request))
    except Refusal as refusal:
        return DescribeAclsResponse(refusal.code, refusal.message)
    by_pattern = groupby(found, key=lambda acl: (acl.kind, acl.name, acl.pattern))
    return DescribeAclsResponse(
        ErrorCode.NONE,
        resources=tuple(
            AclsOfResource(
                *pattern, tuple(AclDescription(a.principal, a.host, a.operation, a.permission) for a in acls)
            )
            for pattern, acls in by_pattern
        ),
    )


def delete_acls(services: Services, call: Call, request: DeleteAclsRequest) -> DeleteAclsResponse:
    return DeleteAclsResponse(tuple(_deleted(services, call, wanted) for wanted in request.filters))


def _deleted(services: Services, call: Call, wanted: DescribeAclsRequest) -> DeleteAclsResult:
    try:
        _require_enabled(services)
        call.require_administration(Operation.ALTER)
        state = services.security.state
        gone = state.acls.meant(_filter(wanted))
        if gone:
            services.security.put(replace(state, acls=Acls(set(state.acls) - set(gone))))
    except Refusal as refusal:
        return DeleteAclsResult(refusal.code, refusal.message)
    return DeleteAclsResult(
        ErrorCode.NONE,
        matching_acls=tuple(
            DeletedAcl(ErrorCode.NONE, None, a.kind, a.name, a.pattern, a.principal, a.host, a.operation, a.permission)
            for a in gone
        ),
    )
