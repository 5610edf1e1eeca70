"""Topics through the broker's own protocol, so that they are the same for our broker and for a Kafka cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Final, TypeVar

from confluent_kafka import OFFSET_END, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from headrace.credential import client_settings, require_ordinary
from headrace.errors import Conflict, ExternalFailure, HeadraceError, InvalidInput, NotFound, did_you_mean
from headrace.server.models.topics import PartitionView, TopicEntry, TopicList, TopicSetting, TopicView
from headrace.topic_names import require_topic_name
from headrace.wire.client import Client

REQUEST_TIMEOUT_S: Final = 10.0
INTERNAL_PREFIX: Final = "__"
_SEGMENT: Final = ".log"
# Figures that our broker shows beside a topic's settings.
BACKLOG: Final = "headrace.backlog.now.records"
BLOCKED: Final = "headrace.backlog.blocked.requests"
DROPPED: Final = "headrace.backlog.dropped.requests"
TIMED_OUT: Final = "headrace.backlog.timed.out.requests"
PRESSURE_FIGURES: Final = (BACKLOG, BLOCKED, DROPPED, TIMED_OUT)
# And beside its own.
GROUPS: Final = "headrace.groups.now"
GROUPS_MAX: Final = "headrace.groups.max"
GROUPS_REFUSED: Final = "headrace.groups.refused.requests"
EARLIEST: Final[OffsetSpec] = OffsetSpec.earliest()  # type: ignore[no-untyped-call]
LATEST: Final[OffsetSpec] = OffsetSpec.latest()  # type: ignore[no-untyped-call]

Result = TypeVar("Result")


class Topics:
    """May be used by many threads. Raises NotFound, Conflict, InvalidInput, and ExternalFailure without a broker."""

    def __init__(self, bootstrap: str, log_directory: Path | None) -> None:
        self.bootstrap = bootstrap
        self._log_directory = log_directory
        self.admin = AdminClient(
            {
                **client_settings(bootstrap),
                "bootstrap.servers": bootstrap,
                "client.id": "headrace-server",
                "log_level": 0,
            }
        )

    def names(self, timeout_s: float = REQUEST_TIMEOUT_S) -> dict[str, list[int]]:
        """Topic → partitions."""
        try:
            found = self.admin.list_topics(timeout=timeout_s).topics
        except KafkaException as error:
            raise own_words(error, "the broker's topics cannot be listed") from error
        return {name: sorted(topic.partitions) for name, topic in sorted(found.items())}

    def partitions(self, topic: str) -> list[int]:
        names = self.names()
        if topic not in names:
            raise NotFound(f"no topic {topic!r}", hint=did_you_mean(topic, names))
        return names[topic]

    def overview(self) -> TopicList:
        return TopicList(
            topics=[
                TopicEntry(
                    name=name,
                    partitions=len(views),
                    messages=sum(view.end_offset - view.start_offset for view in views),
                    bytes=_total(view.bytes for view in views),
                    is_internal=name.startswith(INTERNAL_PREFIX),
                )
                for name, views in self.partition_views(REQUEST_TIMEOUT_S).items()
            ]
        )

    def partition_views(self, timeout_s: float) -> dict[str, list[PartitionView]]:
        """Of all topics. Raises ExternalFailure when no broker answers in time."""
        names = self.names(timeout_s)
        bounds = self.bounds((name, partition) for name, partitions in names.items() for partition in partitions)
        return {
            name: [self._partition(name, partition, bounds[name, partition]) for partition in partitions]
            for name, partitions in names.items()
        }

    def pressure(self, topics: Iterable[str], timeout_s: float) -> dict[str, dict[str, int]]:
        """Figures of topics with a limited backlog, by the broker's names. Raises ExternalFailure."""
        with Client(self.bootstrap, client_id="headrace-server", timeout_ms=int(timeout_s * 1000)) as client:
            found = client.topic_settings(topics, PRESSURE_FIGURES)
        return {topic: {name: int(value) for name, value in figures.items()} for topic, figures in found.items()}

    def group_figures(self, timeout_s: float) -> dict[str, int]:
        """How many groups there are, by the broker's names; empty where the broker is not ours. As `pressure`."""
        with Client(self.bootstrap, client_id="headrace-server", timeout_ms=int(timeout_s * 1000)) as client:
            found = client.broker_settings((GROUPS, GROUPS_MAX, GROUPS_REFUSED))
        return {name: int(value) for name, value in found.items()}

    def describe(self, topic: str) -> TopicView:
        partitions = self.partitions(topic)
        bounds = self.bounds((topic, partition) for partition in partitions)
        views = [self._partition(topic, partition, bounds[topic, partition]) for partition in partitions]
        return TopicView(
            name=topic,
            is_internal=topic.startswith(INTERNAL_PREFIX),
            messages=sum(view.end_offset - view.start_offset for view in views),
            bytes=_total(view.bytes for view in views),
            partitions=views,
            config=self._config(topic),
        )

    def create(self, topic: str, partitions: int, config: Mapping[str, str]) -> TopicView:
        require_ordinary(topic)
        require_topic_name(topic)
        _require_names(config)
        wanted = NewTopic(topic, num_partitions=partitions, replication_factor=-1, config=dict(config))
        created = self.admin.create_topics([wanted], request_timeout=REQUEST_TIMEOUT_S)
        answer(created[topic], f"topic {topic!r} cannot be created")
        return self.describe(topic)

    def alter(self, topic: str, changes: Mapping[str, str | None], partitions: int | None) -> TopicView:
        """Settings first, then more partitions: either may be refused, with the reason."""
        now = len(self.partitions(topic))
        if changes:
            _require_names(changes)
            resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[*map(_change, changes.items())])
            altered = self.admin.incremental_alter_configs([resource], request_timeout=REQUEST_TIMEOUT_S)
            answer(altered[resource], f"settings of topic {topic!r}")
        if partitions is not None and partitions != now:
            grown = self.admin.create_partitions([NewPartitions(topic, partitions)], request_timeout=REQUEST_TIMEOUT_S)
            answer(grown[topic], f"partitions of topic {topic!r}")
        return self.describe(topic)

    def delete(self, topic: str) -> None:
        self.partitions(topic)
        deleted = self.admin.delete_topics([topic], request_timeout=REQUEST_TIMEOUT_S)
        answer(deleted[topic], f"topic {topic!r} cannot be deleted")

    def truncate(self, topics: Iterable[str]) -> None:
        """Deletes all records that the topics have now; those that are not there are passed over."""
        known = self.names()
        ends = [TopicPartition(t, partition, OFFSET_END) for t in topics for partition in known.get(t, ())]
        for partition, future in (self.admin.delete_records(ends) if ends else {}).items():
            answer(future, f"the topic {partition.topic!r}")

    def bounds(self, partitions: Iterable[tuple[str, int]]) -> dict[tuple[str, int], tuple[int, int]]:
        """First offset kept and the offset after the last one, of each (topic, partition)."""
        keys = list(partitions)
        starts, ends = self.offsets(keys, EARLIEST), self.offsets(keys, LATEST)
        return {key: (starts[key], ends[key]) for key in keys}

    def offsets(self, partitions: Iterable[tuple[str, int]], spec: OffsetSpec) -> dict[tuple[str, int], int]:
        """-1 where no record is at or after a time."""
        wanted = {TopicPartition(topic, partition): spec for topic, partition in partitions}
        if not wanted:
            return {}
        futures = self.admin.list_offsets(wanted, request_timeout=REQUEST_TIMEOUT_S)
        return {
            (place.topic, place.partition): answer(future, f"offsets of {place.topic}-{place.partition}").offset
            for place, future in futures.items()
        }

    def _partition(self, topic: str, partition: int, bounds: tuple[int, int]) -> PartitionView:
        size_bytes, segments = self._size(topic, partition)
        return PartitionView(
            id=partition, start_offset=bounds[0], end_offset=bounds[1], bytes=size_bytes, segments=segments
        )

    def _config(self, topic: str) -> list[TopicSetting]:
        resource = ConfigResource(ResourceType.TOPIC, topic)
        described = self.admin.describe_configs([resource], request_timeout=REQUEST_TIMEOUT_S)
        entries = answer(described[resource], f"settings of topic {topic!r}")
        return [
            TopicSetting(name=name, value=entry.value, is_default=entry.is_default, is_read_only=entry.is_read_only)
            for name, entry in sorted(entries.items())
        ]

    def _size(self, topic: str, partition: int) -> tuple[int | None, int | None]:
        """Bytes and segments of a log on this machine. Files may go while they are counted."""
        if self._log_directory is None:
            return None, None
        size_bytes = segments = 0
        try:
            for file in (self._log_directory / f"{topic}-{partition}").iterdir():
                size_bytes += file.stat().st_size
                segments += file.suffix == _SEGMENT
        except OSError:
            return None, None
        return size_bytes, segments


