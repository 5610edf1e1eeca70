"""Rows that retract what was emitted before: in a table they delete their key.

| what no longer holds | how the sink learns it |
|---|---|
| a row of an aggregate, a window or a ranking in a chain | its node also emits the row as it was, with the weight −1 |
| a row of another node, behind a filter | the filter refuses the row that takes its place, which has the same key |
| a session that a late row joined with another | its key and its bounds are emitted again, with null aggregates |

A table needs this where a filter may refuse a row that it let through before, where a ranking has more than one row for
a key, and where a part of the table's key may change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from headrace.errors import InvalidInput
from headrace.graph.document import Document, Json, Node
from headrace.graph.schema import WEIGHT
from headrace.graph.validation import Validated, validate
from headrace.operators import Catalogue
from headrace.operators.expressions import parse_expression
from headrace.operators.row_step import RowStep
from headrace.operators.session_window import SessionWindowConfig
from headrace.operators.spec import OperatorConfig
from headrace.operators.table_keys import key_columns
from headrace.operators.table_sink import ToTableConfig
from headrace.operators.window_columns import END, START
from headrace.spark.planning.plan import Branch, QueryPlan
from headrace.spark.planning.queries import plan_queries

# What a condition may be made of to say the same of a key for ever.
_PLAIN = (exp.Column, exp.Identifier, exp.Literal, exp.Boolean, exp.Null, exp.Binary, exp.Not, exp.Paren, exp.In)
_WINDOWS = frozenset({"tumbling-window", "sliding-window", "cumulate-window", "gap-window", "time-window"})


@dataclass(frozen=True, slots=True)
class Retractions:
    """How the rows of a query's base retract others."""

    nulls: tuple[str, ...] = ()
    """Columns that are all null in a retraction."""
    weighed: bool = False
    """Whether rows have a weight."""
    refused: frozenset[str] = field(default_factory=frozenset)
    """Tables that delete the key of a row which the filters before them refuse."""

    def deletes(self, sink: Node, config: OperatorConfig) -> bool:
        """Whether rows may delete their key in this sink."""
        return takes_retractions(config) and (self.weighed or bool(self.nulls) or sink.id in self.refused)


def retractions_of(plan: QueryPlan, validated: Validated, catalogue: Catalogue) -> Retractions:
    """For the document as it runs (`retracting`)."""
    nulls, changes = retraction_columns(plan.base, catalogue), _changes(plan.base, validated)
    if any(column.name == WEIGHT for column in validated.schemas[plan.base.id].hidden):
        return Retractions(nulls, weighed=True)
    tables = _tables(plan, validated) if changes is not None else ()
    refused = frozenset(table.sink.id for table in tables if changes and table.is_needed(changes))
    return Retractions(nulls, refused=refused)


def retracting(validated: Validated, catalogue: Catalogue) -> Validated:
    """The same pipeline, with nodes that retract rows where a table needs it. Raises InvalidInput for a table whose
    rows could not be deleted."""
    wanted: set[str] = set()
    for plan in plan_queries(validated, catalogue):
        if (changes := _changes(plan.base, validated)) is None:
            continue
        can_weigh = plan.base.id in plan.in_chain and hasattr(validated.configs[plan.base.id], "retract")
        for table in (one for one in _tables(plan, validated) if one.is_needed(changes)):
            _require_key(table, changes, plan.base, can_weigh=can_weigh)
            wanted |= {plan.base.id} if can_weigh else set()
    if not wanted:
        return validated
    nodes = [_retracting(node) if node.id in wanted else node for node in validated.document.nodes]
    made = validate(Document(validated.document.name, tuple(nodes), validated.document.edges), catalogue)
    return replace(made, aside=validated.aside, written=validated.as_written)


def retraction_columns(base: Node, catalogue: Catalogue) -> tuple[str, ...]:
    """Columns of a node whose rows are retractions where all of them are null; none where it retracts nothing so.

    A count is never null in a session that holds. Without one, all aggregates must be null.
    """
    config = catalogue.get(base.operator).configure(base.config)
    if not isinstance(config, SessionWindowConfig) or (config.emit != "changes" and config.late != "update_previous"):
        return ()
    aggregates = [parse_expression(text) for text in config.aggregates]
    counts = [one.alias for one in aggregates if isinstance(one.tree, exp.Count) and one.alias is not None]
    return tuple(counts[:1]) or tuple(one.alias for one in aggregates if one.alias is not None)


def takes_retractions(config: OperatorConfig) -> bool:
    """Whether a sink can delete what it wrote before."""
    return isinstance(config, ToTableConfig) and config.mode == "upsert"


def _retracting(node: Node) -> Node:
    config: dict[str, Json] = {**node.config, "retract": True}
    return Node(node.id, node.operator, config)


