"""Rows on their way into a sink written in Python: handed over in the task, before the micro-batch is committed."""

from __future__ import annotations

import pyarrow as pa

from headrace.operators.plugin_folder import use_plugin_folder
from headrace.operators.python_sink import load_sink
from headrace.serial.outside import Delivery, RowSink, deliver
from headrace.spark.specs import Output

# Rows of one delivery: always as many, but for a task's last, so that the same rows have the same key again.
ROWS_PER_DELIVERY = 8_192


class PythonStage:
    """Takes the rows of one task attempt. The sink is opened for the first of them."""

    def __init__(self, output: Output, query: str, batch: int, task: int) -> None:
        self.output = output
        self.rows = 0
        self._place = (query, batch, task)
        self._sink: RowSink | None = None
        self._waiting: list[pa.RecordBatch] = []
        self._delivered = 0

    def add(self, rows: pa.RecordBatch) -> None:
        """Raises what the sink raises."""
        self.rows += rows.num_rows
        self._waiting.append(rows)
        if self.rows - self._delivered >= ROWS_PER_DELIVERY:
            self._deliver(self.rows - (self.rows - self._delivered) % ROWS_PER_DELIVERY)

    def finish(self) -> None:
        """All rows are delivered afterwards."""
        self._deliver(self.rows)

    def close(self) -> None:
        if self._sink is not None:
            self._sink.close()
            self._sink = None

    def _deliver(self, until: int) -> None:
        table = pa.Table.from_batches(self._waiting).combine_chunks() if self._waiting else None
        first = self._delivered
        while table is not None and self._delivered < until:
            count = min(ROWS_PER_DELIVERY, until - self._delivered)
            (rows,) = table.slice(self._delivered - first, count).to_batches()
            deliver(self._opened(), rows, Delivery(*self._place, self._delivered))
            self._delivered += count
        self._waiting = [] if table is None else table.slice(self._delivered - first).to_batches()

    def _opened(self) -> RowSink:
        if self._sink is None:
            use_plugin_folder(self.output.plugins)
            self._sink = load_sink(self.output.target, self.output.settings)
            self._sink.open()
        return self._sink
