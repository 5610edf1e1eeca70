"""DescribeConfigs, AlterConfigs, IncrementalAlterConfigs, under the names that Kafka's tools know."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from headrace.log import Topic, TopicConfig
from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.handlers.creation import as_refusals
from headrace.wire.handlers.group_configs import GROUP, alter_group, described_group
from headrace.wire.handlers.topic_settings import (
    DEFAULT,
    SET_ON_TOPIC,
    STATIC_BROKER_SETTING,
    broker_name,
    default_of,
    source_of,
    text_of,
    type_of,
)
from headrace.wire.messages.configs import (
    AlterConfigsRequest,
    AlterConfigsResponse,
    AlteredConfig,
    AlteredResource,
    AlteredResult,
    ConfigResource,
    ConfigSynonym,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribedConfig,
    DescribedResource,
)
from headrace.wire.security.resources import CLUSTER, Operation, topic
from headrace.wire.services import INTERNAL_TOPICS, Call, Services

_TOPIC: Final = 2
_BROKER: Final = 4

_SET: Final = 0
_DELETE: Final = 1
_APPEND: Final = 2
_SUBTRACT: Final = 3
_LISTS: Final = (
    "cleanup.policy",
    "follower.replication.throttled.replicas",
    "leader.replication.throttled.replicas",
)


def describe_configs(services: Services, call: Call, request: DescribeConfigsRequest) -> DescribeConfigsResponse:
    return DescribeConfigsResponse(tuple(_described(services, call, request, entry) for entry in request.resources))


def _described(
    services: Services, call: Call, request: DescribeConfigsRequest, resource: ConfigResource
) -> DescribedResource:
    kind, name = resource.resource_type, resource.resource_name
    try:
        entries = _entries(services, call, kind, name)
    except Refusal as refusal:
        return DescribedResource(refusal.code, refusal.message, kind, name)
    wanted = resource.configuration_keys
    shown = tuple(_shown(entry, request) for entry in entries if wanted is None or not wanted or entry.name in wanted)
    return DescribedResource(ErrorCode.NONE, None, kind, name, shown)


def _shown(entry: DescribedConfig, request: DescribeConfigsRequest) -> DescribedConfig:
    return DescribedConfig(
        entry.name,
        entry.value,
        entry.read_only,
        entry.config_source,
        config_type=entry.config_type,
        synonyms=entry.synonyms if request.include_synonyms else (),
        documentation=entry.documentation if request.include_documentation else None,
    )


def _entries(services: Services, call: Call, kind: int, name: str) -> list[DescribedConfig]:
    if kind == _TOPIC:
        call.require(Operation.DESCRIBE_CONFIGS, topic(name))
        found = services.store.topics.get(name)
        if found is None:
            raise Refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"no topic {name!r}")
        settings = [_topic_entry(setting, value) for setting, value in sorted(found.config.to_names().items())]
        return settings + [_figure(figure, value) for figure, value in _backlog(services, found).items()]
    if kind == _BROKER and name in ("", str(services.config.node_id)):
        call.require(Operation.DESCRIBE_CONFIGS, CLUSTER)
        settings = [_broker_entry(setting, value) for setting, value in sorted(_broker_settings(services).items())]
        return settings + [_figure(figure, value) for figure, value in _groups(services).items()]
    if kind == GROUP:
        return described_group(services, call, name)
    raise _unknown_resource(services, kind, name)


def _backlog(services: Services, topic: Topic) -> dict[str, int]:
    """What became of the topic's limit, beside it: tools show it without knowing of it."""
    if topic.config.headrace_backlog_policy == "unbounded":
        return {}
    pressure, counts = services.store.pressure, services.store.pressure.counts(topic.name)
    return {
        "headrace.backlog.now.records": max(pressure.backlog(partition) for partition in topic.partitions),
        "headrace.backlog.blocked.requests": counts.blocked_requests,
        "headrace.backlog.dropped.requests": counts.dropped_requests,
        "headrace.backlog.timed.out.requests": counts.timed_out_requests,
    }


def _groups(services: Services) -> dict[str, int]:
    """How near the broker is to the limit, and what became of that."""
    return {
        "headrace.groups.now": services.group_room.count(),
        "headrace.groups.max": services.config.groups_max,
        "headrace.groups.refused.requests": services.group_room.refused_requests,
    }


def _figure(name: str, value: int) -> DescribedConfig:
    return DescribedConfig(name, str(value), True, DEFAULT, config_type=type_of(name, str(value)))


def _unknown_resource(services: Services, kind: int, name: str) -> Refusal:
    known = f"known are 2 (topic), 4 (broker {services.config.node_id}) and 32 (group)"
    return Refusal(ErrorCode.INVALID_REQUEST, f"resource type {kind} named {name!r}; {known}")


def _topic_entry(name: str, value: str) -> DescribedConfig:
    source, alias = source_of(name, value), broker_name(name)
    own = () if source == DEFAULT else (ConfigSynonym(name, value, SET_ON_TOPIC),)
    inherited = () if alias is None else (ConfigSynonym(alias, default_of(name), DEFAULT),)
    return DescribedConfig(
        name,
        value,
        config_source=source,
        config_type=type_of(name, value),
        synonyms=(*own, *inherited),
        documentation=text_of(name),
    )


def _broker_entry(name: str, value: str) -> DescribedConfig:
    synonyms = (ConfigSynonym(name, value, STATIC_BROKER_SETTING),)
    kind = type_of(name, value)
    return DescribedConfig(name, value, True, STATIC_BROKER_SETTING, config_type=kind, synonyms=synonyms)


