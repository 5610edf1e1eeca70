"""One process of load for the suite `log`: says that it is connected, waits for a line, works, says how it went.

Started as `python -m headrace.bench.log_load '{"role": ...}'`. Roles: produce, consume, requests, send-paced, receive.
"""

from __future__ import annotations

import json
import struct
import sys
import time
from collections.abc import Callable
from typing import Any, Final

from headrace.bench.log_client import BulkConsumer, BulkProducer

# The same for every broker. Buffers are large enough that the client does not wait for itself.
PRODUCER_SETTINGS: Final = {
    "linger.ms": "5",
    "batch.size": "1000000",
    "batch.num.messages": "100000",
    "message.max.bytes": "2000000",
    "queue.buffering.max.kbytes": "262144",
}
CONSUMER_SETTINGS: Final = {
    "fetch.message.max.bytes": "4194304",
    "queued.min.messages": "1000000",
    "queued.max.messages.kbytes": "131072",
    "fetch.queue.backoff.ms": "1",
}
ONE_RECORD_SETTINGS: Final = {
    "linger.ms": "0",
    "batch.num.messages": "1",
    "max.in.flight.requests.per.connection": "1",
    "queue.buffering.max.messages": "100000",
}
PACE_S: Final = 0.001
IDLE_TIMEOUT_S: Final = 10.0

_STAMP: Final = struct.Struct("<q")

Spec = dict[str, Any]
Work = Callable[[], dict[str, Any]]


def _produce(spec: Spec) -> Work:
    producer = BulkProducer(spec["bootstrap"], spec["topic"], spec["record_bytes"], PRODUCER_SETTINGS)
    producer.send(spec["partitions"], spec["partitions"], chunk_records=1)

    def work() -> dict[str, Any]:
        producer.send(spec["partitions"], spec["records"], chunk_records=spec["chunk_records"])
        return {}

    return work


def _consume(spec: Spec) -> Work:
    consumer = BulkConsumer(spec["bootstrap"], spec["topic"], spec["partitions"], CONSUMER_SETTINGS)

    def work() -> dict[str, Any]:
        consumer.receive(spec["records"])
        return {}

    return work


def _requests(spec: Spec) -> Work:
    """Many connections with one request of one record in flight on each."""
    arguments = (spec["bootstrap"], spec["topic"], spec["record_bytes"], ONE_RECORD_SETTINGS)
    producers = [BulkProducer(*arguments) for _ in range(spec["connections"])]
    for producer in producers:
        producer.send(1, 1)

    def work() -> dict[str, Any]:
        for producer in producers:
            producer.offer(0, spec["records"] // len(producers))
        for producer in producers:
            producer.flush()
        return {}

    return work


def _send_paced(spec: Spec) -> Work:
    """Records that carry the time at which they were handed over, so many each millisecond."""
    from confluent_kafka import Producer  # noqa: PLC0415

    producer = Producer({"bootstrap.servers": spec["bootstrap"], "acks": "all", "linger.ms": 1, "log_level": 0})
    padding = bytes(spec["record_bytes"] - _STAMP.size)
    per_step = max(1, round(spec["rate"] * PACE_S))

    def work() -> dict[str, Any]:
        began_s = time.monotonic()
        for step in range(spec["records"] // per_step):
            delay_s = began_s + step * PACE_S - time.monotonic()
            if delay_s > 0:
                time.sleep(delay_s)
            for _ in range(per_step):
                producer.produce(spec["topic"], _STAMP.pack(time.monotonic_ns()) + padding, partition=0)
            producer.poll(0)
        producer.flush()
        return {}

    return work


def _receive(spec: Spec) -> Work:
    """Milliseconds from hand-over to arrival, of each record; the clock is the machine's."""
    from confluent_kafka import Consumer, TopicPartition  # noqa: PLC0415

    settings = {"bootstrap.servers": spec["bootstrap"], "group.id": "bench", "enable.auto.commit": False}
    consumer = Consumer({**settings, "log_level": 0})
    consumer.assign([TopicPartition(spec["topic"], 0, 0)])
    consumer.poll(1.0)

    def work() -> dict[str, Any]:
        latencies_ms: list[float] = []
        idle_since_s = time.monotonic()
        while len(latencies_ms) < spec["records"] and time.monotonic() - idle_since_s < IDLE_TIMEOUT_S:
            message = consumer.poll(0.1)
            if message is not None and (value := message.value()) is not None:
                latencies_ms.append((time.monotonic_ns() - _STAMP.unpack_from(value)[0]) / 1e6)
                idle_since_s = time.monotonic()
        return {"latencies_ms": latencies_ms}

    return work


ROLES: Final[dict[str, Callable[[Spec], Work]]] = {
    "produce": _produce,
    "consume": _consume,
    "requests": _requests,
    "send-paced": _send_paced,
    "receive": _receive,
}


def main() -> None:
    spec: Spec = json.loads(sys.argv[1])
    work = ROLES[spec["role"]](spec)
    print("ready", flush=True)
    if not sys.stdin.readline():
        return
    began_s, began_cpu_s = time.monotonic(), time.process_time()
    found = work()
    seconds, cpu_s = time.monotonic() - began_s, time.process_time() - began_cpu_s
    print(json.dumps({"seconds": seconds, "cpu_s": cpu_s, **found}), flush=True)


if __name__ == "__main__":
    main()
