"""`session-window`: aggregates per key over rows that follow each other closely in event time."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from headrace.graph.schema import Schema
from headrace.operators.aggregates import AGGREGATES
from headrace.operators.durations import duration_ms
from headrace.operators.late_rows import Late, LateFor, LateTopic
from headrace.operators.serial_operator import TIME, Keys, Partitioned, Partitioner
from headrace.operators.session_rows import SessionRows
from headrace.operators.settings import ColumnName, Duration, SqlExpression, refuse_setting
from headrace.operators.spec import Port, Spec
from headrace.operators.window_operator import WindowConfig, Windowing, WindowOperator
from headrace.serial import Operator as Instance


class SessionWindowConfig(WindowConfig):
    gap: Duration = Field(description="A session ends when no row came for this long: `5 minutes`.")
    time: ColumnName = Field(description=TIME)
    keys: Keys = Field([])
    aggregates: list[SqlExpression] = Field(min_length=1, description=AGGREGATES)
    emit: Literal["final", "changes"] = Field(
        "final", description="final: a session once, when it has ended; changes: a row whenever it changes."
    )
    late: Late = "drop"
    late_for: LateFor = None
    dead_letter: LateTopic = None
    partitioned: Partitioned = "by_key"
    partitioner: Partitioner = None

    @model_validator(mode="after")
    def _is_long_enough(self) -> SessionWindowConfig:
        if duration_ms(self.gap) == 0:
            raise refuse_setting("a gap of no length", "give gap a duration such as 5 minutes")
        return self


class SessionWindow(WindowOperator[SessionWindowConfig]):
    spec = Spec(
        name="session-window",
        title="Session window",
        summary="Aggregates per key over rows that follow each other closely.",
        kind="serial",
        inputs=(Port("in", "rows with an event-time column"),),
        outputs=(Port("out", "_window_start (first row), _window_end (last row + gap), the keys and the aggregates"),),
        guarantees=(
            "emit=final: each session exactly once, when the watermark passes its end, and the same rows as a batch "
            "run. emit=changes: a row whenever a batch of rows changed a session; sessions are told apart by key and "
            "start, and one that was merged into another comes once more with null aggregates. Rows below the "
            "watermark that reach no session still open are counted as late, and become what `late` says: "
            "include_in_next_window takes the watermark for their time; a session that update_previous tells again "
            "replaces the one with its key and start, and those that it took in come once more with null aggregates. "
            "Rows without a time are left out and counted."
        ),
        example=(
            'topic clicks schema="user STRING, ts TIMESTAMP" event_time=ts watermark="5 seconds"'
            ' ! session-window "5 minutes" time=ts keys=user aggregates=["count(*) AS clicks"] ! preview'
        ),
        positional="gap",
        stateful=True,
        adjustable=("gap",),
    )
    config_type = SessionWindowConfig

    def instance(self, config: SessionWindowConfig, schema: Schema) -> Instance:
        return SessionRows(Windowing.of(config, schema), duration_ms(config.gap) * 1000)
