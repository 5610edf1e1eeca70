"""A pipeline run once, over a range of its topics that is fixed before it begins."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from headrace.errors import InvalidInput
from headrace.graph.validation import Validated
from headrace.spark.compiling.chain_start import bounded_orders
from headrace.spark.compiling.compilation import Compilation, CompiledQuery
from headrace.spark.jobs.progress import Counts
from headrace.spark.jobs.query import batch_range, topics_of
from headrace.spark.jobs.sink import write_once
from headrace.spark.jobs.status import BatchResult
from headrace.spark.planning.error_nodes import errors_node
from headrace.spark.planning.queries import plan_queries
from headrace.spark.specs import Output, SinkSpec


def over_range(compilation: Compilation, start: str, end: str) -> Compilation:
    """Raises NotFound for a topic that is not there."""
    topics = topics_of(compilation.validated.document.nodes, compilation)
    return replace(compilation, ranges={node: batch_range(place, start, end) for node, place in topics.items()})


def run_once(
    compilation: Compilation, directory: Path, outputs: Callable[[CompiledQuery], tuple[Output, ...]]
) -> BatchResult:
    """All rows are visible afterwards. `outputs` makes sure that what the sinks of a query need is there."""
    began_s = time.monotonic()
    name, run = compilation.validated.document.name, uuid.uuid4().hex[:12]
    staging = directory / run
    rows: dict[str, int] = {}
    bad: dict[str, int] = {}
    hidden: set[str] = set()
    for plan in plan_queries(compilation.validated, compilation.catalogue):
        hidden |= plan.hidden
        compiled = compilation.query(plan)
        staging.mkdir(parents=True, exist_ok=True)
        query = f"{name}.{plan.name}.{run}"
        spec = SinkSpec(query, compilation.bootstrap, str(staging), None, outputs(compiled), compiled.shaping)
        with bounded_orders(compilation, plan):
            figures = write_once(spec, compiled.frame)
        rows |= figures.rows_of(0)
        bad |= {node: count for node, count in figures.of_figure("failed").items() if count}
    counts = Counts.of((o._name or "", o.get) for o in compilation.observations)
    passed, aside = {**rows, **counts.nodes}, compilation.validated.aside
    errors = {of: passed[name] for name, of in aside.items() if name == errors_node(of) and passed.get(name)}
    shown = {node: count for node, count in passed.items() if node not in hidden}
    return BatchResult(shown, {**bad, **counts.bad, **errors}, time.monotonic() - began_s)


def refuse_clocks(validated: Validated) -> None:
    """Raises InvalidInput for what only the clock can tell: a batch has no time of its own."""
    for node in validated.document.nodes:
        if node.operator == "trigger" and {"every", "cron"} & node.config.keys():
            hint = "start it as a stream; a test file gives its firings as rows: -- @input"
            raise InvalidInput("a trigger fires by the clock, and a batch has none", node=node.id, hint=hint)
