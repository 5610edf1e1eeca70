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
from headrace.graph.schema import WEIGHT, Column, Schema
from headrace.operators import Catalogue
from headrace.operators.arrow_types import arrow_schema
from headrace.operators.columnar import Form, may_raise, planned, scope_of
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
from headrace.spark.planning.retractions import Retractions, takes_retractions
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
    retractions: Retractions | None = None,
) -> Shaped:
    """For rows of these columns, hidden ones included. With `filtered_before` they fulfil the first condition already.

    Raises OnlySpark.
    """
    names = _Names()
    outputs: list[Output] = []
    counted: dict[str, str | None] = {}
    retractions = retractions or Retractions()
    holds = _weight_is(">", columns) if retractions.weighed else None
    for branch in branches:
        is_table = takes_retractions(catalogue.get(branch.sink.operator).configure(branch.sink.config))
        rows = RowForms.of(columns)
        rows = rows if is_table else _only(rows, holds, branch.sink, names)
        for number, (node, step) in enumerate(branch.steps):
            rows = rows if filtered_before and number == 0 else _behind(rows, node, step, names)
            counted[node.id] = _name(_only(rows, holds, node, names).keep if is_table else rows.keep)
        deletes = _deletes(retractions, columns, rows, branch.sink) if is_table else None
        output = _output(branch.sink, rows, names, catalogue, deletes)
        outputs.append(replace(output, keep=None) if branch.sink.id in retractions.refused else output)
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


def _only(rows: RowForms, condition: Form | None, node: Node, names: _Names) -> RowForms:
    """Those for which the condition is true. That is never null: a row is kept or not."""
    if condition is None:
        return rows
    found = rows.only(condition)
    return replace(found, keep=names.of(("is true", "BOOLEAN", found.keep), node))


def _weight_is(comparison: str, columns: Schema) -> Form:
    found = planned(f"`{WEIGHT}` {comparison} 0", scope_of(columns))
    if found is None:
        raise AssertionError("rows that retract others have a weight")
    return found


def _deletes(retractions: Retractions, columns: Schema, rows: RowForms, sink: Node) -> Form | None:
    """What is true for rows that delete their key in this table; None where none does."""
    found = RowForms.of(columns).columns
    nulls: list[Form] = [("is null", "BOOLEAN", found[name]) for name in retractions.nulls]
    reasons = [reduce(lambda one, other: ("and", "BOOLEAN", one, other), nulls)] if nulls else []
    if retractions.weighed:
        reasons.append(_weight_is("<", columns))
    if sink.id in retractions.refused and rows.keep is not None:
        reasons.append(("not", "BOOLEAN", rows.keep))
    return reduce(lambda one, other: ("or", "BOOLEAN", one, other), reasons) if reasons else None


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
        if deletes is not None:
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
