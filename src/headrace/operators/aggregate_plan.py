"""Aggregates of relational operators as forms over Arrow's columns, for those that a chain computes just as Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, Protocol

import numpy as np
import pyarrow as pa
from sqlglot import exp

from headrace.graph.schema import Column, Schema
from headrace.operators.aggregate_items import aggregate_columns
from headrace.operators.aggregates import (
    NAMES,
    TWO_VALUES,
    Aggregate,
    ByAnother,
    Call,
    DecimalSum,
    InOrder,
    OfValues,
    as_listed,
    call_of,
    kind_of,
    normalised,
)
from headrace.operators.arrow_types import arrow_type
from headrace.operators.columnar import Form, Planner, may_raise, scope_of
from headrace.operators.columnar.forms import VOID
from headrace.operators.columnar.types import EXACT, NotExact, as_decimal, decimal_of
from headrace.operators.columnar.values import Values, holds
from headrace.operators.expressions import Expression, parse_expression, sql
from headrace.operators.system_columns import EVENT_TIME_COLUMN
from headrace.serial import Partitioning

# Words before a bracket in an item that are no functions of a row.
_WORDS = NAMES | {"count_if", "array", "distinct", "filter", "where"}
_DISTINCT = (*EXACT, "FLOAT", "DOUBLE", "BINARY")
# Of some aggregates: which rows count, whatever their value is.
_ROWS: Final = None
# The bits of a whole number, but for its sign: one for each condition over the same distinct values.
CONDITIONS_MAX = 63
_PLANS_KEPT = 256


class Grouping(Protocol):
    """What the settings of a relational operator that aggregates say."""

    @property
    def keys(self) -> list[str]: ...
    @property
    def aggregates(self) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class Item:
    """`function(value, …) FILTER (WHERE condition) AS name`. A value that is None stands for the rows themselves."""

    aggregate: Aggregate
    values: tuple[Form | None, ...]
    condition: Form | None
    is_distinct: bool = False


@dataclass(frozen=True, slots=True)
class Distinct:
    """A value whose distinct ones are counted: for each condition over it one item, by its number."""

    value: Form
    conditions: tuple[tuple[int, Form | None], ...]


@dataclass(frozen=True, slots=True)
class AggregatePlan:
    """What is computed for each batch: the keys, and a column for each value under its condition.

    The aggregates are over those columns; those of distinct values are counted in a way of their own.
    """

    keys: tuple[Column, ...]
    aggregates: tuple[Aggregate, ...]
    values: Mapping[str, tuple[Form | None, Form | None]]
    distincts: tuple[Distinct, ...]
    kept: Mapping[str, str]
    """Columns of which all values are kept, with their types."""

    def arranged(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Keys as `k0…`, values as they are named, null where their condition is not true; distinct values as `d0…`,
        beside `c0…`: a bit for each of their conditions that is true. Raises InvalidInput for a row that Spark fails
        for."""
        values = Values(rows)
        columns: dict[str, Any] = {
            f"k{index}": normalised(_typed(rows.column(key.name), key.type)) for index, key in enumerate(self.keys)
        }
        for name, (value, condition) in self.values.items():
            columns[name] = _under(values, value, condition)
        for index, distinct in enumerate(self.distincts):
            columns[f"d{index}"] = normalised(_typed(values.array(distinct.value), distinct.value[1]))
            columns[f"c{index}"] = pa.array(_bits(values, distinct))
        return pa.record_batch(columns)

    def key_columns(self, arranged: pa.RecordBatch) -> list[pa.Array[Any]]:
        return [arranged.column(f"k{index}") for index in range(len(self.keys))]


def aggregate_plan(config: Grouping, schema: Schema) -> AggregatePlan:
    """Raises NotExact where an aggregate is left to Spark; InvalidInput and InvalidSyntax as validation does."""
    # All that counts of a schema: two are equal that differ in what is hidden.
    return _plan(tuple(config.keys), tuple(config.aggregates), schema.columns, schema.hidden, schema.event_time)


