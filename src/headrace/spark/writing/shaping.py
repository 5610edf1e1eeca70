"""What a task does with rows that sinks take without Spark's plan: it filters and counts them, and computes what sinks
take of them."""

from __future__ import annotations

from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from headrace.operators.columnar.values import Made, Values
from headrace.serial import NodeReport
from headrace.spark.specs import Shaping

# With fewer rows wanted than this share, it pays to copy them before anything is computed of them.
FEW_ROWS_SHARE = 0.5


class Shaper:
    """Of one task. `reports` has what passed each node so far, also of those that nothing passed."""

    def __init__(self, shaping: Shaping) -> None:
        self._shaping = shaping
        self._made = Made(shaping.made)
        self.reports = {node: NodeReport() for node in shaping.counted}

    def shaped(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The rows that some output takes, with what is computed for them. Raises InvalidInput that names the node, for
        a row that Spark fails for."""
        values = Values(rows, self._made)
        for node, keep in self._shaping.counted.items():
            self.reports[node].rows_out += rows.num_rows if keep is None else values.named(keep).true_count
        values = self._wanted(values)
        shaped = values.rows
        for name in self._shaping.added:
            shaped = shaped.append_column(name, values.named(name))
        return shaped

    def _wanted(self, values: Values) -> Values:
        keeps = [values.named(name) for name in self._shaping.keeps if name is not None]
        if not keeps or None in self._shaping.keeps:
            return values
        wanted = reduce(pc.or_, keeps)
        return values.only(wanted) if wanted.true_count < values.rows.num_rows * FEW_ROWS_SHARE else values
