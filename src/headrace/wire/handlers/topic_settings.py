"""What Kafka's tools want to know of a topic's setting: its default, where its value comes from, its type, its text."""

from __future__ import annotations

from typing import Final

from headrace.log import TopicConfig
from headrace.log.topics import FIXED_SETTINGS

SET_ON_TOPIC: Final = 1
STATIC_BROKER_SETTING: Final = 4
DEFAULT: Final = 5

TYPE_BOOLEAN: Final = 1
TYPE_STRING: Final = 2
TYPE_INT: Final = 3
TYPE_LONG: Final = 5
TYPE_DOUBLE: Final = 6
TYPE_LIST: Final = 7

_TYPES: Final = {
    "cleanup.policy": TYPE_LIST,
    "max.message.bytes": TYPE_INT,
    "segment.bytes": TYPE_INT,
    "min.insync.replicas": TYPE_INT,
    "min.cleanable.dirty.ratio": TYPE_DOUBLE,
    "compression.gzip.level": TYPE_INT,
    "compression.lz4.level": TYPE_INT,
    "compression.zstd.level": TYPE_INT,
    "follower.replication.throttled.replicas": TYPE_LIST,
    "index.interval.bytes": TYPE_INT,
    "leader.replication.throttled.replicas": TYPE_LIST,
    "segment.index.bytes": TYPE_INT,
}

# The broker's own name for the default of a topic's setting, which tools show as its synonym.
_BROKER_NAMES: Final = {
    "cleanup.policy": "log.cleanup.policy",
    "compression.gzip.level": "compression.gzip.level",
    "compression.lz4.level": "compression.lz4.level",
    "compression.type": "compression.type",
    "compression.zstd.level": "compression.zstd.level",
    "delete.retention.ms": "log.cleaner.delete.retention.ms",
    "file.delete.delay.ms": "log.segment.delete.delay.ms",
    "flush.messages": "log.flush.interval.messages",
    "flush.ms": "log.flush.interval.ms",
    "index.interval.bytes": "log.index.interval.bytes",
    "max.compaction.lag.ms": "log.cleaner.max.compaction.lag.ms",
    "max.message.bytes": "message.max.bytes",
    "message.timestamp.after.max.ms": "log.message.timestamp.after.max.ms",
    "message.timestamp.before.max.ms": "log.message.timestamp.before.max.ms",
    "message.timestamp.type": "log.message.timestamp.type",
    "min.cleanable.dirty.ratio": "log.cleaner.min.cleanable.ratio",
    "min.compaction.lag.ms": "log.cleaner.min.compaction.lag.ms",
    "min.insync.replicas": "min.insync.replicas",
    "preallocate": "log.preallocate",
    "retention.bytes": "log.retention.bytes",
    "retention.ms": "log.retention.ms",
    "segment.bytes": "log.segment.bytes",
    "segment.index.bytes": "log.index.size.max.bytes",
    "segment.jitter.ms": "log.roll.jitter.ms",
    "segment.ms": "log.roll.ms",
    "unclean.leader.election.enable": "unclean.leader.election.enable",
}

_TEXTS: Final = {
    "cleanup.policy": "What becomes of old records: delete drops whole segments by age and size, compact keeps the "
    "newest record of each key, and both may be given together.",
    "compression.type": "How batches are stored: as the producer sent them, uncompressed, or with one codec for all.",
    "compression.gzip.level": "How hard gzip compresses where compression.type is gzip.",
    "compression.lz4.level": "How hard LZ4 compresses where compression.type is lz4; the default is its fast mode.",
    "compression.zstd.level": "How hard Zstandard compresses where compression.type is zstd.",
    "delete.retention.ms": "How long compaction keeps the record that says a key is gone.",
    "headrace.backlog.policy": "What becomes of writes while readers are too far behind: unbounded takes them, block "
    "slows their producers, drop_newest refuses them.",
    "headrace.backlog.records": "How far readers may be behind before that policy holds; -1 for no limit.",
    "local.retention.bytes": "How much of a partition stays on disk after it was archived; -2: as retention.bytes.",
    "local.retention.ms": "How long sealed segments stay on this disk after they were archived; -2: as retention.ms.",
    "max.compaction.lag.ms": "After this long a record is compacted even if little of the log is dirty.",
    "max.message.bytes": "The largest record batch that is accepted, as it is sent, compressed or not.",
    "message.timestamp.after.max.ms": "How far in the future the time of a record may be.",
    "message.timestamp.before.max.ms": "How long ago the time of a record may be.",
    "message.timestamp.type": "Whether a record's time is its producer's or the moment of its append.",
    "min.cleanable.dirty.ratio": "How much of the log must be dirty before it is compacted.",
    "min.compaction.lag.ms": "How long a record is spared by compaction.",
    "min.insync.replicas": "Always 1: one broker has one replica.",
    "remote.log.copy.disable": "Whether no more segments are archived; those that are stay readable.",
    "remote.storage.enable": "Whether sealed segments are archived to object storage and read back from there.",
    "retention.bytes": "How much of a partition is kept, counted in whole segments; -1 for no limit.",
    "retention.ms": "How long records are kept after the newest of their segment; -1 for no limit.",
    "segment.bytes": "How large a segment grows before the next one begins; retention and compaction act on segments.",
    "segment.ms": "After this long a segment is closed though it is not full.",
}

_DEFAULTS: Final = TopicConfig().to_names()


def default_of(name: str) -> str:
    return _DEFAULTS[name]


def source_of(name: str, value: str) -> int:
    """A value equal to the default counts as the default, whether or not somebody set it."""
    return DEFAULT if _DEFAULTS[name] == value else SET_ON_TOPIC


def broker_name(name: str) -> str | None:
    return _BROKER_NAMES.get(name)


def type_of(name: str, value: str) -> int:
    if name in _TYPES:
        return _TYPES[name]
    if value in ("true", "false"):
        return TYPE_BOOLEAN
    return TYPE_LONG if value.lstrip("-").isdigit() else TYPE_STRING


def text_of(name: str) -> str | None:
    if name in FIXED_SETTINGS:
        return "Not used by this broker: it has its default only."
    return _TEXTS.get(name)