@lru_cache(maxsize=_PLANS_KEPT)
def _plan(
    key_names: tuple[str, ...],
    texts: tuple[str, ...],
    columns: tuple[Column, ...],
    hidden: tuple[Column, ...],
    event_time: str | None,
) -> AggregatePlan:
    """Asked for by every lane and micro-batch."""
    schema = Schema(columns, hidden, event_time)
    keys = tuple(schema.require(key) for key in key_names)
    declared = aggregate_columns(texts, schema, keys)
    items = [planned_item(text, schema) for text in texts]
    for item, column in zip(items, declared, strict=True):
        if item.aggregate.type != column.type:
            raise NotExact(f"the type of {column.name!r} is left to Spark")
    distincts = _distincts(items)
    if any(len(distinct.conditions) > CONDITIONS_MAX for distinct in distincts):
        raise NotExact(f"more than {CONDITIONS_MAX} conditions over the same distinct values are left to Spark")
    wanted = dict.fromkeys((value, item.condition) for item in items if not item.is_distinct for value in item.values)
    names = {pair: f"v{index}" for index, pair in enumerate(wanted) if pair != (None, None)}
    aggregates = tuple(_over_columns(item, names) for item in items)
    kept = {
        names[value, item.condition]: value[1]
        for item in items
        for value in item.values
        if value is not None and isinstance(item.aggregate.kind, OfValues)
    }
    return AggregatePlan(keys, aggregates, {name: pair for pair, name in names.items()}, distincts, kept)


def _over_columns(item: Item, names: Mapping[tuple[Form | None, Form | None], str]) -> Aggregate:
    first, second = (names.get((value, item.condition)) for value in (*item.values, _ROWS)[:2])
    return replace(item.aggregate, column=first, second=second)


def lanes_by(config: Grouping, schema: Schema) -> Partitioning:
    """All rows of a key come to one lane."""
    return Partitioning("by_key", tuple(schema.require(key).name for key in config.keys))


def planned_item(text: str, schema: Schema) -> Item:
    """Raises NotExact, with the reason, for what only Spark computes as Spark does."""
    item = parse_expression(text)
    try:
        return _item(item, Planner(text, scope_of(present(schema)), _WORDS))
    except NotExact as error:
        raise NotExact(f"{sql(item.tree)} is left to Spark: {error}") from None


def _item(item: Expression, planner: Planner) -> Item:
    tree, where = item.tree, None
    if isinstance(tree, exp.Filter):
        tree, where = tree.this, tree.expression
    call = call_of(tree)
    if call is None:
        raise NotExact("it is no aggregate that chains know")
    if call.function == "percentile" and item.text.count(",") > sql(tree).count(","):
        # The parser drops a frequency.
        raise NotExact("more than is known of it")
    condition = None if where is None else _condition(planner, where.this)
    if call.function == "count_if":
        call, condition = _rows_where(planner, call, condition)
    values, is_distinct = _values(planner, call)
    # Spark does not look at a value whose rows are only counted, and may look at one before its condition.
    is_counted = call.function == "count" and not is_distinct
    if any(value is not None and may_raise(value) for value in values) and (is_counted or condition is not None):
        raise NotExact("it may fail for rows that do not count")
    aggregate = _aggregate(call, values, item.alias or item.text, is_distinct=is_distinct)
    if isinstance(aggregate.kind, InOrder):
        values = (*values, _ROWS)
    return Item(aggregate, values, condition, is_distinct)


