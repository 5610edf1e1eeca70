"""librdkafka without a Python object for each record: the load of the suite `log`.

The library is the one that confluent-kafka brings. Records are handed over and taken by the thousand in one call each,
so a process sends and receives what a C program does, or nearly.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Mapping
from importlib.metadata import files
from typing import Any, Final

from headrace.errors import ExternalFailure

PRODUCER: Final = 0
CONSUMER: Final = 1
BATCH_RECORDS: Final = 10_000
QUEUED_RECORDS: Final = 500_000
POLL_MS: Final = 20
FLUSH_TIMEOUT_MS: Final = 120_000
RECEIVE_TIMEOUT_S: Final = 120.0

_ERROR_TEXT_BYTES: Final = 512


class _Message(ctypes.Structure):
    """rd_kafka_message_t."""

    _fields_ = (
        ("error", ctypes.c_int),
        ("topic", ctypes.c_void_p),
        ("partition", ctypes.c_int32),
        ("payload", ctypes.c_void_p),
        ("length", ctypes.c_size_t),
        ("key", ctypes.c_void_p),
        ("key_length", ctypes.c_size_t),
        ("offset", ctypes.c_int64),
        ("private", ctypes.c_void_p),
    )


def _load() -> Any:
    """Raises ExternalFailure when confluent-kafka brings no library of its own."""
    for file in files("confluent-kafka") or ():
        if file.name.startswith("librdkafka") and ".so" in file.name:
            return _declared(ctypes.CDLL(str(file.locate())))
    raise ExternalFailure("confluent-kafka without its librdkafka", hint="install the wheel of confluent-kafka")


def _declared(library: Any) -> Any:
    pointer, integer, text = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p
    for name, result, arguments in (
        ("rd_kafka_conf_new", pointer, ()),
        ("rd_kafka_conf_set", integer, (pointer, text, text, text, ctypes.c_size_t)),
        ("rd_kafka_new", pointer, (integer, pointer, text, ctypes.c_size_t)),
        ("rd_kafka_topic_new", pointer, (pointer, text, pointer)),
        ("rd_kafka_produce_batch", integer, (pointer, ctypes.c_int32, integer, pointer, integer)),
        ("rd_kafka_poll", integer, (pointer, integer)),
        ("rd_kafka_flush", integer, (pointer, integer)),
        ("rd_kafka_outq_len", integer, (pointer,)),
        ("rd_kafka_queue_new", pointer, (pointer,)),
        ("rd_kafka_consume_start_queue", integer, (pointer, ctypes.c_int32, ctypes.c_int64, pointer)),
        ("rd_kafka_consume_stop", integer, (pointer, ctypes.c_int32)),
        ("rd_kafka_consume_batch_queue", ctypes.c_ssize_t, (pointer, integer, pointer, ctypes.c_size_t)),
        ("rd_kafka_message_destroy", None, (pointer,)),
        ("rd_kafka_topic_destroy", None, (pointer,)),
        ("rd_kafka_queue_destroy", None, (pointer,)),
        ("rd_kafka_destroy", None, (pointer,)),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


class _Handle:
    """A client and one topic of it."""

    def __init__(self, kind: int, topic: str, settings: Mapping[str, str]) -> None:
        self.library = _load()
        reason = ctypes.create_string_buffer(_ERROR_TEXT_BYTES)
        conf = self.library.rd_kafka_conf_new()
        for name, value in {"log_level": "0", **settings}.items():
            if self.library.rd_kafka_conf_set(conf, name.encode(), value.encode(), reason, _ERROR_TEXT_BYTES):
                raise ExternalFailure(f"librdkafka: {reason.value.decode()}")
        self.client = self.library.rd_kafka_new(kind, conf, reason, _ERROR_TEXT_BYTES)
        if not self.client:
            raise ExternalFailure(f"librdkafka: {reason.value.decode()}")
        self.topic = self.library.rd_kafka_topic_new(self.client, topic.encode(), None)

    def close(self) -> None:
        self.library.rd_kafka_topic_destroy(self.topic)
        self.library.rd_kafka_destroy(self.client)


class BulkProducer:
    """Sends the same record many times, evenly to some partitions."""

    def __init__(self, bootstrap: str, topic: str, record_bytes: int, settings: Mapping[str, str]) -> None:
        common = {"bootstrap.servers": bootstrap, "acks": "all", "queue.buffering.max.messages": str(QUEUED_RECORDS)}
        self._handle = _Handle(PRODUCER, topic, {**common, **settings})
        # librdkafka keeps a reference only: the record must outlive the last flush.
        self._record = (ctypes.c_char * record_bytes).from_buffer_copy(bytes(range(256)) * (record_bytes // 256 + 1))
        message = _Message(payload=ctypes.addressof(self._record), length=record_bytes)
        self._batch = (_Message * BATCH_RECORDS)(*[message] * BATCH_RECORDS)

    def offer(self, partition: int, count: int) -> int:
        """Hand over up to `count` records; how many were taken before the queue was full."""
        call = self._handle.library.rd_kafka_produce_batch
        return int(call(self._handle.topic, partition, 0, ctypes.byref(self._batch), min(count, BATCH_RECORDS)))

    def send(self, partitions: int, count: int, chunk_records: int = BATCH_RECORDS) -> None:
        """All are acknowledged afterwards. Raises ExternalFailure."""
        left, turn = count, 0
        while left:
            taken = self.offer(turn % partitions, min(left, chunk_records))
            left -= taken
            turn += 1
            if not taken:
                self.poll(POLL_MS)
        self.flush()

    def poll(self, timeout_ms: int = 0) -> None:
        self._handle.library.rd_kafka_poll(self._handle.client, timeout_ms)

    @property
    def queued_count(self) -> int:
        return int(self._handle.library.rd_kafka_outq_len(self._handle.client))

    def flush(self) -> None:
        if self._handle.library.rd_kafka_flush(self._handle.client, FLUSH_TIMEOUT_MS):
            raise ExternalFailure(f"records were not acknowledged within {FLUSH_TIMEOUT_MS // 1000} s")

    def close(self) -> None:
        self._handle.close()


class BulkConsumer:
    """Reads partitions from their start, and looks at nothing but the number of records."""

    def __init__(self, bootstrap: str, topic: str, partitions: int, settings: Mapping[str, str]) -> None:
        self._handle = _Handle(CONSUMER, topic, {"bootstrap.servers": bootstrap, **settings})
        self._partitions = partitions
        self._queue = self._handle.library.rd_kafka_queue_new(self._handle.client)
        self._taken = (ctypes.c_void_p * BATCH_RECORDS)()

    def receive(self, count: int) -> None:
        """Returns once so many records came. Raises ExternalFailure when they do not come."""
        library, queue, taken = self._handle.library, self._queue, self._taken
        destroy, take = library.rd_kafka_message_destroy, library.rd_kafka_consume_batch_queue
        for partition in range(self._partitions):
            library.rd_kafka_consume_start_queue(self._handle.topic, partition, 0, queue)
        deadline_s = time.monotonic() + RECEIVE_TIMEOUT_S
        while count > 0:
            got = int(take(queue, POLL_MS, ctypes.byref(taken), BATCH_RECORDS))
            for message in taken[:got]:
                destroy(message)
            count -= got
            if time.monotonic() > deadline_s:
                raise ExternalFailure(f"{count} records did not come within {RECEIVE_TIMEOUT_S:.0f} s")

    def close(self) -> None:
        for partition in range(self._partitions):
            self._handle.library.rd_kafka_consume_stop(self._handle.topic, partition)
        self._handle.library.rd_kafka_queue_destroy(self._queue)
        self._handle.close()
