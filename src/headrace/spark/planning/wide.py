"""Several branches in one pass: each row is looked at once and carries what every sink wants of it.

A filter becomes a column that says whether the row is still wanted in its branch; a select becomes columns under
names of their own. Expressions keep their text; only the names in them are replaced, at their places.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from headrace.graph.schema import Schema, quoted
from headrace.operators.expressions import parse_expression
from headrace.operators.row_step import RowStep

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True, slots=True)
class View:
    """A branch's row within the wide row: its columns by name, and the column that says whether it is wanted."""

    columns: Mapping[str, str]
    keep: str | None = None
    visible: tuple[str, ...] = ()

    def physical(self, name: str) -> str:
        return self._folded()[name.lower()]

    def _folded(self) -> dict[str, str]:
        return {name.lower(): physical for name, physical in self.columns.items()}

    def text(self, expression: str) -> str:
        """The expression, with this branch's columns in the places of the names."""
        names = self._folded()
        spans = [
            (part.meta["start"], part.meta["end"] + 1, names[part.name.lower()])
            for column in parse_expression(expression).tree.find_all(exp.Column)
            if (part := column.parts[0]).name.lower() in names
        ]
        for start, end, physical in sorted(spans, reverse=True):
            expression = expression[:start] + quoted(physical) + expression[end:]
        return expression


@dataclass(slots=True)
class WideRow:
    """The frame under construction. Equal steps of different branches are taken once."""

    frame: DataFrame
    _taken: dict[tuple[object, ...], View] = field(default_factory=dict)
    _count: int = 0

    @classmethod
    def of(cls, frame: DataFrame, schema: Schema, keep: str | None = None) -> tuple[WideRow, View]:
        """`keep` names a column of the frame that is true for the rows that branches may see."""
        names = {column: column for column in frame.columns if schema.find(column) is not None}
        return cls(frame), View(names, keep, tuple(name for name in schema.names if name in names))

    def apply(self, view: View, step: RowStep) -> View:
        key = (view.keep, tuple(sorted(view.columns.items())), step)
        if key not in self._taken:
            self._taken[key] = self._filter(view, step.condition) if step.condition else self._select(view, step)
        return self._taken[key]

    def column(self, expression: Column, name: str | None = None) -> str:
        """Adds a column; returns its name in the wide row."""
        self._count += 1
        name = name or f"_c{self._count}"
        self.frame = self.frame.withColumn(name, expression)
        return name

    def wanted(self, view: View, expression: Column) -> Column:
        """The expression where the branch wants the row, else null: never computed for a row that was filtered out."""
        from pyspark.sql import functions as spark  # noqa: PLC0415  (pyspark costs half a second: only where used)

        return expression if view.keep is None else spark.when(spark.col(view.keep), expression)

    def _filter(self, view: View, condition: str) -> View:
        from pyspark.sql import functions as spark  # noqa: PLC0415

        holds = spark.coalesce(spark.expr(view.text(condition)), spark.lit(False))
        keep = self.column(spark.coalesce(self.wanted(view, holds), spark.lit(False)))
        return replace(view, keep=keep)

    def _select(self, view: View, step: RowStep) -> View:
        from pyspark.sql import functions as spark  # noqa: PLC0415

        made: dict[str, str] = {}
        for name, expression in step.columns or ():
            # A name given further left may be used, where the input has no such column.
            scope = replace(view, columns={**made, **view.columns})
            bare = scope.columns.get(expression.strip("`"))
            made[name] = bare or self.column(self.wanted(view, spark.expr(scope.text(expression))))
        return View(made, view.keep, tuple(made))