def _broker_settings(services: Services) -> dict[str, str]:
    config = services.config
    settings = {
        "auto.create.topics.enable": str(config.auto_create_topics).lower(),
        "broker.id": str(config.node_id),
        "connections.max.idle.ms": str(config.connections_idle_ms_max),
        "default.replication.factor": "1",
        "group.consumer.heartbeat.interval.ms": str(config.consumer_heartbeat_interval_ms),
        "group.consumer.session.timeout.ms": str(config.consumer_session_timeout_ms),
        "group.max.size": str(config.group_members_max),
        "group.max.session.timeout.ms": str(config.session_timeout_ms_max),
        "group.min.session.timeout.ms": str(config.session_timeout_ms_min),
        "group.initial.rebalance.delay.ms": str(config.rebalance_delay_ms),
        "log.dirs": str(services.store.directory),
        "max.connections": str(config.connections_max),
        "max.connections.per.ip": str(config.connections_per_address_max),
        "min.insync.replicas": "1",
        "node.id": str(config.node_id),
        "num.partitions": str(config.default_partition_count),
        "offset.metadata.max.bytes": str(config.offset_metadata_bytes_max),
        "socket.request.max.bytes": str(config.request_bytes_max),
        "transaction.max.timeout.ms": str(config.transaction_timeout_ms_max),
    }
    defaults = TopicConfig().to_names()
    return settings | {alias: defaults[name] for name in defaults if (alias := broker_name(name)) is not None}


# -- changing ---------------------------------------------------------------------------------------------------


def alter_configs(services: Services, call: Call, request: AlterConfigsRequest) -> AlterConfigsResponse:
    """The settings given are all that differ from the defaults afterwards."""
    return _altered_all(services, call, request, _replaced)


def incremental_alter_configs(services: Services, call: Call, request: AlterConfigsRequest) -> AlterConfigsResponse:
    """The settings not named stay as they are."""
    return _altered_all(services, call, request, _changed)


_Change = Callable[[Mapping[str, str], tuple[AlteredConfig, ...]], dict[str, str]]


def _altered_all(services: Services, call: Call, request: AlterConfigsRequest, change: _Change) -> AlterConfigsResponse:
    return AlterConfigsResponse(
        tuple(_altered(services, call, entry, change, request.validate_only) for entry in request.resources)
    )


def _altered(
    services: Services, call: Call, resource: AlteredResource, change: _Change, validate_only: bool
) -> AlteredResult:
    kind, name = resource.resource_type, resource.resource_name
    try:
        if kind == GROUP:
            alter_group(services, call, resource, incremental=change is _changed, validate_only=validate_only)
            return AlteredResult(ErrorCode.NONE, None, kind, name)
        current = _alterable(services, call, kind, name)
        names = [entry.name for entry in resource.configs]
        if len(set(names)) < len(names):
            raise Refusal(ErrorCode.INVALID_REQUEST, "a setting is named more than once")
        settings = change(current, resource.configs)
        with as_refusals():
            TopicConfig.from_names(settings)
            if not validate_only:
                services.store.alter_config(name, settings)
    except Refusal as refusal:
        return AlteredResult(refusal.code, refusal.message, kind, name)
    return AlteredResult(ErrorCode.NONE, None, kind, name)


def _alterable(services: Services, call: Call, kind: int, name: str) -> Mapping[str, str]:
    """The settings of a topic that the client may change. Raises a Refusal."""
    if kind == _BROKER:
        call.require(Operation.ALTER_CONFIGS, CLUSTER)
        raise Refusal(ErrorCode.INVALID_REQUEST, "settings of the broker are in its config file, read when it starts")
    if kind != _TOPIC:
        raise _unknown_resource(services, kind, name)
    call.require(Operation.ALTER_CONFIGS, topic(name))
    found = services.store.topics.get(name)
    if found is None:
        raise Refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"no topic {name!r}")
    if name in INTERNAL_TOPICS:
        raise Refusal(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{name} is the broker's own")
    settings = found.config.to_names()
    return {setting: value for setting, value in settings.items() if source_of(setting, value) == SET_ON_TOPIC}


def _replaced(current: Mapping[str, str], changes: tuple[AlteredConfig, ...]) -> dict[str, str]:
    return {change.name: change.value for change in changes if change.value is not None}


def _changed(current: Mapping[str, str], changes: tuple[AlteredConfig, ...]) -> dict[str, str]:
    settings = dict(current)
    for change in changes:
        if change.config_operation == _DELETE:
            # Also one that is not known here: MirrorMaker deletes whatever is the default where a topic comes from.
            settings.pop(change.name, None)
        elif change.name not in TopicConfig().to_names():
            raise Refusal(ErrorCode.INVALID_CONFIG, f"unknown topic setting {change.name!r}")
        elif change.value is None:
            raise Refusal(ErrorCode.INVALID_REQUEST, f"no value for {change.name!r}")
        elif change.config_operation == _SET:
            settings[change.name] = change.value
        else:
            settings[change.name] = _list_changed(settings, change.name, change.value, change.config_operation)
    return settings


def _list_changed(settings: Mapping[str, str], name: str, value: str, operation: int) -> str:
    if operation not in (_APPEND, _SUBTRACT) or name not in _LISTS:
        raise Refusal(ErrorCode.INVALID_CONFIG, f"{name!r} is no list: it can only be set or deleted")
    entries = [entry for entry in settings.get(name, default_of(name)).split(",") if entry]
    given = value.split(",")
    if operation == _SUBTRACT:
        return ",".join(entry for entry in entries if entry not in given)
    return ",".join([*entries, *(entry for entry in given if entry not in entries)])
