"""Typed pipelines: what mypy finds, and what is found without it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest

from headrace.errors import InvalidGraph, InvalidInput
from headrace.operators.samples import Value, doubled
from headrace.pipeline import Pipeline
from headrace.serial import per_row
from headrace.typed import Stream, topic_of, typed

GOOD = """
from headrace.operators.samples import Value, doubled
from headrace.pipeline import Pipeline
from headrace.typed import Stream, topic_of

values: Stream[Value] = topic_of(Pipeline("p"), Value, "values")
twice: Stream[Value] = values.filter("value > 1").map(doubled).map(doubled)
"""
BAD = """
from dataclasses import dataclass

from headrace.operators.samples import doubled
from headrace.pipeline import Pipeline
from headrace.typed import topic_of


@dataclass
class Trade:
    symbol: str


topic_of(Pipeline("p"), Trade, "trades").map(doubled)
"""


@dataclass
class Trade:
    symbol: str
    price: float
    at: datetime
    tags: list[str]


@dataclass
class Wrong:
    price: int


def test_columns_come_from_the_dataclass() -> None:
    pipeline = Pipeline("p")
    trades = topic_of(pipeline, Trade, "trades", event_time="at", watermark="5 seconds")
    trades.filter("price > 1").rows.preview()
    validated = pipeline.validate()
    source = validated.schemas[trades.rows.id]
    assert str(source) == "symbol STRING, price DOUBLE, at TIMESTAMP, tags ARRAY<STRING>"
    assert source.event_time == "at"


def test_functions_make_the_next_type() -> None:
    pipeline = Pipeline("p")
    values: Stream[Value] = topic_of(pipeline, Value, "values").map(doubled)
    values.rows.preview()
    assert str(pipeline.validate().schemas[values.rows.id]) == "value BIGINT"
    assert values.row is Value


def test_types_can_be_said_later_and_must_be_true() -> None:
    pipeline = Pipeline("p")
    rows = pipeline.topic("t", schema="price DOUBLE, value BIGINT")
    assert typed(pipeline, rows, Value).map(doubled).row is Value
    with pytest.raises(InvalidInput, match="Wrong has 'price' as BIGINT, and the column is DOUBLE"):
        typed(pipeline, rows, Wrong)
    with pytest.raises(InvalidInput, match="unknown column 'symbol'"):
        typed(pipeline, rows, Trade)
    with pytest.raises(InvalidGraph, match="no_such"):
        typed(pipeline, rows.select("no_such"), Value)


def test_a_function_that_workers_cannot_import_is_refused() -> None:
    @per_row
    def local(value: Value) -> Value:
        return value

    with pytest.raises(InvalidInput, match="workers cannot import"):
        topic_of(Pipeline("p"), Value, "values").map(local)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_mypy_accepts_what_fits_and_refuses_what_does_not(tmp_path: Path) -> None:
    for name, text in (("good", GOOD), ("bad", BAD)):
        (tmp_path / f"{name}.py").write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "good.py", "bad.py"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "good.py" not in found.stdout
    assert 'bad.py:14: error: Argument 1 to "map" of "Stream" has incompatible type' in found.stdout
