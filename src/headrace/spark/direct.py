"""Queries that no row has to leave the source's reader for: filters and columns that Arrow handles just as Spark does.

The reader filters, computes, encodes and stages the rows in one go. Spark plans the micro-batches, spreads and repeats
the tasks, and hands on their commit messages, as it does for every other query; only its row-by-row copies are spared.
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
from headrace.operators.columnar import Form, Scope, may_raise, planned, scope_of
from headrace.operators.columnar.forms import COLUMN, VOID, literal, made
from headrace.operators.row_step import RowStep
from headrace.operators.table_sink import ToTableConfig
from headrace.operators.topic_sink import ToTopicConfig
from headrace.operators.value_formats import value_format
from headrace.spark.outputs import dead_letter_output, plain_output
from headrace.spark.plan import Branch, QueryPlan
from headrace.spark.pushdown import is_whole_prefilter
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
    """A branch's row: its visible columns by name, all that expressions may name, and which rows it has."""

    columns: Mapping[str, Form]
    scope: Scope
    keep: str | None = None

    @classmethod
    def of(cls, schema: Schema) -> _View:
        scope = scope_of(schema)
        return cls({name: scope[name.lower()] for name in schema.names}, scope)


@dataclass(slots=True)
class _Reader:
    """The reader's part, under construction. Equal forms have one name."""

    made: dict[str, tuple[str, Form]] = field(default_factory=dict)
    counted: dict[str, str | None] = field(default_factory=dict)

    def name(self, form: Form, node: Node) -> str:
        """The name under which a form is computed."""
        known = next((name for name, (_, other) in self.made.items() if other == form), None)
        name = known or f"_made{len(self.made)}"
        self.made.setdefault(name, (node.id, form))
        return name

    def under_name(self, form: Form, node: Node) -> Form:
        """What stands for a form in others."""
        return form if form[0] == COLUMN else made(self.name(form, node), form)

    def keep(self, view: _View, condition: Form, node: Node) -> str:
        """The name of what says whether a row is kept; it is never null."""
        whole = condition if view.keep is None else ("and", "BOOLEAN", self._kept(view.keep), condition)
        return self.name(("is true", "BOOLEAN", whole), node)

    def output_column(self, form: Form, keep: str | None, node: Node) -> str:
        """The column of a batch that a sink takes: what may raise is computed for rows that are kept alone."""
        if keep is not None and may_raise(form):
            return self.name(("case", form[1], self._kept(keep), form, literal(form[1], None)), node)
        return str(form[2])

    def _kept(self, keep: str) -> Form:
        return made(keep, self.made[keep][1])


def direct_query(plan: QueryPlan, columns: Schema, dead_letter: str | None, catalogue: Catalogue) -> Direct | None:
    """None where rows have to pass through Spark's plan. `columns` are those that the query reads of its topic."""
    if plan.chained or plan.source.operator != "topic" or not plan.branches:
        return None
    reader = _Reader()
    outputs: list[Output] = []
    is_filtered = _is_filtered_before(plan.branches, columns)
    for branch in plan.branches:
        view = _View.of(columns)
        for number, (node, step) in enumerate(branch.steps):
            following = view if is_filtered and number == 0 else _after(view, node, step, reader)
            if following is None:
                return None
            view = following
            reader.counted[node.id] = view.keep
        output = _output(branch.sink, view, reader, catalogue)
        if output is None:
            return None
        outputs.append(output)
    reading = _reading(columns, reader, outputs)
    if dead_letter is not None:
        outputs.append(dead_letter_output(plan.source, dead_letter, BAD_COLUMN))
    return Direct(reading, tuple(outputs))


def _reading(columns: Schema, reader: _Reader, outputs: list[Output]) -> DirectReading:
    taken = [name for output in outputs for name in (*output.columns.values(), output.key, output.keep)]
    added = tuple(dict.fromkeys(name for name in taken if name in reader.made))
    keeps = tuple(dict.fromkeys(output.keep for output in outputs))
    read = Schema((*columns, *columns.hidden))
    return DirectReading(str(read), reader.made, added, keeps, reader.counted)


def _is_filtered_before(branches: tuple[Branch, ...], columns: Schema) -> bool:
    """Whether the source's prefilter has left out all rows that the first filter would: no other branch wants them."""
    condition = branches[0].steps[0][1].condition if len(branches) == 1 and branches[0].steps else None
    return condition is not None and is_whole_prefilter(condition, columns)


def _after(view: _View, node: Node, step: RowStep, reader: _Reader) -> _View | None:
    if step.condition is not None:
        condition = planned(step.condition, view.scope)
        if condition is None or condition[1] != "BOOLEAN":
            return None
        return replace(view, keep=reader.keep(view, condition, node))
    columns: dict[str, Form] = {}
    for name, expression in step.columns or ():
        # A name given further left may be used, where the input has no such column.
        form = planned(expression, {**_folded(columns), **view.scope})
        if form is None or form[1] == VOID:
            return None
        columns[name] = reader.under_name(form, node)
    return _View(columns, _folded(columns), view.keep)


def _folded(columns: Mapping[str, Form]) -> dict[str, Form]:
    return {name.lower(): form for name, form in columns.items()}


def _output(sink: Node, view: _View, reader: _Reader, catalogue: Catalogue) -> Output | None:
    """None where only Spark can make what the sink takes."""
    config, output = plain_output(sink, catalogue)
    schema = Schema(tuple(Column(name, form[1]) for name, form in view.columns.items()))
    try:
        types = arrow_schema(schema)
    except InvalidInput:
        return None
    is_list = any(form[0] != COLUMN and form[1].startswith("ARRAY") for form in view.columns.values())
    if isinstance(config, ToTableConfig) or is_list or (output.format == "json" and not can_write(types)):
        return None
    if isinstance(config, ToTopicConfig) and config.headers is not None:
        return None
    columns = {name: reader.output_column(form, view.keep, sink) for name, form in view.columns.items()}
    output = replace(output, keep=view.keep, columns=columns)
    return _with_format(output, config, types, schema) if isinstance(config, ToTopicConfig) else output


def _with_format(output: Output, config: ToTopicConfig, types: pa.Schema, schema: Schema) -> Output | None:
    """Raises InvalidInput for columns that the format cannot hold."""
    if config.format == "arrow":
        return output
    check_writing(value_format(config), types)
    output = replace(output, value_format=with_schema(value_format(config), types))
    if config.key is None:
        return output
    key = schema.require(config.key)
    return replace(output, key=output.columns[key.name]) if key.type in _KEY_TYPES else None
