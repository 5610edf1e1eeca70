"""Rows that no branch can want are left out where they are read, so that they never cross into the JVM.

A prefilter is a condition as plain data (see `operators.columnar`). It lets through every row for which the conditions
behind the source may hold: Spark looks at those again, with its own rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from headrace.operators.columnar import forms
from headrace.operators.columnar.values import Values, holds

Prefilter: TypeAlias = Sequence[Any]


def admitted(rows: pa.RecordBatch, wanted: Prefilter) -> pa.RecordBatch:
    """The rows for which the condition may hold, in order. Those that are given, where it may for all."""
    mask = may_hold(rows, wanted)
    return rows if mask.all() else rows.filter(pa.array(mask))


def columns_of(wanted: Prefilter) -> set[str]:
    return forms.columns_of(forms.frozen(wanted))


def may_hold(rows: pa.RecordBatch, wanted: Prefilter) -> NDArray[np.bool_]:
    """Whether the condition may hold, for each row."""
    return holds(Values(rows), forms.frozen(wanted))
