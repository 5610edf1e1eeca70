"""`union`: the rows of several inputs, one after the other as they come."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

from headrace.errors import InvalidInput
from headrace.graph.schema import UNKNOWN, Column, Schema, backquoted
from headrace.operators.spec import Operator, OperatorConfig, Port, Spec
from headrace.serial import Batch
from headrace.serial import Operator as Instance

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.operators.context import CompileContext

INPUTS_MAX = 8
T = TypeVar("T")
PORTS = ("in", *(f"in_{number}" for number in range(2, INPUTS_MAX + 1)))


class UnionConfig(OperatorConfig):
    """A union has no settings."""


class Union(Operator[UnionConfig]):
    spec = Spec(
        name="union",
        title="Union",
        summary="Puts the rows of several inputs together.",
        kind="relational",
        inputs=(
            Port("in", "rows; their order of columns is that of the output"),
            *(Port(name, "rows with the same columns", required=name == "in_2") for name in PORTS[1:]),
        ),
        outputs=(Port("out", "all rows of all inputs, doubles included"),),
        guarantees=(
            "Every row of every input once. Where all have an event time of the same name, the output has it, and the "
            "watermark is that of the input that is furthest behind. Before and between serial operators it is part of "
            "their chain: rows pass by reference, and those of one source partition keep their order."
        ),
        example=(
            'topic north schema="drone STRING, battery DOUBLE" ! union as all ! preview\n'
            'topic south schema="drone STRING, battery DOUBLE" ! @all.in_2'
        ),
    )
    config_type = UnionConfig

    def output_schema(self, config: UnionConfig, inputs: Mapping[str, Schema]) -> Schema:
        first, *others = _in_order(inputs)
        for other in others:
            _require_same_columns(first, other)
        times = {(schema.event_time or "").lower() for schema in (first, *others)}
        hidden = tuple(column for column in first.hidden if all(other.find(column.name) for other in others))
        columns = tuple(_known(column.name, (first, *others)) for column in first)
        return Schema(columns, hidden, first.event_time if len(times) == 1 else None)

    def used_columns(
        self, config: UnionConfig, needed: frozenset[str], inputs: Mapping[str, Schema]
    ) -> Mapping[str, frozenset[str]]:
        return dict.fromkeys(inputs, needed)

    def chain_instance(self, config: UnionConfig, inputs: Mapping[str, Schema]) -> Instance:
        return _PassOn(self.output_schema(config, inputs).carried.names)

    def kept_columns(self, config: UnionConfig, inputs: Mapping[str, Schema]) -> Mapping[str, Mapping[str, str]]:
        names = self.output_schema(config, inputs).carried.names
        return {port: {name: schema.require(name).name for name in names} for port, schema in inputs.items()}

    def compile(self, config: UnionConfig, inputs: Mapping[str, DataFrame], context: CompileContext) -> DataFrame:
        frames = _in_order(inputs)
        found = [{name.lower() for name in frame.columns} for frame in frames]
        names = [backquoted(name) for name in frames[0].columns if all(name.lower() in columns for columns in found)]
        return reduce(lambda one, other: one.union(other), (frame.select(*names) for frame in frames))


class _PassOn(Instance):
    """Between serial operators: rows go on as they come, by reference, with the columns in the order of the output."""

    stateless = True

    def __init__(self, names: Sequence[str]) -> None:
        self._names = list(names)

    def process(self, batch: Batch) -> Iterable[Batch]:
        if batch.rows.schema.names == self._names:
            return [batch.to("out")]
        found = {name.lower(): index for index, name in enumerate(batch.rows.schema.names)}
        columns = [batch.rows.column(found[name.lower()]) for name in self._names]
        rows = pa.record_batch(columns, names=self._names)
        return [Batch(rows, private=not batch.is_shared, places=batch.places)]


def _in_order(inputs: Mapping[str, T]) -> list[T]:
    return [inputs[port] for port in PORTS if port in inputs]


def _require_same_columns(first: Schema, other: Schema) -> None:
    """Raises InvalidInput that names the column which one has and the other has not, or of another type."""
    for one, two in ((first, other), (other, first)):
        for column in one:
            match = next((found for found in two if found.name.lower() == column.name.lower()), None)
            if match is None:
                hint = "give all inputs the same columns with a select"
                raise InvalidInput(f"not every input has the column {column.name!r}", valid=two.names, hint=hint)
            if UNKNOWN not in (match.type, column.type) and match.type != column.type:
                hint = f"cast one in a select: `CAST({column.name} AS {match.type}) AS {column.name}`"
                raise InvalidInput(f"{column.name!r} is {column.type} in one input, {match.type} in another", hint=hint)


def _known(name: str, schemas: tuple[Schema, ...]) -> Column:
    """The column with its type, where one input tells it."""
    found = [schema.require(name) for schema in schemas]
    typed = next((column for column in found if column.type != UNKNOWN), found[0])
    return Column(found[0].name, typed.type)
