"""A small synchronous Kafka client: administration, transactions and raw batches, on this broker or on a cluster.

For consuming with groups and for producing records one by one, use confluent-kafka; this one exists where batches are
already encoded and each step of a transaction must be taken by hand.
"""

from headrace.wire.client.client import EARLIEST, LATEST, Client, Fetched, ListedOffset, Producer
from headrace.wire.client.errors import ConnectionLost, KafkaError
from headrace.wire.client.routing import Metadata, TopicMetadata

__all__ = [
    "EARLIEST",
    "LATEST",
    "Client",
    "ConnectionLost",
    "Fetched",
    "KafkaError",
    "ListedOffset",
    "Metadata",
    "Producer",
    "TopicMetadata",
]
