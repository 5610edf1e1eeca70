"""The rows of a table at the end of a pipeline whose rows retract others: as its sink would leave them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from headrace.cases.sinks import Row
from headrace.graph.schema import backquoted
from headrace.graph.validation import Validated
from headrace.operators.catalogue import Catalogue
from headrace.spark.planning.outputs import make_output
from headrace.spark.planning.plan import Branch, QueryPlan
from headrace.spark.planning.queries import plan_queries
from headrace.spark.planning.retractions import Retractions, retractions_of
from headrace.spark.planning.wide import WideRow

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_KEY: Final = "_table_key"
_DELETES: Final = "_table_deletes"


@dataclass(frozen=True, slots=True)
class RetractedTable:
    """A table that deletes keys of rows which hold no longer, and the way to it."""

    plan: QueryPlan
    branch: Branch
    retractions: Retractions

    @property
    def base(self) -> str:
        return self.plan.base.id

    def written(self, base: DataFrame, validated: Validated, catalogue: Catalogue) -> DataFrame:
        """Of the rows of the base those that the sink writes, each with its key and whether it deletes that."""
        row, whole = WideRow.of(base, validated.schemas[self.base])
        view = whole
        for _, step in self.branch.steps:
            view = row.apply(view, step)
        output = make_output(self.branch.sink, catalogue, view, row, base=whole, retractions=self.retractions)
        wanted = [output.keep] if output.keep else []
        wanted += [f"{output.value} IS NOT NULL"] if output.value else []
        frame = row.frame.where(" AND ".join(wanted)) if wanted else row.frame
        columns = [f"{backquoted(view.physical(name))} AS {backquoted(name)}" for name in view.visible]
        return frame.selectExpr(*columns, f"{output.key} AS {_KEY}", f"{output.deletes} AS {_DELETES}")


def retracted_table(sink: str, validated: Validated, catalogue: Catalogue) -> RetractedTable | None:
    """None for a sink whose rows stay."""
    for plan in plan_queries(validated, catalogue):
        for branch in (one for one in plan.branches if one.sink.id == sink):
            found = retractions_of(plan, validated, catalogue)
            if found.deletes(branch.sink, validated.configs[sink]):
                return RetractedTable(plan, branch, found)
    return None


def left(rows: Iterable[Row]) -> list[Row]:
    """What is in the table after all rows were written."""
    table: dict[object, Row] = {}
    for row in rows:
        # A row that comes again is the newest.
        table.pop(row[_KEY], None)
        if not row[_DELETES]:
            table[row[_KEY]] = {name: value for name, value in row.items() if name not in (_KEY, _DELETES)}
    return list(table.values())
