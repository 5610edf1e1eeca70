"""Rows that Spark's plan dropped because they came too late, by node."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headrace.operators import Catalogue
from headrace.spark.compiling.recounting import MicroBatch, Recounting
from headrace.spark.planning.plan import QueryPlan
from headrace.spark.writing.checkpoint import Checkpoint

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import StreamingQueryProgress

# Micro-batches whose late rows wait to be counted; of further ones Spark's number is taken.
WAITING_MAX = 100

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class LateCounts:
    """Totals of one query since it was opened. `operators` are the nodes with state in Spark's plan, in the order in
    which it reports of them; a node whose rows go several ways is there several times.

    Where Spark's number says only that there were late rows, they are counted on a thread of their own, and are part of
    the totals when that is done; the query does not wait for it.
    """

    base: str
    operators: Sequence[str] = ()
    recounting: Recounting | None = None
    checkpoint: Checkpoint | None = None
    _totals: Counter[str] = field(default_factory=Counter)
    _told: int = 0
    _waiting: int = 0
    _pending: Counter[str] = field(default_factory=Counter)
    _changed: Callable[[], None] = lambda: None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _thread: ThreadPoolExecutor | None = None

    def take(self, report: StreamingQueryProgress) -> None:
        """Called with every report, on the listener's thread."""
        for node, rows in self._dropped(report).items():
            batch = self._micro_batch(report.batchId) if self._is_recounted(node) else None
            if batch is None:
                self._add(node, rows)
            else:
                self._submit(node, rows, report.batchId, batch)

    @property
    def is_settled(self) -> bool:
        """Whether all late rows that were reported are counted."""
        with self._lock:
            return not self._waiting

    def totals(self) -> dict[str, int]:
        with self._lock:
            return dict(self._totals)

    def go_on(self, totals: Mapping[str, int], changed: Callable[[], None]) -> None:
        """Called before the first report, with what was counted before; `changed` is told of counts that come later."""
        with self._lock:
            self._totals = Counter(totals)
            self._told = self._totals.total()
        self._changed = changed

    def known(self) -> dict[str, int]:
        """The totals, with Spark's numbers for what is still to be counted."""
        with self._lock:
            return dict(self._totals + self._pending)

    def fresh(self) -> int:
        """How many were counted since this was asked before."""
        with self._lock:
            before, self._told = self._told, self._totals.total()
            return self._told - before

    def close(self) -> None:
        """What waits is still counted, as long as Spark is there."""
        if self._thread is not None:
            self._thread.shutdown(wait=False)

    def _dropped(self, report: StreamingQueryProgress) -> dict[str, int]:
        dropped = [operator.numRowsDroppedByWatermark for operator in report.stateOperators]
        if len(dropped) != len(self.operators):
            return {self.base: sum(dropped)} if sum(dropped) else {}
        found: dict[str, int] = {}
        for node, rows in zip(self.operators, dropped, strict=True):
            if rows:
                found[node] = max(rows, found.get(node, 0))
        return found

    def _is_recounted(self, node: str) -> bool:
        return self.recounting is not None and node in self.recounting.closing_times

    def _micro_batch(self, batch: int) -> MicroBatch | None:
        """None where too many wait, or Spark has let go of its files: there are those of the last few micro-batches."""
        own, before = (None if self.checkpoint is None else self.checkpoint.offsets(n) for n in (batch, batch - 1))
        if own is None or (before is None and batch > 0) or self._waiting >= WAITING_MAX:
            _log.warning("late rows of batch %d are counted as Spark tells: counting them came too late", batch)
            return None
        return MicroBatch(own, before)

    def _submit(self, node: str, rows: int, number: int, batch: MicroBatch) -> None:
        with self._lock:
            self._waiting += 1
            self._pending[node] += rows
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"late-{self.base}")
        try:
            self._thread.submit(self._recount, node, rows, number, batch)
        except RuntimeError:
            # It is closed: a last report came after the end of the query.
            self._add(node, rows, done=rows)

    def _recount(self, node: str, rows: int, number: int, batch: MicroBatch) -> None:
        told = rows
        try:
            if self.recounting is not None:
                rows = self.recounting.late_rows(node, batch)
        except Exception as error:
            # Whatever it is, the query goes on.
            cause = str(error).split("\n", 1)[0]
            _log.warning("late rows of node %s, batch %d, are counted as Spark tells: %s", node, number, cause)
        finally:
            self._add(node, rows, done=told)
            self._changed()

    def _add(self, node: str, rows: int, *, done: int = 0) -> None:
        """`done` are the rows that Spark told of, where they waited to be counted."""
        with self._lock:
            self._totals[node] += rows
            self._pending[node] -= done
            self._waiting -= done > 0


def stateful_nodes(plan: QueryPlan, catalogue: Catalogue) -> tuple[str, ...]:
    """The nodes that keep state in Spark's plan, as Spark lists them: from the end, each before those that feed it."""
    ports: Mapping[str, list[str]] = {
        node.id: [port.name for port in catalogue.get(node.operator).spec.inputs] for node in plan.chain
    }

    def listed(name: str) -> Iterator[str]:
        node = plan.node(name)
        spec = catalogue.get(node.operator).spec
        if spec.stateful and spec.kind == "relational" and name not in plan.in_chain:
            yield name
        for edge in sorted(plan.inputs_of(node), key=lambda edge: ports[name].index(edge.target_port)):
            yield from listed(edge.source)

    return tuple(listed(plan.base.id))
