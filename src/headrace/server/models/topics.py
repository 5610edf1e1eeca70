"""Topics and the messages in them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from headrace.server.models.base import Model

Encoding = Literal["json", "text", "base64", "null"]


class TopicEntry(Model):
    """`messages` counts offsets between start and end; `bytes` is null for a broker on another machine."""

    name: str
    partitions: int
    messages: int
    bytes: int | None
    is_internal: bool


class TopicList(Model):
    topics: list[TopicEntry]


class PartitionView(Model):
    id: int
    start_offset: int
    end_offset: int
    bytes: int | None
    segments: int | None


class TopicSetting(Model):
    name: str
    value: str | None
    is_default: bool
    is_read_only: bool


class TopicView(Model):
    name: str
    is_internal: bool
    messages: int
    bytes: int | None
    partitions: list[PartitionView]
    config: list[TopicSetting]


class Content(Model):
    """A key, a value or a header: a JSON value, a text, base64 of bytes that are neither, or nothing."""

    encoding: Encoding
    value: Any
    size: int


class HeaderView(Model):
    name: str
    content: Content


class MessageView(Model):
    """`error` says why a message could not be shown in the wanted format."""

    partition: int
    offset: int
    timestamp: datetime | None
    key: Content
    value: Content
    headers: list[HeaderView]
    size: int
    error: str | None


class MessagePage(Model):
    """`next` continues where this page ended, also where the time was up: then `is_complete` is false. `remaining`:
    offsets that are not looked at yet, of all partitions."""

    messages: list[MessageView]
    next: str | None
    is_complete: bool
    scanned: int
    remaining: int
    took_ms: int


class ProducedView(Model):
    topic: str
    partition: int
    offset: int
