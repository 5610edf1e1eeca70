"""Settings of groups, and the list of everything that has settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.coordinators.groups import check_group_id
from headrace.wire.handlers.topic_settings import DEFAULT, TYPE_INT
from headrace.wire.messages.configs import (
    AlteredResource,
    ConfigSynonym,
    DescribedConfig,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
    ListedResource,
)
from headrace.wire.security.resources import CLUSTER, Operation, group
from headrace.wire.services import Call, Services

TOPIC: Final = 2
BROKER: Final = 4
BROKER_LOGGER: Final = 8
CLIENT_METRICS: Final = 16
GROUP: Final = 32
_LISTED: Final = (TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP)

_SET_ON_GROUP: Final = 8
_SET: Final = 0
_DELETE: Final = 1
# Before this version there was only one kind to ask for.
_KINDS_SINCE: Final = 1


def described_group(services: Services, call: Call, name: str) -> list[DescribedConfig]:
    """Raises a Refusal. Groups that do not exist have settings too, so that they can be set beforehand."""
    call.require(Operation.DESCRIBE_CONFIGS, group(name))
    check_group_id(name)
    own, defaults = services.group_settings.of(name), services.group_settings.defaults()
    return [_entry(setting, own.get(setting), default) for setting, default in sorted(defaults.items())]


def _entry(name: str, own: str | None, default: str) -> DescribedConfig:
    inherited = ConfigSynonym(f"group.{name}", default, DEFAULT)
    if own is None:
        return DescribedConfig(name, default, config_source=DEFAULT, config_type=TYPE_INT, synonyms=(inherited,))
    synonyms = (ConfigSynonym(name, own, _SET_ON_GROUP), inherited)
    return DescribedConfig(name, own, config_source=_SET_ON_GROUP, config_type=TYPE_INT, synonyms=synonyms)


def alter_group(
    services: Services, call: Call, resource: AlteredResource, *, incremental: bool, validate_only: bool
) -> None:
    """`incremental`: settings that are not named stay as they are. Raises a Refusal; then nothing has changed."""
    name = resource.resource_name
    call.require(Operation.ALTER_CONFIGS, group(name))
    check_group_id(name)
    settings = dict(services.group_settings.of(name)) if incremental else {}
    for change in resource.configs:
        if change.config_operation == _DELETE:
            settings.pop(change.name, None)
        elif change.config_operation != _SET or change.value is None:
            raise Refusal(ErrorCode.INVALID_CONFIG, f"{change.name!r} can only be set to a value, or deleted")
        else:
            settings[change.name] = change.value
    services.group_settings.check(settings)
    if not validate_only:
        services.group_settings.put(name, settings)


def list_config_resources(
    services: Services, call: Call, request: ListConfigResourcesRequest
) -> ListConfigResourcesResponse:
    wanted = (CLIENT_METRICS,) if call.version < _KINDS_SINCE else request.resource_types or _LISTED
    try:
        call.require(Operation.DESCRIBE_CONFIGS, CLUSTER)
    except Refusal as refusal:
        return ListConfigResourcesResponse(refusal.code)
    if not set(wanted) <= set(_LISTED):
        return ListConfigResourcesResponse(ErrorCode.UNSUPPORTED_VERSION)
    listed = tuple(ListedResource(name, kind) for kind in _LISTED if kind in wanted for name in _names(services, kind))
    return ListConfigResourcesResponse(ErrorCode.NONE, listed)


def _names(services: Services, kind: int) -> Iterator[str]:
    """Clients have no settings here: the broker does not collect their metrics."""
    if kind == TOPIC:
        yield from services.store.topics
    elif kind in (BROKER, BROKER_LOGGER):
        yield str(services.config.node_id)
    elif kind == GROUP:
        yield from services.group_settings.groups()
