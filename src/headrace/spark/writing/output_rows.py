"""The rows of a batch that are one sink's: each sink knows its columns and its rows by their names in it."""

from __future__ import annotations

from typing import Any, cast

import pyarrow as pa

from headrace.formats.json_text import json_texts
from headrace.spark.specs import Output


def kept_columns(output: Output, batch: pa.RecordBatch) -> pa.RecordBatch:
    """This sink's rows and columns, under their own names."""
    columns = [batch.column(physical) for physical in output.columns.values()]
    rows = pa.record_batch(columns, names=list(output.columns))
    return rows.filter(batch.column(output.keep)) if output.keep else rows


def kept_count(output: Output, batch: pa.RecordBatch) -> int:
    return int(cast("Any", batch.column(output.keep)).true_count) if output.keep else batch.num_rows


def text_rows(output: Output, batch: pa.RecordBatch) -> pa.RecordBatch:
    texts = json_texts(kept_columns(output, batch)) if output.value is None else text_of(output, batch).drop_null()
    return pa.record_batch([texts], names=["value"])


def text_of(output: Output, batch: pa.RecordBatch) -> pa.Array[Any]:
    """The column of finished rows. Called only for outputs that have one."""
    return batch.column(cast("str", output.value))
