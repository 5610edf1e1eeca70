"""What an aggregate is: its state, how rows and states are put together, its result, and how it compares with Spark.

A new aggregate is one class of these, listed in `registry.py`. Nothing here goes row by row in Python.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import pyarrow as pa

from headrace.operators.columnar.types import NotExact
from headrace.serial.keys import Integers

Array: TypeAlias = "np.ndarray[Any, Any]"
# What the columns of a state are called beside `n…` and `v…`, and their types.
StateFields: TypeAlias = Sequence[tuple[str, pa.DataType]]
# exact: the same value. close: of floating point, that depends on the order of rows. set: a list in any order.
# rank: a value whose rank Spark only promises about. tie: of several equally good values any.
Compared: TypeAlias = Literal["exact", "close", "set", "rank", "tie"]
COUNT, NUMBER = "n", "v"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`function(column) AS name`; `column` is None for count(*). `second` is the column beside it, where a function
    has two; `parameters` are its constants."""

    kind: Kind
    function: str
    column: str | None
    name: str
    type: str
    keeps_number: bool = True
    """A count needs none; some windows keep a zero for it, and their state has it already."""
    second: str | None = None
    parameters: tuple[Any, ...] = ()

    @property
    def kept_type(self) -> pa.DataType:
        """Of the number that is kept beside the number of values."""
        return next((type_ for _, type_ in self.kind.fields(self)), pa.int64())

    def fields(self, index: int) -> list[tuple[str, pa.DataType]]:
        """The columns in state of the aggregate with this number."""
        number = f"{NUMBER}{index}"
        more = [(f"{number}.{suffix}" if suffix else number, type_) for suffix, type_ in self.kind.fields(self)]
        return [(f"{COUNT}{index}", pa.int64()), *more]


@dataclass(frozen=True, slots=True)
class Partial:
    """One aggregate over groups of rows: a value for each group in each column of its state, the number of values
    first."""

    columns: tuple[Array, ...]

    @property
    def counts(self) -> Integers:
        return self.columns[0]

    @property
    def numbers(self) -> Array:
        """The second column; the counts where there is no other."""
        return self.columns[1] if len(self.columns) > 1 else self.columns[0]


class Kind(ABC):
    """A function, or several that differ in their result only. States of groups without rows are zeros (None where a
    column is no number), and count 0 values."""

    names: ClassVar[tuple[str, ...]]
    compared: ClassVar[Compared] = "exact"

    @abstractmethod
    def result_type(self, function: str, types: Sequence[str]) -> str:
        """For arguments of these types. Raises NotExact for those that are not taken."""

    @abstractmethod
    def fields(self, aggregate: Aggregate) -> StateFields:
        """State beside the number of values; the first is called `v…`, the others by their names behind that."""

    @abstractmethod
    def partial(self, aggregate: Aggregate, rows: pa.RecordBatch, codes: Integers, group_count: int) -> Partial:
        """Rows with the same code are put together. Raises InvalidInput where a result overflows."""

    @abstractmethod
    def merge(self, aggregate: Aggregate, left: Partial, right: Partial) -> Partial:
        """The state of the rows of both, those of `left` first; group by group. Raises InvalidInput for an overflow."""

    @abstractmethod
    def result(self, aggregate: Aggregate, state: Partial) -> pa.Array[Any]:
        """One value for each group. Raises InvalidInput where one does not fit its type."""


class OfValues(Kind):
    """An aggregate of all values of a group: state holds them beside its table (`group_values.py`), there is only their
    number. Nulls are no values."""

    def fields(self, aggregate: Aggregate) -> StateFields:
        return []

    def partial(self, aggregate: Aggregate, rows: pa.RecordBatch, codes: Integers, group_count: int) -> Partial:
        column = rows.column(aggregate.column or "")
        known = codes[column.is_valid().to_numpy(zero_copy_only=False)] if column.null_count else codes
        return Partial((np.bincount(known, minlength=group_count),))

    def merge(self, aggregate: Aggregate, left: Partial, right: Partial) -> Partial:
        return Partial((left.counts + right.counts,))

    def result(self, aggregate: Aggregate, state: Partial) -> pa.Array[Any]:
        raise AssertionError("its values are kept beside the table")

    @abstractmethod
    def result_of(self, aggregate: Aggregate, counts: Integers, values: pa.Array[Any]) -> pa.Array[Any]:
        """One value for each group. `values` are those of all groups, one group after the other, as they came."""


def refused(function: str, types: Sequence[str]) -> NotExact:
    return NotExact(f"{function} of {', '.join(types)}")


def chosen(is_left: Array, left: Array, right: Array) -> Array:
    """Group by group the one or the other; also of objects."""
    made: Array = np.where(is_left, left, right)
    return made.astype(left.dtype, copy=False)
