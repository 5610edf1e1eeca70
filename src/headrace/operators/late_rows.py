"""Rows that come when their windows are closed, or the watermark has passed them: what becomes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeAlias

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from headrace.graph.schema import Schema
from headrace.operators.config import OperatorConfig
from headrace.operators.durations import duration_ms
from headrace.operators.settings import Duration, WrittenTopicName, refuse_setting
from headrace.serial import Context, microseconds
from headrace.serial.keys import Integers

Flags: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
LatePolicy = Literal["drop", "dead_letter", "include_in_next_window", "update_previous"]
Late = Annotated[
    LatePolicy,
    Field(
        description=(
            "Rows whose windows are closed: drop, counted; dead_letter, kept in a topic with how late they are; "
            "include_in_next_window, as if they came just now; update_previous, their windows come out once more."
        )
    ),
]
LateFor = Annotated[
    Duration | None,
    Field(description="How long a closed window is kept for update_previous; rows that are later still are dropped."),
]
LateTopic = Annotated[WrittenTopicName | None, Field(description="The topic for late rows when late is dead_letter.")]


LatePassed = Annotated[
    Literal["drop", "dead_letter"],
    Field(
        description=(
            "Rows that come when the watermark has passed them: drop, counted; dead_letter, kept in a topic with how "
            "late they are."
        )
    ),
]


class LateTopicConfig(OperatorConfig):
    """Settings of an operator that can keep late rows. Each declares these itself, in the order they are shown."""

    if TYPE_CHECKING:
        late: Any
        dead_letter: LateTopic

    @property
    def keeps_late(self) -> bool:
        return self.dead_letter is not None

    @model_validator(mode="after")
    def _late_rows_have_a_home(self) -> Self:
        if (self.late == "dead_letter") != self.keeps_late:
            raise refuse_setting("late=dead_letter and a topic in dead_letter go together")
        return self


class LateConfig(LateTopicConfig):
    """Settings of a window that has a choice. Each declares these itself, in the order they are shown."""

    if TYPE_CHECKING:
        late: Late
        late_for: LateFor

    @property
    def kept_us(self) -> int:
        """How long windows are kept when they are closed."""
        return 0 if self.late_for is None else duration_ms(self.late_for) * 1000

    @model_validator(mode="after")
    def _windows_are_kept_for_a_use(self) -> Self:
        if (self.late == "update_previous") != (self.kept_us > 0):
            raise refuse_setting("late=update_previous and a duration in late_for go together")
        return self


def read_beside(config: LateTopicConfig, schema: Schema) -> frozenset[str]:
    """Columns that an operator reads for its dead letters alone: those tell the whole row."""
    return frozenset(schema.names) if config.keeps_late else frozenset()


def rows_in_time(context: Context, rows: pa.RecordBatch, time: str, *, keeps_late: bool) -> pa.RecordBatch:
    """The rows that `are_in_time`."""
    kept = are_in_time(context, rows, time, keeps_late=keeps_late)
    return rows if kept.all() else rows.filter(pa.array(kept))


def are_in_time(context: Context, rows: pa.RecordBatch, time: str, *, keeps_late: bool) -> Flags:
    """All but rows that have no time, or come after the watermark has passed them; both are counted.

    With `keeps_late` the late ones are dead letters afterwards.
    """
    times = rows.column(time)
    timed = times.is_valid().to_numpy(zero_copy_only=False)
    late = timed & context.is_late(times)
    context.counts["without_time"] += int(np.count_nonzero(~timed))
    context.counts["late"] += int(np.count_nonzero(late))
    if keeps_late:
        set_late_aside(context, rows, microseconds(times), late, "")
    in_time: Flags = timed & ~late
    return in_time


def set_late_aside(
    context: Context, rows: pa.RecordBatch, at_us: Integers, is_late: Flags, more: str = ", and its window is closed"
) -> None:
    """Dead letters for the rows that are late, with how much; `more` ends the reason."""
    if not is_late.any():
        return
    watermark_us = context.watermark_us or 0
    behind_ms = (watermark_us - at_us[is_late]) // 1000
    reasons = [f"late: {ms} ms behind the watermark{more}" for ms in behind_ms.tolist()]
    context.set_aside(rows.filter(pa.array(is_late)), reasons)
