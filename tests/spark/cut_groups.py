"""What windows that only signals close must say, by an independent look at the topics; and what they said."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, TypeAlias

from headrace.kafka import Reader
from headrace.signals import SignalRecord

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

# Key, count, smallest and greatest number.
Group: TypeAlias = "tuple[str, int, int, int]"


def groups_between_cuts(stack: Stack, topics: list[str], signals: list[SignalRecord]) -> list[Group]:
    """What the windows must say: an independent look at the topics, row by row."""
    ordered = sorted(signals, key=lambda signal: signal.number)
    found: dict[tuple[int, str], list[int]] = defaultdict(list)
    for topic in topics:
        cuts = [signal.cut[topic] for signal in ordered]
        with Reader(stack.bootstrap, topic) as reader:
            for record in reader.records():
                row = json.loads(record.value or b"")
                piece = next(i for i, cut in enumerate(cuts) if record.offset < cut[record.partition])
                found[piece, row["k"]].append(row["n"])
    return sorted((k, len(ns), min(ns), max(ns)) for (_, k), ns in found.items())


def closed_windows(stack: Stack, topic: str) -> list[Group]:
    return sorted((row["k"], row["c"], row["low"], row["high"]) for row in stack.rows(topic))
