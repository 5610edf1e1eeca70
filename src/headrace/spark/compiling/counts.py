"""What is counted while rows pass through Spark's plan: how many leave each node, and what travels beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from types import ModuleType
from typing import TYPE_CHECKING

from headrace.graph.document import Node
from headrace.spark.specs import ASIDE_COLUMNS, BAD_COLUMN, RECORD_TIME, SKIPPED_COLUMN

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Observation

# Names under which Spark reports counts: rows that left a node under its id; with the source's id behind `bad:` its bad
# rows, behind `skipped:` those that it left out, beyond the rows that it handed on.
NODE_ROWS = "nodes"
BAD_ROWS = "bad"
SKIPPED_ROWS = "skipped"


@dataclass(frozen=True, slots=True)
class RowCounting:
    """Counts rows as they pass. Spark reports that with the progress of every batch; of a batch run it is noted in
    `observations`, to be read when it has ended."""

    observations: list[Observation] | None = None

    def counted(
        self, frame: DataFrame, name: str, keeps: Mapping[str, str | None], more: Sequence[Column] = ()
    ) -> DataFrame:
        """How many rows each node's column keeps (None: all), and `more`."""
        observed = [*_node_counts(frame, keeps), *more]
        return frame.observe(self._observer(f"{NODE_ROWS}.{name}"), *observed) if observed else frame

    def without_asides(self, frame: DataFrame, source: Node) -> DataFrame:
        """What travels beside a source's rows is counted here, and goes no further."""
        asides = asides_of(frame)
        counted = frame.observe(self._observer(f"{NODE_ROWS}.asides.{source.id}"), *aside_counts(frame, source))
        kept = reduce(and_, (frame[name].isNull() for name in asides))
        if RECORD_TIME in frame.columns:
            kept = kept | frame[RECORD_TIME].isNotNull()
        return counted.where(kept).drop(*asides)

    def _observer(self, name: str) -> str | Observation:
        if self.observations is None:
            return name
        from pyspark.sql import Observation  # noqa: PLC0415

        self.observations.append(Observation(name))
        return self.observations[-1]


def _node_counts(frame: DataFrame, keeps: Mapping[str, str | None]) -> list[Column]:
    """For each node, how many rows its column keeps (None: all)."""
    spark = functions()
    every = spark.col(RECORD_TIME).isNull() if RECORD_TIME in frame.columns else spark.lit(True)
    return [spark.count_if(every if keep is None else spark.col(keep)).alias(node) for node, keep in keeps.items()]


def wanted_only(frame: DataFrame, keeps: set[str | None]) -> DataFrame:
    """Rows that some sink keeps (None: all), and what travels beside them, to be counted and kept as dead letters."""
    spark = functions()
    if None in keeps:
        return frame
    conditions = [spark.col(keep) for keep in sorted(keep for keep in keeps if keep is not None)]
    conditions += [spark.col(name).isNotNull() for name in asides_of(frame)]
    return frame.where(reduce(or_, conditions)) if conditions else frame


def asides_of(frame: DataFrame) -> tuple[str, ...]:
    """The columns of the frame that carry something beside the rows of data."""
    return tuple(name for name in frame.columns if name in ASIDE_COLUMNS)


def only_rows(frame: DataFrame) -> DataFrame:
    """Without what travels beside the rows of data."""
    spark = functions()
    asides = asides_of(frame)
    return frame.where(reduce(and_, (spark.col(name).isNull() for name in asides))).drop(*asides) if asides else frame


def aside_counts(frame: DataFrame, source: Node) -> list[Column]:
    spark = functions()
    counts = {
        BAD_COLUMN: spark.count(BAD_COLUMN).alias(f"{BAD_ROWS}:{source.id}"),
        SKIPPED_COLUMN: spark.coalesce(spark.sum(SKIPPED_COLUMN), spark.lit(0)).alias(f"{SKIPPED_ROWS}:{source.id}"),
    }
    return [counts[name] for name in asides_of(frame) if name in counts]


def functions() -> ModuleType:
    from pyspark.sql import functions as found  # noqa: PLC0415  (pyspark costs half a second: only where used)

    return found
