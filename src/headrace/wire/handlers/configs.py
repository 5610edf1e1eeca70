"""DescribeConfigs: settings of topics and of the broker, under the names that Kafka's tools know."""

from __future__ import annotations

from collections.abc import Mapping

from headrace.log import TopicConfig
from headrace.wire.codes import ErrorCode
from headrace.wire.messages.topics import (
    ConfigResource,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribedConfig,
    DescribedResource,
)
from headrace.wire.services import Call, Services

_TOPIC_RESOURCE = 2
_BROKER_RESOURCE = 4
_SET_ON_TOPIC = 1
_STATIC_BROKER_SETTING = 4
_DEFAULT = 5
_TYPE_STRING = 2
_TYPE_LONG = 5


def describe_configs(services: Services, call: Call, request: DescribeConfigsRequest) -> DescribeConfigsResponse:
    return DescribeConfigsResponse(tuple(_described(services, resource) for resource in request.resources))


def _described(services: Services, resource: ConfigResource) -> DescribedResource:
    kind, name = resource.resource_type, resource.resource_name
    if kind == _TOPIC_RESOURCE:
        topic = services.store.topics.get(name)
        if topic is None:
            return DescribedResource(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"no topic {name!r}", kind, name)
        entries = _topic_entries(topic.config.to_names())
    elif kind == _BROKER_RESOURCE and name in ("", str(services.config.node_id)):
        entries = _broker_entries(services)
    else:
        message = f"resource type {kind} named {name!r}; known are 2 (topic) and 4 (broker {services.config.node_id})"
        return DescribedResource(ErrorCode.INVALID_REQUEST, message, kind, name)
    wanted = resource.configuration_keys
    shown = tuple(entry for entry in entries if not wanted or entry.name in wanted)
    return DescribedResource(ErrorCode.NONE, None, kind, name, shown)


def _topic_entries(settings: Mapping[str, str]) -> list[DescribedConfig]:
    defaults = TopicConfig().to_names()
    return [
        _entry(name, value, _DEFAULT if defaults[name] == value else _SET_ON_TOPIC, read_only=False)
        for name, value in settings.items()
    ]


def _broker_entries(services: Services) -> list[DescribedConfig]:
    config = services.config
    settings = {
        "auto.create.topics.enable": str(config.auto_create_topics).lower(),
        "broker.id": str(config.node_id),
        "default.replication.factor": "1",
        "group.max.size": str(config.group_members_max),
        "group.max.session.timeout.ms": str(config.session_timeout_ms_max),
        "group.min.session.timeout.ms": str(config.session_timeout_ms_min),
        "max.connections": str(config.connections_max),
        "min.insync.replicas": "1",
        "num.partitions": str(config.default_partition_count),
        "socket.request.max.bytes": str(config.request_bytes_max),
        "transaction.max.timeout.ms": str(config.transaction_timeout_ms_max),
    }
    return [_entry(name, value, _STATIC_BROKER_SETTING, read_only=True) for name, value in settings.items()]


def _entry(name: str, value: str, source: int, *, read_only: bool) -> DescribedConfig:
    kind = _TYPE_LONG if value.lstrip("-").isdigit() else _TYPE_STRING
    return DescribedConfig(name, value, read_only, source, config_type=kind)
