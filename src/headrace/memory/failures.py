"""What the memory lane refuses, beside what every part of Headrace refuses."""

from __future__ import annotations

from typing import ClassVar

from headrace.errors import Conflict, ExternalFailure, InvalidInput


class LimitReached(ExternalFailure):
    """A pool has no slot to lend within its limits. It passes when somebody returns one."""

    code: ClassVar[str] = "limit_reached"


class NoRoom(ExternalFailure):
    """The machine or its cgroup has less memory left than a segment needs."""

    code: ClassVar[str] = "no_room"


class StaleReturn(InvalidInput):
    """A slot was given back that is not lent any more, or not to this holder."""

    code: ClassVar[str] = "stale_return"


class Inherited(Conflict):
    """Memory of the parent is used in a process that was forked from it."""

    code: ClassVar[str] = "inherited"


class Closed(Conflict):
    """A pool or a buffer is used after its end."""

    code: ClassVar[str] = "closed"
