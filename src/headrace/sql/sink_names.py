"""How SQL calls the sinks of a stream: by its name; `into_t` where t itself is read, and `t_2` for a second one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_READ_AS_WELL: Final = "into_"


def sink_beside(name: str) -> str:
    """The sink of a stream that is read in the same script."""
    return f"{_READ_AS_WELL}{name}"


def free_name(sink_id: str, is_taken: Callable[[str], bool]) -> str:
    """The id of one more sink of the same stream: `alerts`, `alerts_2`, …"""
    number, free = 1, sink_id
    while is_taken(free):
        number += 1
        free = f"{sink_id}_{number}"
    return free


def written_by(sink_id: str) -> str:
    """What people call the stream that a sink writes."""
    return sink_id.removeprefix(_READ_AS_WELL)


def is_one_more(sink_id: str, of: str) -> bool:
    """Whether a name is that of a second sink of a stream."""
    return re.fullmatch(rf"{re.escape(of)}_\d+", sink_id) is not None
