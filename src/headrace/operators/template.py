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


def operator_template(name: str, api_version: int) -> dict[str, str]:
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
    return {f"{module}.py": _OPERATOR.format(**fields), f"test_{module}.py": _TEST.format(**fields)}
