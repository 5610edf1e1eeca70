"""The states that a worker process holds in memory, by the directory of their query."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from headrace.serial import LocalFiles, StateStore

# Queries whose state a worker holds, at most; and for how long where nothing comes, for a query that was stopped says
# nothing to workers. One that goes on reads its state from its files.
STORES_MAX: Final = 16
STORE_KEPT_S: Final = 300.0


@dataclass(slots=True)
class Stores:
    """The one that was used last is the last."""

    clock: Callable[[], float] = time.monotonic
    _used: OrderedDict[str, tuple[StateStore, float]] = field(default_factory=OrderedDict)

    def __len__(self) -> int:
        return len(self._used)

    def of(self, directory: str) -> StateStore:
        """The store of a query; those that were not asked for in a long time are forgotten."""
        now_s = self.clock()
        held = self._used.pop(directory) if directory in self._used else None
        store = StateStore(LocalFiles(Path(directory))) if held is None else held[0]
        while self._used and (len(self) >= STORES_MAX or self._oldest_s() < now_s - STORE_KEPT_S):
            self._used.popitem(last=False)
        self._used[directory] = store, now_s
        return store

    def _oldest_s(self) -> float:
        return next(iter(self._used.values()))[1]
