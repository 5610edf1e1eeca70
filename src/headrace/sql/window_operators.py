"""Which operator runs which kind of window, and what the window's settings are called there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from headrace.graph.document import Json, Node
from headrace.sql.language.print_expressions import printed_duration
from headrace.sql.language.tree import Select, Window
from headrace.sql.language.values import print_name, print_value
from headrace.sql.language.windows import WINDOW_BOUNDS


@dataclass(frozen=True, slots=True)
class WindowOperator:
    """`settings` maps a window's setting to the operator's.

    `output` is what stands before the aggregates: the window's bounds and the keys, the keys alone, or the whole row.
    """

    name: str
    kind: str
    settings: Mapping[str, str]
    output: Literal["bounds", "keys", "row"] = "bounds"

    @property
    def is_row_by_row(self) -> bool:
        return self.output == "row"

    def first_columns(self, keys: Iterable[str]) -> list[str]:
        """The columns of the output before the aggregates, printed."""
        if self.is_row_by_row:
            return ["*"]
        return [*(WINDOW_BOUNDS if self.output == "bounds" else ()), *map(print_name, keys)]


_SESSION: Final = WindowOperator("session-window", "session", {"gap": "gap"})
_GAP: Final = WindowOperator("gap-window", "session", {"gap": "gap"})
_BY_KIND: Final = {
    "tumbling": WindowOperator("tumbling-window", "tumbling", {"size": "size"}),
    "sliding": WindowOperator("sliding-window", "sliding", {"size": "size", "slide": "every"}),
    "cumulate": WindowOperator("cumulate-window", "cumulate", {"size": "size", "step": "step"}),
    "length": WindowOperator("length-window", "length", {"count": "length"}, "row"),
}
WINDOW_OPERATORS: Final = {operator.name: operator for operator in (*_BY_KIND.values(), _SESSION, _GAP)}
# Windows that have a choice for late rows.
_WITH_LATE: Final = {
    "tumbling": WindowOperator("time-window", "tumbling", {"size": "size"}),
    "sliding": WindowOperator("time-window", "sliding", {"size": "size", "slide": "every"}),
    "cumulate": WindowOperator("time-window", "cumulate", {"size": "size", "step": "step"}),
    "session": _SESSION,
}
# GROUP BY without a window: over all rows so far.
GROUPS: Final = WindowOperator("aggregate", "", {}, "keys")
# The same over rows that are changes.
LATEST: Final = WindowOperator("aggregate-latest", "", {}, "keys")
RUNNING_KINDS: Final = (*_BY_KIND, "session")


def window_operator(window: Window, select: Select, *, has_keys: bool, keeps_late: bool) -> WindowOperator | None:
    """The operator for a window; None if none runs it. Sessions with changes, or over all rows, run in the chain, as do
    windows whose late rows are not just dropped."""
    if keeps_late and takes_time(window):
        return _WITH_LATE.get(window.kind)
    if window.kind != "session":
        return _BY_KIND.get(window.kind)
    is_final = select.emit is None or select.emit.when == "final"
    return _GAP if is_final and has_keys else _SESSION


def takes_time(window: Window) -> bool:
    """Whether the window needs a column of time: the rows' event time unless it names one."""
    return window.kind != "length"


def window_settings(window: Window, operator: WindowOperator) -> dict[str, Json]:
    settings: dict[str, Json] = {}
    for name, value in window.settings:
        if name in operator.settings and not isinstance(value, tuple):
            settings[operator.settings[name]] = value
    if window.time is not None:
        settings["time"] = window.time.text
    return settings


def print_window_of(node: Node) -> str:
    """The WINDOW clause of a node of one of these operators."""
    operator = WINDOW_OPERATORS[node.operator]
    time = [print_name(str(node.config["time"]))] if node.config.get("time") is not None else []
    values = [_value(node.config.get(setting)) for setting in operator.settings.values()]
    return f"WINDOW {operator.kind.upper()}({', '.join([*time, *values])})"


def _value(value: Json) -> str:
    return printed_duration(value) if isinstance(value, str) else print_value(value)
