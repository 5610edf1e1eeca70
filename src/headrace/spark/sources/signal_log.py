"""The topic `__signals` as sources and the driver read it: always up to its end, each record once."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from headrace.errors import NotFound
from headrace.signals import SIGNALS_TOPIC, SignalRecord
from headrace.spark.reading.topics import Topic, open_topic
from headrace.spark.sources.cuts import Cuts
from headrace.spark.specs import QueryTopics, TopicLocation


class SignalLog:
    """The signals to one query, in the topics that it reads. A broker that is none of ours has no signals."""

    def __init__(self, location: TopicLocation, pipeline: str, read: QueryTopics) -> None:
        """`location` is that of any of the topics."""
        self._location = replace(location, topic=SIGNALS_TOPIC)
        self._pipeline = pipeline
        self._read = read
        self._topic: Topic | None = None
        self._is_absent = False
        self._position = 0
        self._records: dict[bytes, SignalRecord] = {}
        self._cuts = Cuts(read.topics, began=read.began)

    @property
    def sources(self) -> tuple[str, ...]:
        """The nodes that read topics of the query."""
        return tuple(self._read.topics)

    def cuts(self) -> Cuts:
        """As of now. To be called after the offsets were read that it is to limit: then no mark can be overlooked."""
        with suppress(NotFound):
            if not self._is_absent and self._refresh():
                self._cuts = Cuts.of(self._records.values(), self._read.topics, self._pipeline, self._read.began)
        return self._cuts

    def close(self) -> None:
        if self._topic is not None:
            self._topic.close()

    def _refresh(self) -> bool:
        """Whether anything was new."""
        first, end = self._bounds()
        if end <= self._position:
            return False
        if first > self._position and self._position > 0:
            # Rewritten by the broker: all that still counts comes again.
            self._records.clear()
        for records in self._opened().read(0, max(first, self._position), end):
            for key, value in zip(records.keys.to_pylist(), records.values.to_pylist(), strict=True):
                self._take(key or b"", value)
        self._position = end
        return True

    def _take(self, key: bytes, value: bytes | None) -> None:
        if value is None:
            self._records.pop(key, None)
        else:
            self._records[key] = SignalRecord.from_bytes(value)

    def _bounds(self) -> tuple[int, int]:
        try:
            return self._opened().bounds()[0]
        except NotFound:
            self._is_absent = True
            raise

    def _opened(self) -> Topic:
        if self._topic is None:
            self._topic = open_topic(self._location)
        return self._topic
