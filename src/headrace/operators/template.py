"""A new operator to begin with: its file and its test, as text."""

from __future__ import annotations

import re

from headrace.errors import InvalidInput

_OPERATOR = '''"""`{name}`: say here what it does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa
from pydantic import Field

from headrace.graph import Column, Schema
from headrace.operators import OperatorConfig, Port, Spec
from headrace.operators.serial_operator import SerialOperator
from headrace.serial import Batch, Context, Operator


class {title}Config(OperatorConfig):
    start: int = Field(0, description="The number before the first row's.")


class {title}(SerialOperator[{title}Config]):
    spec = Spec(
        name="{name}",
        title="{words}",
        summary="Numbers the rows of each partition.",
        kind="serial",
        inputs=(Port("in", "any rows"),),
        outputs=(Port("out", "the rows with their number"),),
        guarantees="One row out for every row in, in order; the count goes on through restarts.",
        example="generator 5 ! {name} ! preview",
        stateful=True,
    )
    config_type = {title}Config
    api_version = {api_version}

    def output_schema(self, config: {title}Config, inputs: Mapping[str, Schema]) -> Schema:
        return Schema((*inputs["in"].columns, Column("number", "BIGINT")), event_time=inputs["in"].event_time)

    def instance(self, config: {title}Config, schema: Schema) -> Operator:
        return Work(config.start)


class Work(Operator):
    """Does the work in one lane; everything that must outlive a micro-batch is in named state."""

    def __init__(self, start: int) -> None:
        self._start = start

    def open(self, context: Context) -> None:
        self._count = context.state.value("count", self._start)

    def process(self, batch: Batch) -> Iterable[Batch]:
        first = self._count.value + 1
        self._count.value += batch.num_rows
        numbers = pa.array(range(first, first + batch.num_rows), pa.int64())
        return [Batch(batch.rows.append_column("number", numbers))]
'''

_TEST = '''"""Runs the operator without Spark: as a stream of micro-batches, and through a crash."""

from __future__ import annotations

import pytest
from {module} import {title}

from headrace.graph import Schema
from headrace.serial import Chain, Step
from headrace.testing import ChainTester, Crash, CrashPoint


def counter() -> ChainTester:
    operator = {title}()
    config = operator.configure({{"start": 10}})
    return ChainTester(lambda: Chain.line([Step("it", operator.instance(config, Schema.parse("x BIGINT")))]))


def test_it_counts_on_from_batch_to_batch() -> None:
    it = counter()
    it.run({{"x": [1, 2]}})
    made = it.run({{"x": [3]}})
    assert made is not None
    assert made.to_pylist() == [{{"x": 3, "number": 13}}]


def test_a_crash_changes_nothing() -> None:
    it = counter()
    with pytest.raises(Crash):
        it.run({{"x": [1]}}, crash=CrashPoint())
    made = it.run({{"x": [1]}})
    assert made is not None
    assert made["number"].to_pylist() == [11]
'''

_KEYED = '''"""`{name}`: say here what it does."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from headrace.operators import KeyedOperator


@dataclass
class Settings:
    """The settings of the operator: the editor and `headrace operators {name}` show the help texts."""

    silence: timedelta = field(default=timedelta(minutes=1), metadata={{"help": "How long a device may be silent."}})


@dataclass
class Reading:
    """The columns that are read."""

    device: str
    ts: datetime


@dataclass
class Heard:
    """The state of a key. A new key begins with the defaults."""

    rows: int = 0
    last: datetime | None = None


@dataclass
class Alert:
    """The columns that are emitted."""

    device: str
    last: datetime | None
    rows: int


class {title}(KeyedOperator[Reading, Heard, Alert, Settings]):
    """Reports devices that are silent."""

    name = "{name}"
    api_version = {api_version}
    key = "device"
    event_time = "ts"

    def on_row(self, key: str, row: Reading, state: Heard) -> None:
        state.rows += 1
        state.last = row.ts
        self.clear_timers()
        self.set_timer(row.ts + self.settings.silence)

    def on_timer(self, key: str, time: datetime, state: Heard) -> None:
        self.emit(Alert(key, state.last, state.rows))
        self.delete_state()
'''

_KEYED_TEST = '''"""Runs the operator without Spark: in one micro-batch, in several, and through a crash."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from {module} import {title}

from headrace.testing import ChainTester, Crash, CrashPoint, chain_tester

START = datetime(2026, 1, 1, tzinfo=UTC)


def silence() -> ChainTester:
    return chain_tester({title}, "device STRING, ts TIMESTAMP", watermark="5s", silence="60s")


def row(device: str, second: int) -> dict[str, Any]:
    return {{"device": device, "ts": START + timedelta(seconds=second)}}


# Device a is silent from second 10 to 100.
ROWS = [row("a", 0), row("b", 5), row("a", 10), row("b", 50), row("a", 100), row("b", 101)]
ALERTS = [
    {{"device": "a", "last": START + timedelta(seconds=10), "rows": 2}},
]


def test_a_silence_is_reported_also_inside_one_micro_batch() -> None:
    it = silence()
    it.run(ROWS)
    it.run()  # the watermark has moved: rows and timers below it are played
    assert it.emitted == ALERTS


def test_micro_batches_and_crashes_change_nothing() -> None:
    it = silence()
    for one in ROWS:
        with pytest.raises(Crash):
            it.run([one], crash=CrashPoint())
        it.run([one])
    it.run()
    assert it.emitted == ALERTS
'''


def operator_template(name: str, api_version: int, *, keyed: bool = False) -> dict[str, str]:
    """File name → content. Raises InvalidInput for a name that no operator can have."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise InvalidInput(f"{name!r} is no name for an operator", hint="small letters, digits and single `-` between")
    words = name.split("-")
    module = "_".join(words)
    fields = {
        "name": name,
        "title": "".join(word.capitalize() for word in words),
        "words": " ".join(words).capitalize(),
        "module": module,
        "api_version": str(api_version),
    }
    operator, test = (_KEYED, _KEYED_TEST) if keyed else (_OPERATOR, _TEST)
    return {f"{module}.py": operator.format(**fields), f"test_{module}.py": test.format(**fields)}
