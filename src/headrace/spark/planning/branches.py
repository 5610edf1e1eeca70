"""What the tasks that have a query's rows make of them for its sinks, where no row has to pass through Spark's plan for
that: filters and columns that Arrow handles just as Spark does, and what the writer itself encodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import pyarrow as pa

from headrace.errors import InvalidInput
from headrace.formats import check_writing, with_schema
from headrace.formats.json_text import can_write
from headrace.graph.document import Node
from headrace.graph.schema import Column, Schema
from headrace.operators import Catalogue
from headrace.operators.arrow_types import arrow_schema
from headrace.operators.columnar import Form, may_raise
from headrace.operators.columnar.forms import COLUMN, literal, made
from headrace.operators.row_forms import RowForms
from headrace.operators.row_step import RowStep
from headrace.operators.spec import OperatorConfig
from headrace.operators.table_keys import key_columns
from headrace.operators.table_sink import ToTableConfig
from headrace.operators.topic_sink import ToTopicConfig
from headrace.operators.value_formats import value_format
from headrace.spark.planning.outputs import plain_output, takes_columns
from headrace.spark.planning.plan import Branch
from headrace.spark.planning.retractions import takes_retractions
from headrace.spark.specs import Output, Shaping

# Types whose text Arrow writes as Spark does: they can be keys.
_KEY_TYPES = frozenset({"STRING", "TINYINT", "SMALLINT", "INT", "BIGINT"})


class OnlySpark(Exception):
    """Raised for rows that have to pass through Spark's plan, with the reason in words for a plan."""


@dataclass(frozen=True, slots=True)
class Shaped:
    """What tasks do with rows, and the outputs that take these."""

    shaping: Shaping
    outputs: tuple[Output, ...]


def shaped(
    branches: Iterable[Branch],
    columns: Schema,
    catalogue: Catalogue,
    *,
    filtered_before: bool = False,
    retracted: Sequence[str] = (),
) -> Shaped:
    """For rows of these columns, hidden ones included. With `filtered_before` they fulfil the first condition already.
    Rows whose `retracted` columns are all null are retractions.

    Raises OnlySpark.
    """
    names = _Names()
    outputs: list[Output] = []
    counted: dict[str, str | None] = {}
    for branch in branches:
        rows = RowForms.of(columns)
        for number, (node, step) in enumerate(branch.steps):
            rows = rows if filtered_before and number == 0 else _behind(rows, node, step, names)
            counted[node.id] = _name(rows.keep)
        outputs.append(_output(branch.sink, rows, names, catalogue, _all_null(retracted, columns)))
    return Shaped(_shaping(names, outputs, counted), tuple(outputs))


@dataclass(slots=True)
class _Names:
    """What is computed has a name; equal forms have one."""

    made: dict[str, tuple[str, Form]] = field(default_factory=dict)

    def of(self, form: Form, node: Node) -> Form:
        """What stands for a form in others."""
        if form[0] == COLUMN:
            return form
        known = next((name for name, (_, other) in self.made.items() if other == form), None)
        name = known or f"_made{len(self.made)}"
        self.made.setdefault(name, (node.id, form))
        return made(name, form)

    def taken(self, form: Form, rows: RowForms, sink: Node) -> str:
        """The column of a batch that a sink takes: what may raise is computed for rows that are kept alone."""
        if rows.keep is not None and may_raise(form):
            form = self.of(("case", form[1], rows.keep, form, literal(form[1], None)), sink)
        return str(form[2])


def _name(form: Form | None) -> str | None:
    return None if form is None else str(form[2])


def _shaping(names: _Names, outputs: Sequence[Output], counted: dict[str, str | None]) -> Shaping:
    taken = [
        name
        for output in outputs
        for name in (*output.columns.values(), output.key, *output.key_parts, output.keep, output.deletes)
        if name in names.made
    ]
    keeps = tuple(dict.fromkeys(output.keep for output in outputs))
    return Shaping(names.made, tuple(dict.fromkeys(map(str, taken))), keeps, counted)


def _behind(rows: RowForms, node: Node, step: RowStep, names: _Names) -> RowForms:
    following = rows.behind(step, lambda form: names.of(form, node))
    if following is None:
        raise OnlySpark(f"{node.operator} follows, in Spark's plan")
    if step.condition is None or following.keep is None:
        return following
    # It is never null: a row is kept or not.
    return replace(following, keep=names.of(("is true", "BOOLEAN", following.keep), node))


def _all_null(retracted: Sequence[str], columns: Schema) -> Form | None:
    found = RowForms.of(columns).columns
    nulls: list[Form] = [("is null", "BOOLEAN", found[name]) for name in retracted]
    return reduce(lambda one, other: ("and", "BOOLEAN", one, other), nulls) if nulls else None


def _output(sink: Node, rows: RowForms, names: _Names, catalogue: Catalogue, deletes: Form | None) -> Output:
    config, output = plain_output(sink, catalogue)
    if isinstance(config, ToTopicConfig) and config.headers is not None:
        raise OnlySpark(f"Spark makes the headers for {sink.operator}")
    output = replace(output, keep=_name(rows.keep))
    if not (isinstance(config, ToTableConfig) and config.mode == "delete"):
        if any(form[0] != COLUMN and form[1].startswith("ARRAY") for form in rows.columns.values()):
            raise OnlySpark(f"Spark makes a list for {sink.operator}")
        columns = {name: names.taken(form, rows, sink) for name, form in rows.columns.items()}
        output = replace(output, columns=columns)
        if not takes_columns(config):
            output = _with_values(output, config, sink, rows)
    if isinstance(config, ToTableConfig):
        if deletes is not None and takes_retractions(config):
            output = replace(output, deletes=_name(names.of(deletes, sink)))
        return _with_key(output, key_columns(config.key), sink, rows, names)
    if isinstance(config, ToTopicConfig) and config.key is not None:
        return _with_key(output, (config.key,), sink, rows, names)
    return output


def _with_values(output: Output, config: OperatorConfig, sink: Node, rows: RowForms) -> Output:
    """With how values are made of the columns."""
    try:
        types = arrow_schema(_visible(rows))
        output = _described(output, config, types) if isinstance(config, ToTopicConfig | ToTableConfig) else output
    except InvalidInput:
        raise OnlySpark(f"Spark alone knows the columns for {sink.operator}") from None
    if output.format == "json" and not can_write(types):
        raise OnlySpark(f"Spark writes the text for {sink.operator}")
    return output


def _described(output: Output, config: ToTopicConfig | ToTableConfig, types: pa.Schema) -> Output:
    """Raises InvalidInput for columns that the format cannot hold."""
    check_writing(value_format(config), types)
    return replace(output, value_format=with_schema(value_format(config), types))


def _visible(rows: RowForms) -> Schema:
    return Schema(tuple(Column(name, form[1]) for name, form in rows.columns.items()))


def _with_key(output: Output, columns: Sequence[str], sink: Node, rows: RowForms, names: _Names) -> Output:
    parts = [_visible(rows).require(name) for name in columns]
    if any(part.type not in _KEY_TYPES for part in parts):
        raise OnlySpark(f"Spark writes the key for {sink.operator}")
    taken = tuple(names.taken(rows.columns[part.name], rows, sink) for part in parts)
    return replace(output, key=taken[0]) if len(taken) == 1 else replace(output, key_parts=taken)
