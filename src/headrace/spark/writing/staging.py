"""All rows of a task on their way into the sinks of its query."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import cast

import pyarrow as pa
from pyspark import TaskContext

from headrace.errors import InvalidInput
from headrace.spark.specs import (
    BATCH_PROPERTY,
    CHAIN_COLUMN,
    MESSAGE_COLUMN,
    SINK_PROPERTY,
    SinkSpec,
    physical_columns,
)
from headrace.spark.writing.file_stage import FileStage, staged_prefix
from headrace.spark.writing.output_rows import kept_columns
from headrace.spark.writing.preview_stage import PreviewStage
from headrace.spark.writing.python_stage import PythonStage
from headrace.spark.writing.staged import Staged
from headrace.spark.writing.topic_stage import TopicStage


def current_sink() -> SinkSpec:
    """The sink that came with this task. Raises InvalidInput where it was told of none."""
    context = TaskContext.get()
    text = None if context is None else context.getLocalProperty(SINK_PROPERTY)
    if not text:
        raise InvalidInput("a task that stages its rows was told of no sink")
    return SinkSpec.from_json(text)


def message_of(spec: SinkSpec, batches: Iterable[pa.RecordBatch]) -> pa.RecordBatch:
    """Runs in a task: stages all its rows. Returns the one row that it leaves, its commit message."""
    context = TaskContext.get()
    task, attempt = (context.partitionId(), context.taskAttemptId()) if context else (0, 0)
    batch_id = context.getLocalProperty(BATCH_PROPERTY) if context else None
    with Staging(spec, task, attempt, int(batch_id or 0)) as staging:
        for batch in batches:
            staging.add(batch)
        message = pickle.dumps(staging.finish())
    return pa.record_batch({MESSAGE_COLUMN: pa.array([message], pa.binary())})


class Staging:
    """Takes the batches of one task attempt; `finish` gives the message. Leaving it without that removes everything."""

    def __init__(self, spec: SinkSpec, task: int, attempt: int, batch: int = 0) -> None:
        self._task = task
        self._finished = False
        self._lanes: list[bytes] = []
        prefix = Path(spec.staging) / f"{task:05d}-{attempt}"
        self._topics = [TopicStage(o, f"{prefix}-{i}", task) for i, o in enumerate(spec.outputs) if o.kind == "topic"]
        self._files = [
            FileStage(o, f"{staged_prefix(spec.query)}{task:05d}-{attempt}") for o in spec.outputs if o.kind == "file"
        ]
        self._previews = [PreviewStage(o) for o in spec.outputs if o.kind == "preview"]
        self._outside = [PythonStage(o, spec.query, batch, task) for o in spec.outputs if o.kind == "python"]

    def add(self, batch: pa.RecordBatch) -> None:
        """Rows for every output whose columns the batch has."""
        names = set(batch.schema.names)
        if CHAIN_COLUMN in names:
            self._lanes += cast("list[bytes]", batch.column(CHAIN_COLUMN).drop_null().to_pylist())
        for stage in self._stages():
            if names.issuperset(physical_columns(stage.output)):
                stage.add(batch)
        for outside in self._outside:
            if names.issuperset(physical_columns(outside.output)):
                outside.add(kept_columns(outside.output, batch))

    def finish(self) -> Staged:
        for outside in self._outside:
            outside.finish()
        topic_parts = tuple(part for stage in self._topics for part in stage.parts())
        file_parts = tuple(part for stage in self._files for part in stage.parts())
        self._finished = True
        rows = {stage.output.node: stage.rows for stage in (*self._stages(), *self._outside)}
        previews = {stage.output.node: list(stage.newest) for stage in self._previews}
        return Staged(self._task, topic_parts, file_parts, previews, rows, tuple(self._lanes))

    def __enter__(self) -> Staging:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for outside in self._outside:
            outside.close()
        if not self._finished:
            for stage in self._stages():
                stage.discard()

    def _stages(self) -> list[TopicStage | FileStage | PreviewStage]:
        return [*self._topics, *self._files, *self._previews]
