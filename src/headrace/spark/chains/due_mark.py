"""How the driver tells the processes that plan for a query's sources that its chain has timers to call.

A micro-batch raises the watermark; operators that wait for it are called in the next one. On a quiet stream that is one
without rows, and the sources begin it at once where this mark stands, else only when a tick is due.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(slots=True)
class DueMark:
    """A file beside the query's checkpoint. A hint alone: which timers are called, the commit record tells."""

    path: Path

    @classmethod
    def beside(cls, checkpoint: Path) -> DueMark:
        return cls(checkpoint.with_name("timers-due"))

    @property
    def is_set(self) -> bool:
        return self.path.exists()

    def put(self, due: bool) -> None:
        if due:
            self.path.touch()
        else:
            self.path.unlink(missing_ok=True)