@dataclass(frozen=True, slots=True)
class _Changes:
    """What names the rows of a node of which later ones take the place of earlier ones: `keys`, and one of `beside`,
    if there are any. More than one row of a key may hold where `several` do, and then one may leave by itself."""

    keys: frozenset[str]
    beside: frozenset[str] = frozenset()
    several: bool = False

    def is_named_by(self, key: frozenset[str]) -> bool:
        return self.keys <= key and (not self.beside or bool(self.beside & key))

    @property
    def all(self) -> frozenset[str]:
        return self.keys | self.beside


def _changes(node: Node, validated: Validated) -> _Changes | None:
    """None for a node whose rows stay what they are, and for one of which nobody knows."""
    config: Any = validated.configs[node.id]
    emits_again = getattr(config, "emit", None) == "changes" or getattr(config, "late", None) == "update_previous"
    if not emits_again:
        return None
    schema = validated.schemas[node.id]

    def found(*settings: str) -> frozenset[str]:
        names = (name for setting in settings for name in getattr(config, setting))
        return frozenset(schema.require(name).name for name in names)

    if node.operator in ("aggregate", "aggregate-latest"):
        return _Changes(found("keys"))
    if node.operator == "session-window":
        return _Changes(found("keys"), frozenset({START}))
    if node.operator in _WINDOWS:
        return _Changes(found("keys"), frozenset({START, END}))
    if node.operator == "top-n":
        several = config.n > 1
        rank = frozenset({config.rank} if several and config.rank is not None else ())
        return _Changes(found("keys"), rank, several)
    return None


@dataclass(frozen=True, slots=True)
class _Table:
    """A table at the end of a branch: its key as columns of the base, and the columns that its filters depend on."""

    sink: Node
    key: frozenset[str] | None
    """None where the key is computed."""
    filtered_by: frozenset[str]

    def is_needed(self, changes: _Changes) -> bool:
        """Whether a row that holds no longer may stay in the table, by what it does and not by what others write."""
        if not self.filtered_by <= changes.keys:
            return True
        if self.key is None:
            return changes.several
        return bool(self.key - changes.all) or (changes.several and not changes.is_named_by(self.key))


def _tables(plan: QueryPlan, validated: Validated) -> Iterator[_Table]:
    for branch in plan.branches:
        config = validated.configs[branch.sink.id]
        if isinstance(config, ToTableConfig) and takes_retractions(config):
            yield _table(branch, config, validated.schemas[plan.base.id].names)


def _table(branch: Branch, config: ToTableConfig, names: Sequence[str]) -> _Table:
    columns: Mapping[str, str | None] = {name.lower(): name for name in names}
    filtered_by: set[str] = set()
    for _, step in branch.steps:
        if step.condition is not None:
            filtered_by |= _read(step.condition, columns)
        else:
            columns = _renamed(step, columns)
    key = [columns.get(name.lower()) for name in key_columns(config.key)]
    return _Table(branch.sink, None if None in key else frozenset(filter(None, key)), frozenset(filtered_by))


def _read(condition: str, columns: Mapping[str, str | None]) -> set[str]:
    """The base's columns that a condition depends on; the empty name stands for what may change by itself."""
    expression = parse_expression(condition)
    is_plain = all(isinstance(part, _PLAIN) for part in expression.tree.walk())
    read = {columns.get(name.lower()) or "" for name in expression.columns}
    return read if is_plain else {*read, ""}


def _renamed(step: RowStep, columns: Mapping[str, str | None]) -> dict[str, str | None]:
    """Name behind a select → the base's column that it is, None for one that is computed."""
    found: dict[str, str | None] = {}
    for name, text in step.columns or ():
        tree = parse_expression(text).tree
        tree = tree.this if isinstance(tree, exp.Alias) else tree
        is_column = isinstance(tree, exp.Column) and len(tree.parts) == 1
        found[name.lower()] = columns.get(tree.name.lower()) if is_column else None
    return found


def _require_key(table: _Table, changes: _Changes, base: Node, *, can_weigh: bool) -> None:
    """Raises InvalidInput where deletes could not find the rows that left, or could overtake others."""
    key = table.key
    if key is not None and (changes.keys <= key if can_weigh and changes.several else changes.is_named_by(key)):
        if can_weigh or not (changes.several or key - changes.all):
            return
        message = f"rows that leave {base.id!r} cannot be deleted: it runs in Spark's plan"
        raise InvalidInput(message, node=table.sink.id, hint="EXPLAIN says why; or write to a stream")
    named = ", ".join(sorted(changes.keys)) or "no column"
    beside = f" and {' or '.join(sorted(changes.beside))}" if changes.beside and not changes.several else ""
    raise InvalidInput(
        f"rows that leave {base.id!r} could not be deleted from the table: {named}{beside} name its rows, and the key "
        "of the table does not have them",
        node=table.sink.id,
        hint="add them to the PRIMARY KEY (`key` of to-table), or write to a stream",
    )
