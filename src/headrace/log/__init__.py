"""The durable log: topics, partitions, record batches as Kafka lays them out, and readers beside the broker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.lazy import exporter

if TYPE_CHECKING:
    from headrace.log.aborted import AbortedTransaction
    from headrace.log.archive import NotLocal, delete_remote
    from headrace.log.batch import BatchHeader, parse_batches, with_producer
    from headrace.log.codec import CODECS, Codec
    from headrace.log.creation import TopicCreation
    from headrace.log.encode import encode_batches
    from headrace.log.fetched import committed_batches, decode_fetched
    from headrace.log.holds import Holds, advance_hold, hold_owners, place_hold, release_hold
    from headrace.log.objects import ObjectStore, open_objects
    from headrace.log.partition import Partition
    from headrace.log.pressure import Pressure
    from headrace.log.reader import PartitionReader
    from headrace.log.records import Records, decode_batch
    from headrace.log.refusal import ErrorCode, LogRefusal
    from headrace.log.results import Appended, Slice, SyncTicket, TimestampOffset
    from headrace.log.storage import OsStorage, Span, Storage
    from headrace.log.store import LogStore, Topic, now_ms
    from headrace.log.topics import TopicConfig
    from headrace.log.unreadable import UnreadableBatch
    from headrace.log.watermark import Watermark

__all__ = [
    "CODECS",
    "AbortedTransaction",
    "Appended",
    "BatchHeader",
    "Codec",
    "ErrorCode",
    "Holds",
    "LogRefusal",
    "LogStore",
    "NotLocal",
    "ObjectStore",
    "OsStorage",
    "Partition",
    "PartitionReader",
    "Pressure",
    "Records",
    "Slice",
    "Span",
    "Storage",
    "SyncTicket",
    "TimestampOffset",
    "Topic",
    "TopicConfig",
    "TopicCreation",
    "UnreadableBatch",
    "Watermark",
    "advance_hold",
    "committed_batches",
    "decode_batch",
    "decode_fetched",
    "delete_remote",
    "encode_batches",
    "hold_owners",
    "now_ms",
    "open_objects",
    "parse_batches",
    "place_hold",
    "release_hold",
    "with_producer",
]

# The broker never decodes a record, and need not load Arrow for those who do.
_NAMES = {
    "aborted": ("AbortedTransaction",),
    "archive": ("NotLocal", "delete_remote"),
    "batch": ("BatchHeader", "parse_batches", "with_producer"),
    "codec": ("CODECS", "Codec"),
    "creation": ("TopicCreation",),
    "encode": ("encode_batches",),
    "fetched": ("committed_batches", "decode_fetched"),
    "holds": ("Holds", "advance_hold", "hold_owners", "place_hold", "release_hold"),
    "objects": ("ObjectStore", "open_objects"),
    "partition": ("Partition",),
    "pressure": ("Pressure",),
    "reader": ("PartitionReader",),
    "records": ("Records", "decode_batch"),
    "refusal": ("ErrorCode", "LogRefusal"),
    "results": ("Appended", "Slice", "SyncTicket", "TimestampOffset"),
    "storage": ("OsStorage", "Span", "Storage"),
    "store": ("LogStore", "Topic", "now_ms"),
    "topics": ("TopicConfig",),
    "unreadable": ("UnreadableBatch",),
    "watermark": ("Watermark",),
}
__getattr__ = exporter(__name__, {name: module for module, names in _NAMES.items() for name in names})
