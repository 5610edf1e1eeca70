"""Clients of confluent-kafka that keep quiet: brokers die in tests, and librdkafka would report that on stderr."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import confluent_kafka
import confluent_kafka.admin

# Whoever wants to see what librdkafka says sets its own log_level.
QUIET = {"log_level": 0}


class Producer(confluent_kafka.Producer):
    def __init__(self, settings: Mapping[str, Any]) -> None:
        super().__init__({**QUIET, **settings})


class Consumer(confluent_kafka.Consumer):
    def __init__(self, settings: Mapping[str, Any]) -> None:
        super().__init__({**QUIET, **settings})


class AdminClient(confluent_kafka.admin.AdminClient):
    def __init__(self, settings: Mapping[str, Any]) -> None:
        super().__init__({**QUIET, **settings})
