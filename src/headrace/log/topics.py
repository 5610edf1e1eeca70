"""What is known of a topic beside its records: name, id, number of partitions, settings."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Literal
from uuid import UUID

from headrace.errors import CorruptData, InvalidConfig, did_you_mean
from headrace.log.codec import CODECS, GZIP_LEVEL, LZ4_LEVEL, ZSTD_LEVEL
from headrace.log.index import INDEX_INTERVAL_BYTES
from headrace.log.storage import Storage, read_whole, replace_atomically

UNLIMITED = -1
PARTITIONS_MAX = 10_000

NEVER_MS = 2**63 - 1
AS_RETENTION = -2
"""Of a local limit: the same as that of the whole topic."""

CleanupPolicy = Literal["delete", "compact", "compact,delete"]
BacklogPolicy = Literal["unbounded", "block", "drop_newest"]
TimestampType = Literal["CreateTime", "LogAppendTime"]


@dataclass(frozen=True, slots=True)
class TopicConfig:
    """A topic's settings under Kafka's names (`retention_ms` is `retention.ms`), with Kafka's defaults."""

    retention_ms: int = 7 * 24 * 3600 * 1000
    retention_bytes: int = UNLIMITED
    segment_bytes: int = 1 << 30
    segment_ms: int = 7 * 24 * 3600 * 1000
    max_message_bytes: int = 1_048_588
    cleanup_policy: CleanupPolicy = "delete"
    compression_type: str = "producer"
    compression_gzip_level: int = GZIP_LEVEL
    compression_lz4_level: int = LZ4_LEVEL
    compression_zstd_level: int = ZSTD_LEVEL
    message_timestamp_type: TimestampType = "CreateTime"
    message_timestamp_before_max_ms: int = NEVER_MS
    message_timestamp_after_max_ms: int = 3_600_000
    min_cleanable_dirty_ratio: float = 0.5
    delete_retention_ms: int = 24 * 3600 * 1000
    min_compaction_lag_ms: int = 0
    max_compaction_lag_ms: int = NEVER_MS
    min_insync_replicas: int = 1
    remote_storage_enable: bool = False
    remote_log_copy_disable: bool = False
    local_retention_ms: int = AS_RETENTION
    local_retention_bytes: int = AS_RETENTION
    headrace_backlog_policy: BacklogPolicy = "unbounded"
    headrace_backlog_records: int = UNLIMITED

    @property
    def is_compacted(self) -> bool:
        return "compact" in self.cleanup_policy

    @property
    def is_deleted(self) -> bool:
        """Whether old records are deleted by time and size."""
        return "delete" in self.cleanup_policy

    @property
    def segment_age_ms_max(self) -> int:
        """How far apart the times in one segment may be. What is compacted in time has to be sealed in time."""
        return min(self.segment_ms, self.max_compaction_lag_ms) if self.is_compacted else self.segment_ms

    @property
    def compression_level(self) -> int | None:
        """Of the codec that the topic stores; None where that has no levels."""
        levels = {
            "gzip": self.compression_gzip_level,
            "lz4": self.compression_lz4_level,
            "zstd": self.compression_zstd_level,
        }
        return levels.get(self.compression_type)

    def local(self) -> TopicConfig:
        """The settings with the limits of this disk in the place of the topic's own."""
        own_ms, own_bytes = self.local_retention_ms, self.local_retention_bytes
        return replace(
            self,
            retention_ms=self.retention_ms if own_ms == AS_RETENTION else own_ms,
            retention_bytes=self.retention_bytes if own_bytes == AS_RETENTION else own_bytes,
        )

    @classmethod
    def from_stored(cls, settings: Mapping[str, str]) -> TopicConfig:
        """Settings as an earlier Headrace wrote them. Raises InvalidConfig."""
        return cls.from_names({FORMER_NAMES.get(name, name): value for name, value in settings.items()})

    @classmethod
    def from_names(cls, settings: Mapping[str, str]) -> TopicConfig:
        """Settings as a client gives them. Raises InvalidConfig that lists the valid names or values."""
        for name in FIXED_SETTINGS.keys() & settings.keys():
            _check_fixed(name, settings[name])
        chosen = {name: value for name, value in settings.items() if name not in FIXED_SETTINGS}
        config = cls(**{_field(name): _parsed(name, value) for name, value in chosen.items()})  # type: ignore[arg-type]
        if config.min_compaction_lag_ms > config.max_compaction_lag_ms:
            valid = [f"min.compaction.lag.ms up to {config.max_compaction_lag_ms}, which max.compaction.lag.ms is"]
            raise InvalidConfig(f"min.compaction.lag.ms cannot be {config.min_compaction_lag_ms}", valid=valid)
        if config.remote_storage_enable and config.is_compacted:
            raise InvalidConfig("remote.storage.enable is true for a compacted topic", valid=["cleanup.policy=delete"])
        return config

    def to_names(self) -> dict[str, str]:
        """Every setting under Kafka's name, as text."""
        return {name_of(field.name): _text(getattr(self, field.name)) for field in fields(self)} | FIXED_SETTINGS


