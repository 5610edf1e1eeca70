"""Rows that come when their windows are closed: what becomes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from headrace.operators.config import OperatorConfig
from headrace.operators.durations import duration_ms
from headrace.operators.settings import Duration, TopicName, refuse_setting
from headrace.serial import Context
from headrace.serial.keys import Integers

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
LateTopic = Annotated[TopicName | None, Field(description="The topic for late rows when late is dead_letter.")]


class LateConfig(OperatorConfig):
    """Settings of a window that has a choice. Each declares these itself, in the order they are shown."""

    if TYPE_CHECKING:
        late: Late
        late_for: LateFor
        dead_letter: LateTopic

    @property
    def kept_us(self) -> int:
        """How long windows are kept when they are closed."""
        return 0 if self.late_for is None else duration_ms(self.late_for) * 1000

    @model_validator(mode="after")
    def _late_settings_fit(self) -> Self:
        if (self.late == "dead_letter") != (self.dead_letter is not None):
            raise refuse_setting("late=dead_letter and a topic in dead_letter go together")
        if (self.late == "update_previous") != (self.kept_us > 0):
            raise refuse_setting("late=update_previous and a duration in late_for go together")
        return self


def rows_in_time(context: Context, rows: pa.RecordBatch, time: str) -> pa.RecordBatch:
    """Without rows that have no time, or come after the watermark has passed them; both are counted."""
    times = rows.column(time)
    timed = times.is_valid().to_numpy(zero_copy_only=False)
    late = timed & context.is_late(times)
    context.counts["without_time"] += int(np.count_nonzero(~timed))
    context.counts["late"] += int(np.count_nonzero(late))
    return rows.filter(pa.array(timed & ~late))


def set_late_aside(context: Context, rows: pa.RecordBatch, at_us: Integers, is_late: np.ndarray[Any, Any]) -> None:
    """Dead letters for the rows that are late, with how much."""
    watermark_us = context.watermark_us or 0
    behind_ms = (watermark_us - at_us[is_late]) // 1000
    reasons = [f"late: {ms} ms behind the watermark, and its window is closed" for ms in behind_ms.tolist()]
    context.set_aside(rows.filter(pa.array(is_late)), reasons)