def answer(future: Future[Result], what: str) -> Result:
    """What the broker answered. Raises our own errors for its refusals."""
    try:
        return future.result(REQUEST_TIMEOUT_S + 1.0)
    except KafkaException as error:
        raise own_words(error, what) from error
    except TimeoutError as error:
        raise ExternalFailure(f"{what}: the broker did not answer") from error


def own_words(error: KafkaException, what: str) -> HeadraceError:
    cause: Any = error.args[0]
    sentence = f"{what}: {cause.str()}"
    kinds: dict[int, type[HeadraceError]] = {
        KafkaError.UNKNOWN_TOPIC_OR_PART: NotFound,
        KafkaError._UNKNOWN_PARTITION: NotFound,
        KafkaError._UNKNOWN_TOPIC: NotFound,
        KafkaError.GROUP_ID_NOT_FOUND: NotFound,
        KafkaError.TOPIC_ALREADY_EXISTS: Conflict,
        KafkaError.NON_EMPTY_GROUP: Conflict,
        KafkaError.UNKNOWN_MEMBER_ID: Conflict,
        KafkaError.INVALID_CONFIG: InvalidInput,
        KafkaError.TOPIC_EXCEPTION: InvalidInput,
        KafkaError.INVALID_PARTITIONS: InvalidInput,
        KafkaError.INVALID_REQUEST: InvalidInput,
        KafkaError.MSG_SIZE_TOO_LARGE: InvalidInput,
        KafkaError._INVALID_ARG: InvalidInput,
        KafkaError.POLICY_VIOLATION: InvalidInput,
        KafkaError._UNSUPPORTED_FEATURE: InvalidInput,
    }
    return kinds.get(cause.code(), ExternalFailure)(sentence)


def _require_names(config: Mapping[str, str | None]) -> None:
    """Raises InvalidInput for what the client itself cannot send."""
    for name, value in config.items():
        if not name or "\0" in name or "\0" in (value or ""):
            raise InvalidInput(
                f"{name!r} is no setting of a topic", hint="names and values hold no NUL, and names are not empty"
            )


def _change(setting: tuple[str, str | None]) -> ConfigEntry:
    name, value = setting
    operation = AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET
    return ConfigEntry(name, value, incremental_operation=operation)


def _total(sizes: Iterable[int | None]) -> int | None:
    known = list(sizes)
    return None if None in known else sum(size for size in known if size is not None)
