"""Which topic partitions feed a chain, and which of them have records that were not read: asked of a real log."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from headrace.serial.places import origin_of
from headrace.spark.chains.partitions import FedTopic, SourcePartitions
from headrace.spark.specs import TopicLocation

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("is_local", [True, False])
def test_partitions_of_a_topic_by_what_was_read(stack: Stack, is_local: bool) -> None:
    topic = stack.topic("in", [{"k": "a"}] * 3, partitions=2)
    location = TopicLocation(topic, stack.bootstrap, str(stack.data / "log") if is_local else None)
    partitions = SourcePartitions({"src": FedTopic(location, (0, 2))}, ("src",))
    (filled,) = (p for p in (0, 1) if partitions.unread(write_ahead({"0": 0, "1": 0}), {p}))
    empty = 1 - filled
    every = {origin_of(number, p) for number in (0, 2) for p in (0, 1)}
    read, unread = write_ahead({str(empty): 0, str(filled): 3}), write_ahead({str(empty): 0, str(filled): 2})
    assert partitions.all(read) == every
    assert partitions.unread(read, every) == frozenset()
    assert partitions.unread(unread, every) == {filled, origin_of(2, filled)}
    assert partitions.unread(unread, {empty}) == frozenset()


def write_ahead(offsets: dict[str, int]) -> str:
    """What Spark writes before a micro-batch."""
    return "\n".join(["v1", json.dumps({"batchTimestampMs": 0, "batchWatermarkMs": 0}), json.dumps(offsets)])
