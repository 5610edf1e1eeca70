"""How much is free on a disk, and when that is too little."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

# Below this much, or this share of a small disk, it is called nearly full; it is no longer with a quarter more.
LOW_BYTES: Final = 256 << 20
LOW_SHARE: Final = 0.05
ENOUGH_FACTOR: Final = 1.25
# Nothing useful can be written into what is left.
FULL_BYTES: Final = 1 << 20
_MEGABYTE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class DiskSpace:
    """Of the disk that a directory is on."""

    path: Path
    free_bytes: int
    total_bytes: int

    @classmethod
    def of(cls, path: Path) -> DiskSpace:
        """What this process may use. Raises OSError."""
        found = os.statvfs(path)
        return cls(path, found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize)

    @property
    def low_bytes(self) -> int:
        return min(LOW_BYTES, int(self.total_bytes * LOW_SHARE))

    @property
    def is_nearly_full(self) -> bool:
        return self.free_bytes < self.low_bytes

    @property
    def has_enough(self) -> bool:
        return self.free_bytes >= self.low_bytes * ENOUGH_FACTOR

    def __str__(self) -> str:
        if self.free_bytes < FULL_BYTES:
            return f"the disk of {self.path} is full"
        return f"the disk of {self.path} is nearly full: {self.free_bytes // _MEGABYTE} MB are free"
