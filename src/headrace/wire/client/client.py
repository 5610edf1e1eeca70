"""The client's calls. What could double a record is never sent twice; everything else is retried while it may pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self, TypeVar

from headrace.errors import InvalidConfig, NotFound
from headrace.wire import protocol
from headrace.wire.client.connection import Deadline
from headrace.wire.client.errors import check
from headrace.wire.client.routing import Metadata, Router, TopicPartition
from headrace.wire.codes import ErrorCode
from headrace.wire.messages import configs, fetch, offsets, produce, topics, transactions
from headrace.wire.packing import INT64

EARLIEST: Final = -2
LATEST: Final = -1

_TOPIC_KIND: Final = 2
_BROKER_KIND: Final = 4
DEFAULT_TIMEOUT_MS: Final = 30_000
FETCH_BYTES_MAX: Final = 16 * 1024 * 1024

# Where a batch header holds its producer id.
_PRODUCER_ID_POSITION: Final = 43

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Producer:
    producer_id: int
    epoch: int


@dataclass(frozen=True, slots=True)
class ListedOffset:
    """`offset` is -1 when no record is at or after the wanted time."""

    offset: int
    timestamp_ms: int


@dataclass(frozen=True, slots=True)
class Fetched:
    """Whole batches, the first of which may begin below the wanted offset."""

    records: bytes | memoryview
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    aborted: tuple[fetch.AbortedRange, ...]


class Client:
    """Not for use by several threads at once. Every call is over within `timeout_ms`, or raises.

    Raises KafkaError for an answer that is an error, ConnectionLost when no answer came, NotFound for a topic or
    partition that does not exist.
    """

    def __init__(self, bootstrap: str, client_id: str = "headrace", timeout_ms: int = DEFAULT_TIMEOUT_MS) -> None:
        self._timeout_ms = timeout_ms
        self._router = Router(bootstrap, client_id)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._router.close()

    def metadata(self, names: Iterable[str] | None = None) -> Metadata:
        """Brokers and topics; all topics, or the named ones that exist. Creates none."""
        wanted = None if names is None else tuple(names)
        return self._retry(lambda deadline: self._router.load_metadata(wanted, deadline))

    def partition_count(self, topic: str) -> int:
        """Raises NotFound when there is no such topic."""
        found = self.metadata([topic]).topics.get(topic)
        if found is None:
            raise NotFound(f"topic {topic!r} does not exist")
        return len(found.leaders)

    def create_topics(
        self, counts: Mapping[str, int], config: Mapping[str, str] | None = None, *, exist_ok: bool = True
    ) -> None:
        """All topics exist afterwards: new ones with these partition counts and this config, others as they were.

        With `exist_ok` False a topic that is there already is an error.
        """
        configs = tuple(topics.ConfigEntry(name, value) for name, value in (config or {}).items())
        wanted = tuple(topics.CreatableTopic(name, count, -1, (), configs) for name, count in counts.items())
        request = topics.CreateTopicsRequest(wanted, self._timeout_ms)

        def attempt(deadline: Deadline) -> None:
            response = self._router.controller(deadline).send(protocol.CREATE_TOPICS, request, deadline)
            for topic in response.topics:
                if topic.error_code != ErrorCode.TOPIC_ALREADY_EXISTS or not exist_ok:
                    check(topic.error_code, f"topic {topic.name!r} cannot be created ({topic.error_message})")

        self._retry(attempt, retry_lost=exist_ok)
        self._await_topics(tuple(counts))

    def _await_topics(self, names: tuple[str, ...]) -> None:
        """In a cluster a created topic is known to all brokers only a little later."""

        def attempt(deadline: Deadline) -> None:
            missing = set(names) - set(self._router.load_metadata(names, deadline).topics)
            check(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if missing else ErrorCode.NONE, f"created topics {missing}")

        self._retry(attempt)

    def delete_topics(self, names: Iterable[str]) -> None:
        named = tuple(names)
        request = topics.DeleteTopicsRequest(named, tuple(map(topics.DeletableTopic, named)), self._timeout_ms)

        def attempt(deadline: Deadline) -> None:
            response = self._router.controller(deadline).send(protocol.DELETE_TOPICS, request, deadline)
            for topic in response.responses:
                check(topic.error_code, f"topic {topic.name!r} cannot be deleted")

        self._router.retry(attempt, self._timeout_ms, retry_lost=False)

    def list_offsets(
        self, topic: str, wanted: Mapping[int, int], *, committed: bool = False
    ) -> dict[int, ListedOffset]:
        """For each partition the first offset at or after a timestamp in ms, or EARLIEST, or LATEST."""

        def attempt(deadline: Deadline) -> dict[int, ListedOffset]:
            found: dict[int, ListedOffset] = {}
            keys = [(topic, index) for index in wanted]
            for connection, partitions in self._router.by_leader(keys, deadline).items():
                entries = tuple(offsets.ListOffsetsPartition(index, wanted[index]) for _, index in partitions)
                asked = (offsets.ListOffsetsTopic(topic, entries),)
                request = offsets.ListOffsetsRequest(-1, asked, int(committed))
                for entry in connection.send(protocol.LIST_OFFSETS, request, deadline).topics[0].partitions:
                    check(entry.error_code, f"offsets of {topic}-{entry.partition_index}")
                    found[entry.partition_index] = ListedOffset(entry.offset, entry.timestamp)
            return found

        return self._retry(attempt)

    def high_watermarks(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """The ends of many partitions. Those of one broker are all of one moment."""
        wanted = list(partitions)

        def attempt(deadline: Deadline) -> dict[TopicPartition, int]:
            found: dict[TopicPartition, int] = {}
            for connection, keys in self._router.by_leader(wanted, deadline).items():
                asked = (offsets.ListOffsetsTopic(t, (offsets.ListOffsetsPartition(i, LATEST),)) for t, i in keys)
                request = offsets.ListOffsetsRequest(-1, tuple(asked), 0)
                for topic in connection.send(protocol.LIST_OFFSETS, request, deadline).topics:
                    for entry in topic.partitions:
                        check(entry.error_code, f"offsets of {topic.name}-{entry.partition_index}")
                        found[topic.name, entry.partition_index] = entry.offset
            return found

        return self._retry(attempt)

    def topic_settings(self, topics: Iterable[str], names: Sequence[str]) -> dict[str, dict[str, str]]:
        """The named settings and figures of each topic that has any of them. Topics that are gone are left out."""
        return self._settings(tuple(configs.ConfigResource(_TOPIC_KIND, topic, tuple(names)) for topic in topics))

    def broker_settings(self, names: Sequence[str]) -> dict[str, str]:
        """The named settings and figures of the broker, as far as it has them."""
        return self._settings((configs.ConfigResource(_BROKER_KIND, "", tuple(names)),)).get("", {})

    def _settings(self, resources: tuple[configs.ConfigResource, ...]) -> dict[str, dict[str, str]]:
        def attempt(deadline: Deadline) -> dict[str, dict[str, str]]:
            connection = self._router.controller(deadline)
            found = connection.send(protocol.DESCRIBE_CONFIGS, configs.DescribeConfigsRequest(resources), deadline)
            return {
                result.resource_name: {entry.name: entry.value or "" for entry in result.configs}
                for result in found.results
                if result.configs
            }

        return self._retry(attempt)

    def init_producer(self, transactional_id: str | None, timeout_ms: int = 60_000) -> Producer:
        """A producer id. With a transactional id: earlier holders are fenced, and what they left open is aborted."""
        request = transactions.InitProducerIdRequest(transactional_id, timeout_ms)

        def attempt(deadline: Deadline) -> Producer:
            connection = self._router.coordinator(transactional_id, deadline)
            response = connection.send(protocol.INIT_PRODUCER_ID, request, deadline)
            check(response.error_code, f"producer id for transactional id {transactional_id!r}")
            return Producer(response.producer_id, response.producer_epoch)

        return self._retry(attempt)

    def add_partitions(self, transactional_id: str, producer: Producer, partitions: Iterable[TopicPartition]) -> None:
        """Must be called before the first batch of a transaction to each partition."""
        by_topic: dict[str, list[int]] = {}
        for topic, index in partitions:
            by_topic.setdefault(topic, []).append(index)
        named = tuple(transactions.TransactionTopic(topic, tuple(indexes)) for topic, indexes in by_topic.items())
        request = transactions.AddPartitionsToTxnRequest(transactional_id, producer.producer_id, producer.epoch, named)

        def attempt(deadline: Deadline) -> None:
            connection = self._router.coordinator(transactional_id, deadline)
            for topic in connection.send(protocol.ADD_PARTITIONS_TO_TXN, request, deadline).topics:
                for entry in topic.results_by_partition:
                    message = f"{topic.name}-{entry.partition_index} cannot join transaction {transactional_id!r}"
                    check(entry.partition_error_code, message)

        self._retry(attempt)

    def end_transaction(self, transactional_id: str, producer: Producer, commit: bool) -> None:
        """Afterwards all of the transaction's records are visible to readers of committed records, or none ever is."""
        request = transactions.EndTxnRequest(transactional_id, producer.producer_id, producer.epoch, commit)
        message = f"transaction {transactional_id!r} cannot be {'committed' if commit else 'aborted'}"

        def attempt(deadline: Deadline) -> None:
            connection = self._router.coordinator(transactional_id, deadline)
            check(connection.send(protocol.END_TXN, request, deadline).error_code, message)

        self._retry(attempt)

    def produce(
        self, records: Mapping[str, Mapping[int, bytes]], transactional_id: str | None = None, acks: int = -1
    ) -> dict[TopicPartition, int]:
        """Append encoded batches; the base offset of each partition's first batch.

        A broken connection is retried only when every batch carries a producer id, for then the broker drops doubles.
        """
        if acks == 0:
            raise InvalidConfig("acks is 0, to which a broker gives no answer", valid=["1", "-1"])
        batches = {(topic, index): raw for topic, partitions in records.items() for index, raw in partitions.items()}
        done: dict[TopicPartition, int] = {}

        def attempt(deadline: Deadline) -> dict[TopicPartition, int]:
            left = [key for key in batches if key not in done]
            for connection, keys in self._router.by_leader(left, deadline).items():
                entries = tuple(produce.ProducePartition(*key, batches[key]) for key in keys)
                request = produce.ProduceRequest(transactional_id, acks, self._timeout_ms, entries)
                answers = connection.send(protocol.PRODUCE, request, deadline).partitions
                done.update(
                    {
                        (entry.topic, entry.partition_index): entry.base_offset
                        for entry in answers
                        if not entry.error_code
                    }
                )
                for entry in answers:
                    check(entry.error_code, f"records to {entry.topic}-{entry.partition_index} ({entry.error_message})")
            return done

        return self._retry(attempt, retry_lost=all(map(_has_producer, batches.values())))

    def fetch(
        self, topic: str, partition: int, offset: int, *, committed: bool = True, max_bytes: int = FETCH_BYTES_MAX
    ) -> Fetched:
        """Batches from `offset` on, at once: nothing is waited for."""
        wanted = fetch.FetchPartition(topic, partition, offset, max_bytes)
        request = fetch.FetchRequest(0, 0, max_bytes, int(committed), (wanted,))

        def attempt(deadline: Deadline) -> Fetched:
            (connection,) = self._router.by_leader([(topic, partition)], deadline)
            response = connection.send(protocol.FETCH, request, deadline)
            check(response.error_code, f"records of {topic}-{partition}")
            (entry,) = response.partitions
            check(entry.error_code, f"records of {topic}-{partition} from offset {offset}")
            bounds = (entry.high_watermark, entry.last_stable_offset, entry.log_start_offset)
            return Fetched(entry.records, *bounds, entry.aborted or ())

        return self._retry(attempt)

    def _retry(self, attempt: Callable[[Deadline], Result], *, retry_lost: bool = True) -> Result:
        return self._router.retry(attempt, self._timeout_ms, retry_lost=retry_lost)


def _has_producer(batches: bytes) -> bool:
    if len(batches) < _PRODUCER_ID_POSITION + INT64.size:
        return False
    producer_id: int = INT64.unpack_from(batches, _PRODUCER_ID_POSITION)[0]
    return producer_id >= 0
