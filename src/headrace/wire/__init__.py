"""The Kafka protocol: the broker, and a small client in `headrace.wire.client`."""

from headrace.wire.broker import Broker
from headrace.wire.config import BrokerConfig, load_config
from headrace.wire.process import run_broker

__all__ = ["Broker", "BrokerConfig", "load_config", "run_broker"]
