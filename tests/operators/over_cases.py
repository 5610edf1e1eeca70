"""Functions over the rows before each row, and what they give for some rows, computed plainly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.operators.serial_cases import Row

from headrace.graph import Json

AGGREGATES: list[Json] = [
    "count(*) AS c", "count(x) AS cx", "sum(n) AS s", "avg(x) AS a", "min(n) AS lo", "max(x) AS hi",
    "first_value(n) AS f", "last_value(n) AS l", "first_value(n) IGNORE NULLS AS fi",
    "last_value(x) IGNORE NULLS AS li",
]  # fmt: skip


def aggregated(rows: Sequence[Row]) -> tuple[Any, ...]:
    numbers = [row[1] for row in rows if row[1] is not None]
    values = [row[2] for row in rows if row[2] is not None]
    mean = sum(values) / len(values) if values else None
    total = sum(numbers) if numbers else None
    ends = (rows[0][1], rows[-1][1], numbers[0] if numbers else None, values[-1] if values else None)
    return (len(rows), len(values), total, mean, min(numbers, default=None), max(values, default=None), *ends)
