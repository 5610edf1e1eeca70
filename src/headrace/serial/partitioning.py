"""How the rows of a chain come to its lanes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa

from headrace.errors import InvalidInput
from headrace.serial.boundary import OperatorFailed
from headrace.serial.key_hash import lane_of
from headrace.serial.keys import Integers, group

Strategy: TypeAlias = Literal["by_key", "round_robin", "custom"]


@dataclass(frozen=True, slots=True)
class Partitioning:
    """`keys` are columns, for `by_key`; none brings all rows to one lane. `function` is for `custom`: where a function
    is (`package.module:name`) that makes a whole number of each row of an Arrow batch. Rows of one number are in one
    lane; it must be the same for the same row, whenever and wherever it is called. Where inputs of an operator name
    their keys differently, `by_port` has those of each."""

    strategy: Strategy = "by_key"
    keys: tuple[str, ...] = ()
    function: str | None = None
    by_port: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __str__(self) -> str:
        names = {"round_robin": "turns", "custom": self.function or ""}
        return names.get(self.strategy, ", ".join(self.keys) or "no key")

    def at_port(self, port: str) -> Partitioning:
        """The same for rows that come into this input of the operator that wants it."""
        return Partitioning(self.strategy, dict(self.by_port).get(port, self.keys), self.function)

    def lane_count(self, wanted: int) -> int:
        """Of how many that are wanted there are: without keys all rows are in one."""
        return wanted if self.keys or self.strategy != "by_key" else 1

    def lanes(self, rows: pa.RecordBatch, first_row: int, lane_count: int, function: Any = None) -> Integers:
        """The lane of each row. `first_row` is the number of the first one in its source's task; `function` is the one
        that `self.function` names.

        Raises OperatorFailed where the function fails or does not give a number for each row.
        """
        if lane_count == 1:
            return np.zeros(rows.num_rows, np.int64)
        if self.strategy == "round_robin":
            return (first_row + np.arange(rows.num_rows)) % lane_count
        if self.strategy == "custom":
            return self._chosen(rows, function) % lane_count
        groups = group([rows.column(key) for key in self.keys], rows.num_rows)
        return lane_of(groups.keys, lane_count)[groups.codes]

    def _chosen(self, rows: pa.RecordBatch, function: Any) -> Integers:
        try:
            found = np.asarray(function(rows))
        except Exception as error:
            raise OperatorFailed(f"the partitioner {self.function}: {type(error).__name__}: {error}") from error
        if found.shape != (rows.num_rows,) or found.dtype.kind not in "iu":
            given = f"{found.dtype} of the shape {found.shape} for {rows.num_rows} rows"
            hint = "it returns one whole number for each row"
            raise OperatorFailed(f"the partitioner {self.function} gave {given}", hint=hint)
        return found.astype(np.int64)


def require_partitioner(function: Any, place: str) -> None:
    """Raises InvalidInput for what cannot be called."""
    if not callable(function):
        raise InvalidInput(f"{place} is no function", hint="def lanes(rows: pa.RecordBatch) -> np.ndarray: …")
