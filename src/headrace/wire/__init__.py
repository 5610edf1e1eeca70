"""The Kafka protocol: the broker, and a small client in `headrace.wire.client`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.lazy import exporter

if TYPE_CHECKING:
    from headrace.wire.broker import Broker
    from headrace.wire.config import BrokerConfig, load_config
    from headrace.wire.process import run_broker

__all__ = ["Broker", "BrokerConfig", "load_config", "run_broker"]

# The client is used where no broker runs.
__getattr__ = exporter(
    __name__, {"Broker": "broker", "BrokerConfig": "config", "load_config": "config", "run_broker": "process"}
)
