"""How much of all clients' requests is held at once: the bound that many connections together have to keep."""

from __future__ import annotations

from collections.abc import Callable


class RequestMemory:
    """Above the limit nobody reads on; what is held is worked off, and then those who wait are called."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._held_bytes = 0
        self._waiting: dict[Callable[[], None], None] = {}

    @property
    def held_bytes(self) -> int:
        return self._held_bytes

    @property
    def full(self) -> bool:
        return self._held_bytes >= self._bytes_max

    def hold(self, size_bytes: int) -> None:
        self._held_bytes += size_bytes

    def call_when_free(self, resume: Callable[[], None]) -> None:
        """`resume` is called once, when there is room again; asked for twice, still once."""
        self._waiting[resume] = None

    def forget(self, resume: Callable[[], None]) -> None:
        self._waiting.pop(resume, None)

    def release(self, size_bytes: int) -> None:
        self._held_bytes -= size_bytes
        if not self.full and self._waiting:
            waiting, self._waiting = self._waiting, {}
            for resume in waiting:
                resume()
