"""The newest rows of a task, as texts, for those who look at them."""

from __future__ import annotations

from collections import deque
from typing import cast

import pyarrow as pa

from headrace.formats.json_text import json_texts
from headrace.spark.specs import Output
from headrace.spark.writing.output_rows import kept_columns, text_of


class PreviewStage:
    def __init__(self, output: Output) -> None:
        self.output = output
        self.rows = 0
        self.newest: deque[str] = deque(maxlen=output.row_limit)

    def add(self, batch: pa.RecordBatch) -> None:
        if self.output.value is None:
            rows = kept_columns(self.output, batch)
            values, count = json_texts(rows[-self.output.row_limit :]), rows.num_rows
        else:
            values = text_of(self.output, batch).drop_null()
            count = len(values)
        self.rows += count
        self.newest.extend(cast("list[str]", values[-self.output.row_limit :].to_pylist()))

    def discard(self) -> None:
        self.newest.clear()
