"""DescribeClientQuotas, AlterClientQuotas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.messages.security import (
    AlteredQuota,
    AlteredQuotaResult,
    AlterQuotasRequest,
    AlterQuotasResponse,
    DescribeQuotasRequest,
    DescribeQuotasResponse,
    QuotaComponent,
    QuotaEntity,
    QuotaEntry,
    QuotaValue,
)
from headrace.wire.security.quota_book import CLIENT_ID, DEFAULT, ENTITY_TYPES, RATES, USER, QuotaKey
from headrace.wire.security.resources import CLUSTER, Operation
from headrace.wire.services import Call, Services

_EXACT: Final = 0
_DEFAULT: Final = 1
_ANY: Final = 2


def describe_quotas(services: Services, call: Call, request: DescribeQuotasRequest) -> DescribeQuotasResponse:
    try:
        call.require(Operation.DESCRIBE_CONFIGS, CLUSTER)
        wanted = _components(request)
    except Refusal as refusal:
        return DescribeQuotasResponse(refusal.code, refusal.message)
    return DescribeQuotasResponse(
        ErrorCode.NONE,
        entries=tuple(
            QuotaEntry(_entities(key), tuple(QuotaValue(name, rate) for name, rate in sorted(rates.items())))
            for key, rates in services.security.state.quotas
            if _fits(_parts(key), wanted, request.strict)
        ),
    )


def _components(request: DescribeQuotasRequest) -> dict[str, QuotaComponent]:
    wanted = {component.entity_type: component for component in request.components}
    for component in request.components:
        if component.entity_type not in ENTITY_TYPES:
            raise _unknown_type(ErrorCode.UNSUPPORTED_VERSION, component.entity_type)
        if component.match_type not in (_EXACT, _DEFAULT, _ANY):
            raise Refusal(ErrorCode.INVALID_REQUEST, f"match type {component.match_type}; known are 0, 1 and 2")
    if len(wanted) < len(request.components):
        raise Refusal(ErrorCode.INVALID_REQUEST, "an entity type is named more than once")
    return wanted


def _unknown_type(code: ErrorCode, name: str) -> Refusal:
    return Refusal(code, f"entity type {name!r}; known are {', '.join(ENTITY_TYPES)}")


def _parts(key: QuotaKey) -> dict[str, str]:
    found = {USER: key.user, CLIENT_ID: key.client_id}
    return {kind: name for kind, name in found.items() if name is not None}


def _fits(parts: Mapping[str, str], wanted: Mapping[str, QuotaComponent], strict: bool) -> bool:
    if strict and set(parts) != set(wanted):
        return False
    return all(kind in parts and _matches(parts[kind], component) for kind, component in wanted.items())


def _matches(name: str, component: QuotaComponent) -> bool:
    if component.match_type == _EXACT:
        return name == component.match
    return component.match_type == _ANY or name == DEFAULT


def _entities(key: QuotaKey) -> tuple[QuotaEntity, ...]:
    return tuple(QuotaEntity(kind, None if name == DEFAULT else name) for kind, name in _parts(key).items())


def alter_quotas(services: Services, call: Call, request: AlterQuotasRequest) -> AlterQuotasResponse:
    return AlterQuotasResponse(
        tuple(_altered(services, call, entry, validate_only=request.validate_only) for entry in request.entries)
    )


def _altered(services: Services, call: Call, entry: AlteredQuota, *, validate_only: bool) -> AlteredQuotaResult:
    try:
        call.require_administration(Operation.ALTER_CONFIGS)
        key = _key(entry.entity)
        state = services.security.state
        rates = dict(state.quotas.rules.get(key, {}))
        for operation in entry.ops:
            if operation.key not in RATES:
                raise Refusal(ErrorCode.INVALID_REQUEST, f"quota {operation.key!r}; known are {', '.join(RATES)}")
            if operation.remove:
                rates.pop(operation.key, None)
            elif not operation.value > 0:
                raise Refusal(ErrorCode.INVALID_REQUEST, f"{operation.key} must be more than 0 bytes a second")
            else:
                rates[operation.key] = operation.value
        if not validate_only:
            services.security.put(replace(state, quotas=state.quotas.with_rule(key, rates)))
    except Refusal as refusal:
        return AlteredQuotaResult(refusal.code, refusal.message, entry.entity)
    return AlteredQuotaResult(ErrorCode.NONE, None, entry.entity)


def _key(entities: tuple[QuotaEntity, ...]) -> QuotaKey:
    names: dict[str, str] = {}
    for entity in entities:
        if entity.entity_type not in ENTITY_TYPES:
            raise _unknown_type(ErrorCode.INVALID_REQUEST, entity.entity_type)
        if entity.entity_type in names or entity.entity_name == "":
            raise Refusal(ErrorCode.INVALID_REQUEST, "an entity type is named twice, or its name is empty")
        names[entity.entity_type] = DEFAULT if entity.entity_name is None else entity.entity_name
    if not names:
        raise Refusal(ErrorCode.INVALID_REQUEST, "no entity is named")
    return QuotaKey(names.get(USER), names.get(CLIENT_ID))
