"""Aggregates of relational operators as forms over Arrow's columns, for those that a chain computes just as Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from sqlglot import exp

from headrace.graph.schema import Column, Schema
from headrace.operators.aggregate_items import aggregate_columns
from headrace.operators.aggregates import Aggregate, aggregate_function
from headrace.operators.arrow_types import arrow_type
from headrace.operators.columnar import Form, Planner, may_raise, scope_of
from headrace.operators.columnar.forms import VOID
from headrace.operators.columnar.types import EXACT, INTEGERS, NotExact
from headrace.operators.columnar.values import Values, holds
from headrace.operators.expressions import Expression, parse_expression, sql
from headrace.operators.system_columns import EVENT_TIME_COLUMN
from headrace.serial import Partitioning

# Words before a bracket in an item that are no functions of a row.
_WORDS = frozenset({"count", "sum", "avg", "min", "max", "distinct", "filter", "where"})
_REALS = ("FLOAT", "DOUBLE")
_TAKEN = {"sum": (*INTEGERS, *_REALS), "avg": (*INTEGERS, *_REALS), "min": (*EXACT, *_REALS), "max": (*EXACT, *_REALS)}
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
    """`function(value) FILTER (WHERE condition) AS name`. Without a value rows are counted."""

    aggregate: Aggregate
    value: Form | None
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

    def arranged(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Keys as `k0…`, values as they are named, null where their condition is not true; distinct values as `d0…`,
        beside `c0…`: a bit for each of their conditions that is true. Raises InvalidInput for a row that Spark fails
        for."""
        values = Values(rows)
        columns: dict[str, Any] = {
            f"k{index}": _typed(rows.column(key.name), key.type) for index, key in enumerate(self.keys)
        }
        for name, (value, condition) in self.values.items():
            columns[name] = _under(values, value, condition)
        for index, distinct in enumerate(self.distincts):
            columns[f"d{index}"] = _typed(values.array(distinct.value), distinct.value[1])
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
    wanted = dict.fromkeys(_column_of(item) for item in items if not item.is_distinct)
    names = {pair: f"v{index}" for index, pair in enumerate(wanted) if pair != (None, None)}
    aggregates = tuple(replace(item.aggregate, column=names.get(_column_of(item))) for item in items)
    return AggregatePlan(keys, aggregates, {name: pair for pair, name in names.items()}, distincts)


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
    call, where = item.tree, None
    if isinstance(call, exp.Filter):
        call, where = call.this, call.expression
    function = aggregate_function(call)
    if function is None or call.args.get("expressions"):
        raise NotExact("it is no aggregate of one value that chains know")
    condition = None if where is None else _condition(planner, where)
    value, is_distinct = _value(planner, call), isinstance(call.this, exp.Distinct)
    # Spark does not look at a value whose rows are only counted, and may look at one before its condition.
    is_counted = function == "count" and not is_distinct
    if value is not None and may_raise(value) and (is_counted or condition is not None):
        raise NotExact("it may fail for rows that do not count")
    type_ = _result_type(function, value, is_distinct=is_distinct)
    aggregate = Aggregate(function, None, item.alias or item.text, type_, keeps_number=function != "count")
    return Item(aggregate, value, condition, is_distinct)


def present(schema: Schema) -> Schema:
    """The columns that aggregates in a chain may be about: less than a row carries, for windows by the time of records
    or by the clock are left to Spark."""
    is_timed = schema.event_time == EVENT_TIME_COLUMN.name
    return replace(schema, hidden=(EVENT_TIME_COLUMN,) if is_timed else ())


def _condition(planner: Planner, where: exp.Expr) -> Form:
    found = planner.form(where.this)
    if found[1] != "BOOLEAN":
        raise NotExact(f"the condition {sql(where.this)} is {found[1]}")
    return found


def _value(planner: Planner, call: exp.Expr) -> Form | None:
    tree = call.this
    if isinstance(tree, exp.Star):
        if tree.args.get("except_") or tree.args.get("replace"):
            raise NotExact("not of all columns")
        return None
    if isinstance(tree, exp.Distinct):
        if len(tree.expressions) != 1 or tree.args.get("on"):
            raise NotExact("distinct values of several columns")
        (tree,) = tree.expressions
    return planner.form(tree)


def _result_type(function: str, value: Form | None, *, is_distinct: bool) -> str:
    """Raises NotExact for a value of a type that is left to Spark."""
    if value is None:
        return "BIGINT"
    type_: str = value[1]
    is_taken = type_ != VOID and type_ in _TAKEN.get(function, (type_,))
    if not is_taken or (is_distinct and type_ not in EXACT):
        raise NotExact(f"{function} of {'distinct ' * is_distinct}{type_}")
    if function == "count":
        return "BIGINT"
    if function == "avg":
        return "DOUBLE"
    if function == "sum":
        return "DOUBLE" if type_ in _REALS else "BIGINT"
    return type_


def _column_of(item: Item) -> tuple[Form | None, Form | None]:
    return item.value, item.condition


def _distincts(items: Sequence[Item]) -> tuple[Distinct, ...]:
    """One for each value, in the order in which they are written."""
    found: dict[Form, list[tuple[int, Form | None]]] = {}
    for number, item in enumerate(items):
        if item.is_distinct and item.value is not None:
            found.setdefault(item.value, []).append((number, item.condition))
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