def name_of(field_name: str) -> str:
    """The setting that a field holds. Values have underscores, names do not."""
    return field_name.replace("_", ".")


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _integer(low: int, high: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        value = int(text)
        if not low <= value <= high:
            raise ValueError(text)
        return value

    parse.__doc__ = f"a whole number from {low} to {high}"
    return parse


def _ratio(text: str) -> float:
    """a number from 0 to 1"""
    value = float(text)
    if not 0 <= value <= 1:
        raise ValueError(text)
    return value


def _boolean(text: str) -> bool:
    """true | false"""
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


def _cleanup(text: str) -> str:
    """delete | compact | compact,delete"""
    policies = {part.strip() for part in text.split(",")}
    if not policies <= {"delete", "compact"}:
        raise ValueError(text)
    return ",".join(sorted(policies))


def _choice(*values: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in values:
            raise ValueError(text)
        return text

    parse.__doc__ = " | ".join(values)
    return parse


def _gzip_level(text: str) -> int:
    """-1 (the codec's own choice) or a whole number from 1 to 9"""
    level = int(text)
    if level != GZIP_LEVEL and not 1 <= level <= 9:
        raise ValueError(text)
    return level


FIXED_SETTINGS: dict[str, str] = {
    "file.delete.delay.ms": "60000",
    "flush.messages": str(NEVER_MS),
    "flush.ms": str(NEVER_MS),
    "follower.replication.throttled.replicas": "",
    "index.interval.bytes": str(INDEX_INTERVAL_BYTES),
    "leader.replication.throttled.replicas": "",
    "preallocate": "false",
    "remote.log.delete.on.disable": "false",
    "segment.index.bytes": str(10 << 20),
    "segment.jitter.ms": "0",
    "unclean.leader.election.enable": "false",
}
"""Kafka's settings that change nothing here, with Kafka's defaults: another value is refused, not ignored."""


FORMER_NAMES: dict[str, str] = {"remote.copy.disable": "remote.log.copy.disable"}
"""Settings that topic files of earlier versions hold under another name."""


def _check_fixed(name: str, value: str) -> None:
    if value.strip().lower() != FIXED_SETTINGS[name]:
        cause = f"{name} cannot be {value!r}: this broker does not use it"
        raise InvalidConfig(cause, valid=[FIXED_SETTINGS[name] or "an empty list"], hint="leave it out")


_SETTINGS: dict[str, Callable[[str], object]] = {
    "retention.ms": _integer(UNLIMITED, 2**63 - 1),
    "retention.bytes": _integer(UNLIMITED, 2**63 - 1),
    "segment.bytes": _integer(1024, 2**31 - 1),
    "segment.ms": _integer(1, NEVER_MS),
    "max.message.bytes": _integer(1, 2**31 - 1),
    "cleanup.policy": _cleanup,
    "compression.type": _choice("producer", "uncompressed", *CODECS[1:]),
    "compression.gzip.level": _gzip_level,
    "compression.lz4.level": _integer(1, 17),
    "compression.zstd.level": _integer(-131_072, 22),
    "message.timestamp.type": _choice("CreateTime", "LogAppendTime"),
    "message.timestamp.before.max.ms": _integer(0, NEVER_MS),
    "message.timestamp.after.max.ms": _integer(0, NEVER_MS),
    "min.cleanable.dirty.ratio": _ratio,
    "delete.retention.ms": _integer(0, 2**63 - 1),
    "min.compaction.lag.ms": _integer(0, NEVER_MS),
    "max.compaction.lag.ms": _integer(1, NEVER_MS),
    "min.insync.replicas": _integer(1, 1),
    "remote.storage.enable": _boolean,
    "remote.log.copy.disable": _boolean,
    "local.retention.ms": _integer(AS_RETENTION, 2**63 - 1),
    "local.retention.bytes": _integer(AS_RETENTION, 2**63 - 1),
    "headrace.backlog.policy": _choice("unbounded", "block", "drop_newest"),
    "headrace.backlog.records": _integer(UNLIMITED, 2**63 - 1),
}


def _field(name: str) -> str:
    if name not in _SETTINGS:
        known = [*_SETTINGS, *FIXED_SETTINGS]
        raise InvalidConfig(f"unknown topic setting {name!r}", valid=known, hint=did_you_mean(name, known))
    return name.replace(".", "_")


def _parsed(name: str, value: str) -> object:
    parse = _SETTINGS[name]
    try:
        return parse(value)
    except ValueError:
        raise InvalidConfig(f"{name} cannot be {value!r}", valid=[str(parse.__doc__)]) from None


@dataclass(frozen=True, slots=True)
class TopicMetadata:
    """The durable part of a topic. `deleted` marks one whose files are being removed."""

    name: str
    topic_id: UUID
    partition_count: int
    config: TopicConfig
    deleted: bool = False

    def save(self, storage: Storage, directory: Path) -> None:
        """Durable and complete afterwards, or as it was before."""
        content = {
            "name": self.name,
            "topic_id": str(self.topic_id),
            "partition_count": self.partition_count,
            "config": self.config.to_names(),
            "deleted": self.deleted,
        }
        replace_atomically(storage, directory / f"{self.name}.json", json.dumps(content, indent=2).encode())

    @classmethod
    def load(cls, storage: Storage, path: Path) -> TopicMetadata:
        """Raises CorruptData when the file does not hold a topic."""
        try:
            content = json.loads(read_whole(storage, path) or b"")
            return cls(
                name=content["name"],
                topic_id=UUID(content["topic_id"]),
                partition_count=int(content["partition_count"]),
                config=TopicConfig.from_stored(content["config"]),
                deleted=bool(content["deleted"]),
            )
        except (ValueError, KeyError, TypeError, InvalidConfig) as error:
            raise CorruptData(
                f"topic file {path.name} cannot be read: {error}", hint="restore it from a backup"
            ) from error
