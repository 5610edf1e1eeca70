"""The topic partitions whose rows come into a chain: all of them, and those with records that were not read yet."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field

from headrace.serial.places import origin_of
from headrace.spark.reading.positions import position_in
from headrace.spark.reading.topics import open_topic
from headrace.spark.specs import Offsets, TopicLocation


@dataclass(frozen=True, slots=True)
class FedTopic:
    """`numbers` are those of the sources under which the event time of its partitions is kept (`places.origin_of`)."""

    location: TopicLocation
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SourcePartitions:
    """Of one query. `topics` are the sources whose rows bring event time into the chain, by node; `read` are the nodes
    of all topics that the query reads."""

    topics: Mapping[str, FedTopic] = field(default_factory=dict)
    read: tuple[str, ...] = ()

    def all(self, offsets: str) -> frozenset[int]:
        """The partitions that a micro-batch knew, by its write-ahead file."""
        return frozenset(
            origin_of(number, int(partition))
            for topic, position in self._positions(offsets)
            for number in topic.numbers
            for partition in position
        )

    def unread(self, offsets: str, among: Collection[int]) -> frozenset[int]:
        """Those with records behind what the micro-batch read. Asks the log or the broker. Raises ExternalFailure."""
        found: set[int] = set()
        for topic, position in self._positions(offsets) if among else ():
            with closing(open_topic(topic.location)) as opened:
                ends = {partition: end for partition, (_, end) in opened.bounds().items()}
            behind = [int(p) for p, offset in position.items() if ends.get(int(p), offset) > offset]
            found |= {origin_of(number, partition) for number in topic.numbers for partition in behind}
        return frozenset(found.intersection(among))

    def _positions(self, offsets: str) -> Iterator[tuple[FedTopic, Offsets]]:
        found = position_in(offsets, {node: {} for node in self.read})
        return ((topic, found.get(node, {})) for node, topic in self.topics.items())
