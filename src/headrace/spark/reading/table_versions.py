"""Versions of tables among the offsets of sources: what a micro-batch looks up is written down with what it reads.

Loaded by the process that only plans offsets: no Arrow, no client.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from typing import Final

from headrace.spark.reading.topics import open_topic
from headrace.spark.specs import Offsets, TopicLocation

# Before the node and the partition of a table.
TABLE_TAG: Final = "table:"


def with_versions(offsets: Offsets, start: Mapping[str, int], tables: Mapping[str, TopicLocation]) -> Offsets:
    """The offsets of a source, with the newest versions of tables: where it goes on; else with those that it had.

    A change of a table alone starts no micro-batch.
    """
    if not tables:
        return offsets
    before = {name: offset for name, offset in start.items() if name.startswith(TABLE_TAG)}
    if {**offsets, **before} == start:
        return {**offsets, **before}
    found = {node: version_of(location) for node, location in tables.items()}
    newest = {f"{TABLE_TAG}{node}:{partition}": end for node, ends in found.items() for partition, end in ends.items()}
    return {**offsets, **newest}


def pinned(write_ahead: str | None, node: str) -> Offsets:
    """The version of a table that Spark's write-ahead file names; of several sources the newest, of no topic none."""
    version: Offsets = {}
    for line in (write_ahead or "").splitlines()[2:]:
        offsets: Offsets = json.loads(line) if line.startswith("{") else {}
        for name, end in offsets.items():
            if name.startswith(f"{TABLE_TAG}{node}:"):
                partition = name.rpartition(":")[2]
                version[partition] = max(end, version.get(partition, 0))
    return version


def version_of(location: TopicLocation) -> Offsets:
    """The newest version of a table."""
    with closing(open_topic(location)) as topic:
        return {str(partition): end for partition, (_, end) in topic.bounds().items()}
