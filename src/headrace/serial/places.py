"""Where the rows of a batch are from, so that an error can name the record it is about."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.serial.keys import Integers

# Origins number the partitions of all sources of a chain: those of each source begin at a multiple of this.
PARTITIONS_PER_SOURCE = 1 << 16


def origin_of(source: int, partition: int) -> int:
    """The number under which rows of a partition are put in order, and their event time is kept."""
    return source * PARTITIONS_PER_SOURCE + partition


@dataclass(frozen=True, slots=True)
class Places:
    """Origin (see `origin_of`) and offset of each row; `origins` is one number where all rows are of one."""

    origins: Integers | int
    offsets: Integers

    def at(self, row: int) -> tuple[int, int]:
        """Partition and offset."""
        origin = self.origins if isinstance(self.origins, int) else self.origins[row]
        return int(origin) % PARTITIONS_PER_SOURCE, int(self.offsets[row])

    def slice(self, start: int, count: int) -> Places:
        whole = self.origins
        origins = whole if isinstance(whole, int) else whole[start : start + count]
        return Places(origins, self.offsets[start : start + count])

    def take(self, rows: Integers) -> Places:
        """Those of some rows."""
        whole = self.origins
        return Places(whole if isinstance(whole, int) else whole[rows], self.offsets[rows])

    def __str__(self) -> str:
        first, last = self.at(0), self.at(len(self.offsets) - 1)
        if first == last:
            return f"partition {first[0]}, offset {first[1]}"
        if first[0] == last[0]:
            return f"partition {first[0]}, offsets {first[1]} to {last[1]}"
        return f"from partition {first[0]}, offset {first[1]}, to partition {last[0]}, offset {last[1]}"


@dataclass(slots=True)
class InputPlaces:
    """Of the rows that are on their way through the chain; None while it handles timers and signals."""

    current: Places | None = None
