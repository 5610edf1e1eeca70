"""Questions about topics and their settings, to our broker and to a real Apache Kafka: the answers must be the same.

What differs on purpose is listed in docs/kafka-differences.md, and here where a question meets it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from headrace.wire import protocol
from headrace.wire.asking import Asker, asking, configs_entry, names
from headrace.wire.messages import cluster, configs, partitions, topic_partitions, topics
from headrace.wire.testing import BrokerProcess

pytestmark = pytest.mark.slow


def creating_topics(ask: Asker) -> Any:
    def tried(name: str, count: int = 1, factor: int = 1, config: tuple[tuple[str, str], ...] = ()) -> list[str]:
        entries = tuple(configs_entry(*entry) for entry in config)
        request = topics.CreateTopicsRequest((topics.CreatableTopic(name, count, factor, (), entries),))
        return names(ask(protocol.CREATE_TOPICS, request))

    validated = topics.CreateTopicsRequest((topics.CreatableTopic("validated", 1, 1),), validate_only=True)
    twice = topics.CreateTopicsRequest((topics.CreatableTopic("twice", 1, 1), topics.CreatableTopic("twice", 1, 1)))
    return {
        "good": tried("created"),
        "again": tried("created"),
        "bad name": tried("no spaces"),
        "empty name": tried(""),
        "dots": tried(".."),
        "long name": tried("x" * 250),
        "no partitions": tried("none", 0),
        "three replicas": tried("three", 1, 3),
        "unknown setting": tried("odd", config=(("no.such", "1"),)),
        "bad value": tried("odd", config=(("retention.ms", "soon"),)),
        "default counts": tried("defaulted", -1, -1),
        "validated": names(ask(protocol.CREATE_TOPICS, validated)),
        "validated is not there": names(
            ask(protocol.METADATA, cluster.MetadataRequest((cluster.MetadataTopicRequest("validated"),), False))
        )[:1],
        "twice": sorted(set(names(ask(protocol.CREATE_TOPICS, twice)))),
    }


def growing_topics(ask: Asker) -> Any:
    ask.create("growing", 2)

    def tried(name: str, count: int, brokers: tuple[int, ...] | None = None) -> list[str]:
        assignments = None if brokers is None else (partitions.PartitionAssignment(brokers),)
        grown = partitions.GrownTopic(name, count, assignments)
        return names(ask(protocol.CREATE_PARTITIONS, partitions.CreatePartitionsRequest((grown,))))

    return [
        tried("growing", 1),
        tried("growing", 2),
        tried("growing", 3),
        tried("growing", 4, (7,)),
        tried("growing", 4, (1,)),
        tried("no-such", 3),
    ]


def deleting_topics(ask: Asker) -> Any:
    topic_id = ask.create("deleted")

    def tried(name: str | None, topic_id: UUID | None = None) -> list[str]:
        request = topics.DeleteTopicsRequest(topics=(topics.DeletableTopic(name, topic_id),))
        return names(ask(protocol.DELETE_TOPICS, request))

    return [tried("no-such"), tried(None, UUID(int=9)), tried(None, topic_id), tried("deleted")]


def describing_page_by_page(ask: Asker) -> Any:
    for name, count in (("paged-a", 3), ("paged-b", 1), ("paged-c", 2)):
        ask.create(name, count)
    wanted = tuple(topic_partitions.WantedTopic(name) for name in ("paged-c", "paged-a", "no-such-page", "paged-b"))
    cursor: Any = None
    pages: list[Any] = []
    while cursor is not None or not pages:
        request = topic_partitions.DescribeTopicPartitionsRequest(wanted, 2, cursor)
        answer = ask(protocol.DESCRIBE_TOPIC_PARTITIONS, request)
        cursor = answer.next_cursor
        shown = [(t.name, t.error_code.name, [p.partition_index for p in t.partitions]) for t in answer.topics]
        pages.append((shown, cursor))
    return pages


def describing_settings(ask: Asker) -> Any:
    ask.create("described", retention_ms="1000", cleanup_policy="compact")
    resource = configs.ConfigResource(2, "described")
    (found,) = ask(protocol.DESCRIBE_CONFIGS, configs.DescribeConfigsRequest((resource,))).results
    # All that Kafka has, by name. It was started with a larger message.max.bytes.
    values = {e.name: (e.value, e.config_type) for e in found.configs if not e.name.startswith("headrace.")}
    sources = {e.name: e.config_source for e in found.configs if e.name in ("retention.ms", "cleanup.policy")}
    return values | {"max.message.bytes": None}, sources, names(found)


def describing_settings_that_are_not(ask: Asker) -> Any:
    def tried(kind: int, name: str) -> list[str]:
        request = configs.DescribeConfigsRequest((configs.ConfigResource(kind, name),))
        return names(ask(protocol.DESCRIBE_CONFIGS, request))

    return [tried(2, "no-such"), tried(4, "77"), tried(4, "1"), tried(3, "odd")]


def changing_settings(ask: Asker) -> Any:
    ask.create("changed", retention_ms="1000", segment_bytes="1048576")

    def tried(name: str, setting: str, value: str | None, operation: int = 0) -> list[str]:
        entry = configs.AlteredConfig(setting, value, operation)
        request = configs.AlterConfigsRequest((configs.AlteredResource(2, name, (entry,)),))
        return names(ask(protocol.INCREMENTAL_ALTER_CONFIGS, request))

    outcomes = [
        tried("changed", "max.message.bytes", "5000"),
        tried("changed", "retention.ms", None, 1),
        tried("changed", "cleanup.policy", "compact", 2),
        tried("changed", "cleanup.policy", "delete", 3),
        tried("changed", "retention.ms", "soon"),
        tried("changed", "no.such", "1"),
        tried("changed", "no.such", None, 1),
        tried("changed", "retention.ms", "1", 2),
        tried("no-such", "retention.ms", "1"),
    ]
    wanted = ("retention.ms", "segment.bytes", "max.message.bytes", "cleanup.policy")
    request = configs.DescribeConfigsRequest((configs.ConfigResource(2, "changed", wanted),))
    (found,) = ask(protocol.DESCRIBE_CONFIGS, request).results
    return outcomes, {e.name: e.value for e in found.configs}


@pytest.mark.parametrize(
    "ask",
    [
        creating_topics,
        growing_topics,
        deleting_topics,
        describing_page_by_page,
        describing_settings,
        describing_settings_that_are_not,
        changing_settings,
    ],
    ids=lambda ask: ask.__name__,
)
def test_answers_are_those_of_kafka(shared_broker: BrokerProcess, kafka: str, ask: Callable[[Asker], Any]) -> None:
    with asking(shared_broker.bootstrap) as ours, asking(kafka) as theirs:
        assert ask(ours) == ask(theirs)
