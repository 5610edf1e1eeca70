"""Typed pipelines: what mypy finds, and what is found without it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest

from headrace.errors import InvalidGraph, InvalidInput
from headrace.operators.samples import Value, doubled
from headrace.pipeline import Pipeline
from headrace.serial import RowFunction, per_row
from headrace.typed import Stream, topic_of, typed

DOCS = Path(__file__).parents[1] / "docs"
GOOD = """
from headrace.operators.samples import Value, doubled
from headrace.pipeline import Pipeline
from headrace.typed import Stream, topic_of

values: Stream[Value] = topic_of(Pipeline("p"), Value, "values")
twice: Stream[Value] = values.filter("value > 1").map(doubled).map(doubled)
"""
SEVERAL = """
@per_row
def split(trade: Trade) -> list[Alert]:
    return [Alert(trade.symbol)] * 2


@per_row
def perhaps(trade: Trade) -> list[Alert] | None:
    return None


@per_row
def spread(trade: Trade) -> Iterator[Alert]:
    yield Alert(trade.symbol)


@per_row
def any_of(trade: Trade) -> Iterable[Alert]:
    return (Alert(trade.symbol),)


@per_row
def same(trade: Trade) -> Alert:
    return Alert(trade.symbol)


made: list[Stream[Alert]] = [trades.map(function) for function in (split, perhaps, spread, any_of, same)]
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

    with pytest.raises(InvalidInput, match="workers cannot find"):
        topic_of(Pipeline("p"), Value, "values").map(local)


def documented() -> str:
    """The examples of the docs, as one module, with functions of each kind that they speak of."""
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "operators.md").read_text(), re.DOTALL)
    first, typed_one = blocks[:2]
    assert "@per_row" in first
    assert "topic_of" in typed_one
    pipeline = 'from headrace import Pipeline\n\npipeline = Pipeline("p")\n'
    return f"from collections.abc import Iterable, Iterator\n{first}\n{pipeline}\n{typed_one}\n{SEVERAL}"


def test_functions_that_make_several_rows() -> None:
    for hint in (Value, Value | None, list[Value], list[Value] | None, tuple[Value, ...], Iterator[Value]):

        def made(value: Value) -> object:
            return value

        made.__annotations__["return"] = hint
        assert RowFunction(made).gives is Value


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_mypy_accepts_what_fits_and_refuses_what_does_not(tmp_path: Path) -> None:
    for name, text in (("good", GOOD), ("bad", BAD), ("docs", documented())):
        (tmp_path / f"{name}.py").write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "good.py", "bad.py", "docs.py"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "good.py" not in found.stdout
    assert "docs.py" not in found.stdout, found.stdout
    assert 'bad.py:14: error: Argument 1 to "map" of "Stream" has incompatible type' in found.stdout