def _aggregate(call: Call, values: tuple[Form | None, ...], name: str, *, is_distinct: bool) -> Aggregate:
    types = [value[1] for value in values if value is not None]
    if VOID in types or (is_distinct and types[0] not in _DISTINCT and decimal_of(types[0]) is None):
        raise NotExact(f"{call.function} of {'distinct ' * is_distinct}{', '.join(types)}")
    kind, type_ = kind_of(call.function, types)
    parameters = call.parameters
    if isinstance(kind, DecimalSum):
        parameters = (as_decimal(types[0])[1],)
    elif isinstance(kind, ByAnother):
        parameters = (types[1],)
    is_count = call.function == "count"
    made = as_listed(type_, call.parameters)
    return Aggregate(kind, call.function, None, name, made, keeps_number=not is_count, parameters=parameters)


def _rows_where(planner: Planner, call: Call, condition: Form | None) -> tuple[Call, Form]:
    """`count_if(a) FILTER (WHERE b)` is the number of rows for which both hold."""
    (value,) = call.values
    found = _condition(planner, value)
    if may_raise(found) and condition is not None:
        raise NotExact("it may fail for rows that do not count")
    both: Form = found if condition is None else ("and", "BOOLEAN", condition, found)
    return Call("count", (exp.Star(),)), both


def present(schema: Schema) -> Schema:
    """The columns that aggregates in a chain may be about: less than a row carries, for windows by the time of records
    or by the clock are left to Spark."""
    is_timed = schema.event_time == EVENT_TIME_COLUMN.name
    return replace(schema, hidden=(EVENT_TIME_COLUMN,) if is_timed else ())


def _condition(planner: Planner, tree: exp.Expr) -> Form:
    found = planner.form(tree)
    if found[1] != "BOOLEAN":
        raise NotExact(f"the condition {sql(tree)} is {found[1]}")
    return found


def _values(planner: Planner, call: Call) -> tuple[tuple[Form | None, ...], bool]:
    """The values, and whether only different ones count."""
    trees = call.values
    if call.function == "count" and len(trees) == 1 and isinstance(trees[0], exp.Star):
        if trees[0].args.get("except_") or trees[0].args.get("replace"):
            raise NotExact("not of all columns")
        return (_ROWS,), False
    is_distinct = bool(trees) and isinstance(trees[0], exp.Distinct)
    if is_distinct:
        distinct, *others = trees
        if call.function != "count" or others or len(distinct.expressions) != 1 or distinct.args.get("on"):
            raise NotExact("distinct values of several columns")
        trees = tuple(distinct.expressions)
    if len(trees) != (2 if call.function in TWO_VALUES else 1):
        raise NotExact("it is no aggregate of so many values that chains know")
    return tuple(planner.form(tree) for tree in trees), is_distinct


def _distincts(items: Sequence[Item]) -> tuple[Distinct, ...]:
    """One for each value, in the order in which they are written."""
    found: dict[Form, list[tuple[int, Form | None]]] = {}
    for number, item in enumerate(items):
        if item.is_distinct and (value := item.values[0]) is not None:
            found.setdefault(value, []).append((number, item.condition))
    return tuple(Distinct(value, tuple(conditions)) for value, conditions in found.items())


def _under(values: Values, value: Form | None, condition: Form | None) -> Any:
    """The values, null where the condition is not true. What is only counted is true or null."""
    if value is None:
        is_true = np.ones(values.rows.num_rows, np.bool_) if condition is None else holds(values, condition)
        return pa.array(is_true, mask=~is_true)
    found = _typed(values.array(value), value[1])
    if condition is None:
        return found
    return _where(found, holds(values, condition))


def _where(column: Any, is_true: Any) -> Any:
    if is_true.all():
        return column
    return column.take(pa.array(np.arange(len(column)), mask=~is_true))


def _bits(values: Values, distinct: Distinct) -> Any:
    bits = np.zeros(values.rows.num_rows, np.int64)
    for bit, (_, condition) in enumerate(distinct.conditions):
        bits |= (1 if condition is None else holds(values, condition).astype(np.int64)) << np.int64(bit)
    return bits


def _typed(column: Any, type_: str) -> Any:
    wanted = arrow_type(type_)
    return column if column.type == wanted else column.cast(wanted)
