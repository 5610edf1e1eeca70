"""kafka-python in a process of its own: it leaks sockets of connections that fail, which other tests would see.

Reads a topic to `count`, says so, waits for a line, reads as much again, commits. Prints what it saw as JSON.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from kafka import ConsumerRebalanceListener, KafkaConsumer

DEADLINE_MS = 60_000


class Notes(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self) -> None:
        self.events: list[str] = []

    def on_partitions_revoked(self, revoked: Any) -> None:
        self.events.append("revoked")

    def on_partitions_assigned(self, assigned: Any) -> None:
        self.events.append("assigned")


def main(bootstrap: str, topic: str, count: int) -> None:
    notes = Notes()
    consumer = KafkaConsumer(
        bootstrap_servers=bootstrap,
        group_id=topic,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        reconnect_backoff_ms=20,
        consumer_timeout_ms=DEADLINE_MS,
    )
    consumer.subscribe([topic], listener=notes)
    seen = [int(next(consumer).value) for _ in range(count)]
    notes.events.clear()
    print("read", flush=True)
    sys.stdin.readline()
    seen += [int(next(consumer).value) for _ in range(count)]
    consumer.commit()
    print(json.dumps({"seen": seen, "events": notes.events}), flush=True)
    consumer.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
