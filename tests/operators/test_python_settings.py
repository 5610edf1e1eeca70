"""Functions, sources and sinks in Python that take settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pytest

from headrace.errors import InvalidInput
from headrace.operators.python_function import PythonFunction
from headrace.operators.python_sink import load_sink
from headrace.operators.python_source import load_source
from headrace.serial import Delivery, RowSink, RowSource, per_batch, per_row
from headrace.serial.outside import batches_of, deliver
from headrace.testing import chain_tester

received: list[tuple[str, int]] = []


@dataclass
class Scale:
    factor: int = field(default=1, metadata={"help": "What values are multiplied with.", "ge": 1})


@dataclass
class Value:
    value: int


@per_row
def scaled(row: Value, settings: Scale) -> Value:
    return Value(settings.factor * row.value)


@per_batch()
def kept(rows: pa.RecordBatch, settings: Scale) -> pa.RecordBatch:
    return rows.slice(0, settings.factor)


@per_row
def plain(settings: Value) -> Value:
    """A row may have any name."""
    return settings


class Numbers(RowSource):
    columns = Value

    def __init__(self, settings: Scale) -> None:
        self._factor = settings.factor

    def end(self) -> int:
        return 3

    def read(self, start: int, end: int) -> list[Value]:
        return [Value(self._factor * number) for number in range(start, end)]


class Kept(RowSink):
    def __init__(self, settings: Scale) -> None:
        self._factor = settings.factor

    def write(self, rows: pa.RecordBatch, delivery: Delivery) -> None:
        received.append(("class", self._factor * rows.num_rows))


def noted(rows: pa.RecordBatch, delivery: Delivery, settings: Scale) -> None:
    received.append(("function", settings.factor * rows.num_rows))


def values(function: str, **settings: Any) -> list[int]:
    tester = chain_tester(PythonFunction(), "value BIGINT", function=f"{__name__}:{function}", **settings)
    tester.run({"value": [1, 2, 3]})
    return [row["value"] for row in tester.emitted]


def test_functions_take_settings() -> None:
    assert values("scaled") == [1, 2, 3]
    assert values("scaled", settings={"factor": 10}) == [10, 20, 30]
    assert values("kept", settings={"factor": 2}) == [1, 2]
    assert values("plain") == [1, 2, 3]
    # As functions they can still be called.
    assert scaled(Value(2), Scale(4)) == Value(8)


def test_sources_and_sinks_take_settings() -> None:
    source = load_source(f"{__name__}:Numbers", {"factor": 5})
    assert [row for batch in batches_of(source, 0, 3) for row in batch.column("value").to_pylist()] == [0, 5, 10]
    received.clear()
    for name in ("Kept", "noted"):
        deliver(load_sink(f"{__name__}:{name}", {"factor": 3}), pa.record_batch({"n": [1, 2]}), Delivery("q", 0, 0, 0))
    assert received == [("class", 6), ("function", 6)]


@pytest.mark.parametrize(
    ("function", "settings", "message"),
    [
        ("scaled", {"factor": 0}, "the setting 'factor' should be greater than or equal to 1, not 0"),
        ("scaled", {"fcator": 2}, "unknown setting 'fcator'"),
        ("plain", {"factor": 2}, "takes no settings, and factor is set"),
    ],
)
def test_wrong_settings_are_refused(function: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        values(function, settings=settings)
    assert message in str(raised.value)


def test_settings_must_be_a_dataclass() -> None:
    def wrong(row: Value, settings: int) -> Value:
        return row

    wrong.__annotations__ = {"row": Value, "settings": int, "return": Value}
    with pytest.raises(InvalidInput, match="takes settings that are no dataclass"):
        per_row(wrong)
