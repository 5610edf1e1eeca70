"""Queries that no row has to leave the source's reader for: filters and columns that Arrow handles just as Spark does.

The reader filters, encodes and stages the rows in one go. Spark plans the micro-batches, spreads and repeats the tasks,
and hands on their commit messages, as it does for every other query; only its row-by-row copies are spared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pyarrow as pa

from headrace.errors import InvalidInput
from headrace.formats import check_writing, with_schema
from headrace.formats.json_text import can_write
from headrace.graph.document import Node
from headrace.graph.schema import Column, Schema
from headrace.operators import Catalogue
from headrace.operators.arrow_types import arrow_schema
from headrace.operators.row_step import RowStep
from headrace.operators.table_sink import ToTableConfig
from headrace.operators.topic_sink import ToTopicConfig
from headrace.operators.value_formats import value_format
from headrace.spark.outputs import dead_letter_output, plain_output
from headrace.spark.plan import Branch, QueryPlan
from headrace.spark.prefilter import Prefilter, renamed
from headrace.spark.pushdown import plain_column, whole_filter
from headrace.spark.specs import BAD_COLUMN, DirectReading, Output

# Types whose text Arrow writes as Spark does: they can be keys.
_KEY_TYPES = frozenset({"STRING", "TINYINT", "SMALLINT", "INT", "BIGINT"})


@dataclass(frozen=True, slots=True)
class Direct:
    """What the reader does, and the outputs that take its rows."""

    reading: DirectReading
    outputs: tuple[Output, ...]


@dataclass(frozen=True, slots=True)
class _View:
    """A branch's row: its columns by name, as the reader calls them, and which rows it has."""

    schema: Schema
    names: Mapping[str, str]
    keep: str | None = None


@dataclass(slots=True)
class _Reader:
    """The reader's part, under construction. Equal conditions are looked at once."""

    conditions: dict[str, Prefilter] = field(default_factory=dict)
    counted: dict[str, str | None] = field(default_factory=dict)

    def keep(self, view: _View, condition: Prefilter) -> str:
        own = renamed(condition, view.names)
        whole = own if view.keep is None else ["and", self.conditions[view.keep], own]
        known = next((name for name, other in self.conditions.items() if other == whole), None)
        name = known or f"_keep{len(self.conditions)}"
        self.conditions[name] = whole
        return name


def direct_query(plan: QueryPlan, columns: Schema, dead_letter: str | None, catalogue: Catalogue) -> Direct | None:
    """None where rows have to pass through Spark's plan. `columns` are those that the query reads of its topic."""
    if plan.chained or plan.source.operator != "topic" or not plan.branches:
        return None
    reader = _Reader()
    outputs: list[Output] = []
    for branch in plan.branches:
        view = _View(columns, {column.name: column.name for column in (*columns, *columns.hidden)})
        for node, step in branch.steps:
            following = _after(view, step, reader)
            if following is None:
                return None
            view = following
            reader.counted[node.id] = view.keep
        output = _output(branch.sink, view, catalogue)
        if output is None:
            return None
        outputs.append(output)
    if _is_one_filter(plan.branches):
        # The source's prefilter has left out all other rows already.
        reader = _Reader({}, dict.fromkeys(reader.counted))
        outputs = [replace(output, keep=None) for output in outputs]
    if dead_letter is not None:
        outputs.append(dead_letter_output(plan.source, dead_letter, BAD_COLUMN))
    read = Schema((*columns, *columns.hidden))
    return Direct(DirectReading(str(read), reader.conditions, reader.counted), tuple(outputs))


def _is_one_filter(branches: tuple[Branch, ...]) -> bool:
    """Whether all that happens is one filter right behind the source, and a choice of columns."""
    filters = [step.condition is not None for branch in branches for _, step in branch.steps]
    return len(branches) == 1 and filters[:1] == [True] and sum(filters) == 1


def _after(view: _View, step: RowStep, reader: _Reader) -> _View | None:
    if step.condition is not None:
        condition = whole_filter(step.condition, view.schema)
        return None if condition is None else replace(view, keep=reader.keep(view, condition))
    chosen = [(name, plain_column(expression, view.schema)) for name, expression in step.columns or ()]
    known = {name: before for name, before in chosen if before is not None}
    if len(known) < len(chosen):
        return None
    schema = Schema(tuple(Column(name, view.schema.require(before).type) for name, before in known.items()))
    return _View(schema, {name: view.names[before] for name, before in known.items()}, view.keep)


def _output(sink: Node, view: _View, catalogue: Catalogue) -> Output | None:
    """None where only Spark can make what the sink takes."""
    config, output = plain_output(sink, catalogue)
    try:
        types = arrow_schema(view.schema)
    except InvalidInput:
        return None
    if isinstance(config, ToTableConfig) or (output.format == "json" and not can_write(types)):
        return None
    columns = {name: view.names[name] for name in view.schema.names}
    output = replace(output, keep=view.keep, columns=columns)
    return _with_format(output, config, types, view) if isinstance(config, ToTopicConfig) else output


def _with_format(output: Output, config: ToTopicConfig, types: pa.Schema, view: _View) -> Output | None:
    """Raises InvalidInput for columns that the format cannot hold."""
    if config.format == "arrow":
        return output
    check_writing(value_format(config), types)
    output = replace(output, value_format=with_schema(value_format(config), types))
    if config.key is None:
        return output
    key = view.schema.require(config.key)
    return replace(output, key=view.names[key.name]) if key.type in _KEY_TYPES else None
