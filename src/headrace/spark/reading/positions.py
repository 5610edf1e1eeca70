"""Where the sources of a query stand, by node: as Spark's write-ahead files and commit records say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from headrace.spark.specs import Offsets, node_of

# Source node → offset of each partition of its topic.
Position: TypeAlias = "Mapping[str, Offsets]"


def source_offsets(write_ahead: str) -> list[str]:
    """The sources' part of a write-ahead file: what two runs of one batch must have in common."""
    return write_ahead.splitlines()[2:]


def parse_offsets(text: str | None) -> Offsets:
    """Spark gives offsets as JSON text, or something else before the first batch."""
    return _partitions(_json(text))


def position_in(write_ahead: str | None, starts: Position) -> dict[str, Offsets]:
    """The topics' part of a write-ahead file; without one, the starts.

    Spark may read a node's topic more than once: the smallest offset is what all of its sources have reached.
    """
    if write_ahead is None:
        return {node: dict(start) for node, start in starts.items()}
    only = next(iter(starts)) if len(starts) == 1 else None
    found: dict[str, Offsets] = {}
    for offsets in map(_json, source_offsets(write_ahead)):
        node, partitions = node_of(offsets) or only, _partitions(offsets)
        if node is not None and partitions:
            found[node] = lower(partitions, found.get(node, {}))
    return found


def newest_position(checkpoint: Path, starts: Position) -> dict[str, Offsets]:
    """Where the micro-batch begins that Spark is planning."""
    return position_in(_newest(checkpoint), starts)


def newest_watermark_ms(checkpoint: Path) -> int:
    """Spark's watermark in the newest micro-batch; 0 before there is one."""
    write_ahead = _newest(checkpoint)
    return 0 if write_ahead is None else watermark_ms(write_ahead)


def watermark_ms(write_ahead: str) -> int:
    """Spark's watermark in a micro-batch: what waited for it leaves Spark's plan in that one."""
    return int(json.loads(write_ahead.splitlines()[1])["batchWatermarkMs"])


def _newest(checkpoint: Path) -> str | None:
    """The newest write-ahead file."""
    folder = checkpoint / "offsets"
    batches = [int(path.name) for path in folder.glob("*") if path.name.isdigit()]
    return (folder / str(max(batches))).read_text() if batches else None


def lower(one: Offsets, other: Offsets) -> Offsets:
    """The smaller offset of each partition that the first has."""
    return {partition: min(offset, other.get(partition, offset)) for partition, offset in one.items()}


def _json(text: str | None) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text) if text and text.startswith("{") else {}
    return found


def _partitions(offsets: Mapping[str, Any]) -> Offsets:
    # Beside the partitions a source may count ticks.
    return {partition: offset for partition, offset in offsets.items() if partition.isdigit()}
