"""Filters and selects as forms: what the rows behind them are, computed of the columns before them, where Arrow does
that just as Spark does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from headrace.errors import InvalidInput
from headrace.graph.schema import Schema
from headrace.operators.arrow_types import arrow_type
from headrace.operators.columnar import Form, Scope, planned, scope_of
from headrace.operators.columnar.forms import VOID
from headrace.operators.row_step import RowStep


@dataclass(frozen=True, slots=True)
class RowForms:
    """The rows at some place: their columns by name, all that expressions may name, and which rows there are, if not
    all that there were at first."""

    columns: Mapping[str, Form]
    scope: Scope
    keep: Form | None = None

    @classmethod
    def of(cls, schema: Schema) -> RowForms:
        """Columns that Arrow has no type for can be handed on, not computed with."""
        forms = scope_of(schema)
        scope = {name: form for name, form in forms.items() if has_arrow_type(form[1])}
        return cls({name: forms[name.lower()] for name in schema.names}, scope)

    def behind(self, step: RowStep, named: Callable[[Form], Form] = lambda form: form) -> RowForms | None:
        """The rows behind a step; None where Spark alone knows them. `named` may put something shorter in the place of
        a column's form."""
        if step.condition is not None:
            condition = planned(step.condition, self.scope)
            return None if condition is None or condition[1] != "BOOLEAN" else self.only(condition)
        columns: dict[str, Form] = {}
        for name, expression in step.columns or ():
            # A name given further left may be used, where the input has no such column.
            form = planned(expression, {**_folded(columns), **self.scope})
            if form is None or form[1] == VOID:
                return None
            columns[name] = named(form)
        return RowForms(columns, _folded(columns), self.keep)

    def only(self, condition: Form) -> RowForms:
        """Those for which the condition is true."""
        return replace(self, keep=condition if self.keep is None else ("and", "BOOLEAN", self.keep, condition))


def _folded(columns: Mapping[str, Form]) -> Scope:
    return {name.lower(): form for name, form in columns.items()}


def has_arrow_type(type_: str) -> bool:
    """Whether expressions can be computed with columns of the type, outside of Spark."""
    try:
        arrow_type(type_)
    except InvalidInput:
        return False
    return True
