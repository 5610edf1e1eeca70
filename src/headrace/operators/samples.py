"""Small functions and models for examples in the documentation."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from headrace.serial import Delivery, RowSource, per_batch, per_row, sql_aggregate, sql_function


@dataclass
class Value:
    value: int


@per_row
def doubled(row: Value) -> Value:
    """Twice the value."""
    return Value(2 * row.value)


def mean_model(features: np.ndarray[Any, Any]) -> Any:
    """The mean of a row's features."""
    return features.mean(axis=1)


@per_row
def reciprocal(row: Value) -> Value:
    """A hundred divided by the value; fails for zero."""
    return Value(100 // row.value)


@per_batch()
def unchanged(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Hands every row on."""
    return rows


def by_last_digit(rows: pa.RecordBatch) -> np.ndarray[Any, Any]:
    """For partitioned=custom: the digit at the end of the column `k`."""
    return np.array([int(str(key)[-1]) for key in rows.column("k").to_pylist()], np.int64)


@dataclass
class Start:
    first: int = field(default=100, metadata={"help": "The value of the first row."})


class Countdown(RowSource):
    """A hundred rows, from 100 down to 1, given one by one as an async source would."""

    columns = Value

    def __init__(self, settings: Start) -> None:
        self._first = settings.first

    def end(self) -> int:
        return 100

    async def read(self, start: int, end: int) -> AsyncIterator[Value]:
        for number in range(start, end):
            yield Value(self._first - number)


def printed(rows: pa.RecordBatch, delivery: Delivery) -> None:
    """Writes the rows to the worker's standard output."""
    print(delivery.key, rows.to_pylist())


@sql_function
def fahrenheit(celsius: float) -> float:
    """A temperature, for expressions of SQL."""
    return celsius * 9 / 5 + 32


@sql_aggregate
def spread(values: list[float]) -> float:
    """How far the values of a group lie apart."""
    return max(values) - min(values)
