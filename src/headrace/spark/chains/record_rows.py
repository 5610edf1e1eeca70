"""Rows that know which record they are, on their way from Spark's plan to a chain, and what comes with them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from headrace.operators.filter import FilterConfig
from headrace.operators.projection import with_one_row_where
from headrace.operators.select import SelectConfig
from headrace.operators.spec import OperatorConfig
from headrace.serial import LaneInput
from headrace.serial.keys import Integers
from headrace.spark.specs import RECORD_COLUMNS, RECORD_OFFSET, RECORD_ORIGIN, RECORD_TIME

_TELLS_TIME = f"{RECORD_TIME} IS NOT NULL"


def keeping_records(config: OperatorConfig) -> OperatorConfig:
    """The same step of Spark's plan for rows that know their records: it hands that on, and rows that tell a time."""
    if isinstance(config, SelectConfig):
        columns = [with_one_row_where(_TELLS_TIME, item) for item in config.columns]
        return config.model_copy(update={"columns": [*columns, *RECORD_COLUMNS]})
    if isinstance(config, FilterConfig):
        return config.model_copy(update={"condition": f"{_TELLS_TIME} OR ({config.condition})"})
    return config


def input_of(batch: pa.RecordBatch) -> LaneInput:
    """The rows as a chain takes them; columns and rows that only came along are beside them.

    Spark handed them over in memory that nobody else holds.
    """
    if batch.schema.get_field_index(RECORD_ORIGIN) < 0:
        return without_offsets(batch, private=True)
    is_row = are_rows(batch)
    rows = batch if is_row.all() else batch.filter(pa.array(is_row))
    origins = rows.column(RECORD_ORIGIN).to_numpy().astype(np.int64)
    beside = [name for name in (RECORD_ORIGIN, RECORD_TIME) if name in rows.schema.names]
    found = without_offsets(rows.drop_columns(beside), origins=origins, private=True)
    return found if rows is batch else replace(found, reached_us=_times(batch.filter(pa.array(~is_row))))


def are_rows(batch: pa.RecordBatch) -> NDArray[np.bool_]:
    """Which are rows; the others tell how far event time came."""
    place = batch.schema.get_field_index(RECORD_TIME)
    if place < 0:
        return np.ones(batch.num_rows, np.bool_)
    return batch.column(place).is_null().to_numpy(zero_copy_only=False)


def without_offsets(
    batch: pa.RecordBatch,
    *,
    origins: Integers | None = None,
    origin: int | None = None,
    source: int = 0,
    private: bool = False,
) -> LaneInput:
    """Rows for a chain; the offsets of their records, if they came along, beside them."""
    if batch.schema.get_field_index(RECORD_OFFSET) < 0:
        return LaneInput(batch, origins, origin, None, source, private=private)
    offsets = batch.column(RECORD_OFFSET).to_numpy(zero_copy_only=False)
    return LaneInput(batch.drop_columns([RECORD_OFFSET]), origins, origin, offsets, source, private=private)


def _times(batch: pa.RecordBatch) -> dict[int, int]:
    reached_us: dict[int, int] = {}
    for origin, at_us in zip(*(batch.column(name).to_pylist() for name in (RECORD_ORIGIN, RECORD_TIME)), strict=True):
        reached_us[origin] = max(at_us, reached_us.get(origin, at_us))
    return reached_us
