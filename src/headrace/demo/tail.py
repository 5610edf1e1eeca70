"""Follows the output topics: how many rows came, and the newest of them."""

from __future__ import annotations

import json
import threading
from collections import deque
from typing import Any, Final

from headrace.kafka import Reader

NEWEST_MAX: Final = 20


class Tail(threading.Thread):
    """One topic, from its beginning, until `stop`."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        super().__init__(name=f"demo-tail-{topic}", daemon=True)
        self._reader = Reader(bootstrap, topic, client_id="headrace-demo")
        self._stop_asked = threading.Event()
        self.row_count = 0
        self.newest: deque[dict[str, Any]] = deque(maxlen=NEWEST_MAX)

    def run(self) -> None:
        with self._reader as reader:
            while not self._stop_asked.is_set():
                records = reader.poll()
                self.newest.extend(json.loads(record.value or b"{}") for record in records[-NEWEST_MAX:])
                self.row_count += len(records)

    def stop(self) -> None:
        self._stop_asked.set()
        self.join()
