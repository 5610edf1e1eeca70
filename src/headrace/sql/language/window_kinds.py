"""The kinds of windows and what each is given, in the order in which it is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

# Stands where a column of time may, and means the clock.
CLOCK: Final = "PROCTIME()"
ParameterType = Literal["duration", "count", "number", "columns", "sort keys", "text"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """`words` may stand before the value and say nothing new: `SIZE 10 SECONDS`."""

    name: str
    type: ParameterType
    is_optional: bool = False
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WindowKind:
    """`time` tells whether a column of time may stand first, must, or cannot."""

    name: str
    meaning: str
    parameters: tuple[Parameter, ...]
    time: Literal["may", "must", "cannot"] = "may"


_SIZE = Parameter("size", "duration", words=("SIZE",))
_COUNT = Parameter("count", "count")
_COLUMNS = Parameter("columns", "columns")
_MORE_COLUMNS = Parameter("columns", "columns", is_optional=True)

_KINDS: Final = (
    WindowKind("tumbling", "fixed, aligned to the epoch", (_SIZE,)),
    WindowKind(
        "sliding", "size and slide, aligned", (_SIZE, Parameter("slide", "duration", words=("ADVANCE BY", "SLIDE")))
    ),
    WindowKind(
        "session",
        "as long as rows follow each other closely",
        (Parameter("gap", "duration", words=("GAP",)), _MORE_COLUMNS),
    ),
    WindowKind("cumulate", "grows step by step up to its size", (_SIZE, Parameter("step", "duration"))),
    WindowKind("length", "the last rows", (_COUNT,), "cannot"),
    WindowKind("lengthBatch", "every so many rows", (_COUNT,), "cannot"),
    WindowKind("time", "rolling; emits on arrival and on expiry", (_SIZE,)),
    WindowKind("timeBatch", "batches of a duration, anchored at the first row", (_SIZE,)),
    WindowKind("externalTime", "rolling, on a column instead of the clock", (_SIZE,), "must"),
    WindowKind("externalTimeBatch", "batches of a duration, on a column", (_SIZE,), "must"),
    WindowKind("delay", "each row again, after a duration", (_SIZE,)),
    WindowKind("sort", "the first rows of an order", (_COUNT, Parameter("order", "sort keys")), "cannot"),
    WindowKind("unique", "the last row of each key", (_COLUMNS,), "cannot"),
    WindowKind("firstUnique", "the first row of each key", (_COLUMNS,), "cannot"),
    WindowKind("expression", "as many rows as a condition allows", (Parameter("condition", "text"),), "cannot"),
    WindowKind("frequent", "rows of the most frequent keys", (_COUNT, _MORE_COLUMNS), "cannot"),
    WindowKind(
        "lossyFrequent",
        "rows of keys above a share",
        (Parameter("support", "number"), Parameter("error", "number", is_optional=True), _MORE_COLUMNS),
        "cannot",
    ),
    WindowKind("cron", "batches between the moments of a schedule", (Parameter("schedule", "text"),), "cannot"),
)
WINDOW_KINDS: Final = {kind.name.lower(): kind for kind in _KINDS}
WINDOW_ALIASES: Final = {"tumble": "tumbling", "hop": "sliding", "hopping": "sliding"}


def find_kind(name: str) -> WindowKind | None:
    folded = name.lower()
    return WINDOW_KINDS.get(WINDOW_ALIASES.get(folded, folded))
