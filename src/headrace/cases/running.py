"""Runs a case: as a batch, as a stream cut into micro-batches at random places, and as one that is killed on its way.

No broker takes part.
"""

from __future__ import annotations

import random
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from headrace.cases.case_file import MODES, RESTART, Case, Expectation, Given, Mode
from headrace.cases.cells import typed_rows
from headrace.cases.comparing import Difference, compare_rows
from headrace.cases.frames import Frames, Made
from headrace.cases.sinks import Row
from headrace.cases.spelling import spelled_alike, spelled_row
from headrace.cases.streamed import stream_hindrance
from headrace.cases.tables import retracted_table
from headrace.causes import known_cause
from headrace.errors import HeadraceError, InvalidInput, did_you_mean
from headrace.graph.document import Document
from headrace.graph.schema import Schema
from headrace.graph.validation import Validated
from headrace.operators.catalogue import Catalogue
from headrace.operators.functions import placed_functions
from headrace.serial import SqlFunction
from headrace.spark.jobs.failures import explain
from headrace.spark.planning.hoist import rows_of
from headrace.spark.planning.runnable import runnable
from headrace.spark.session.functions import register_functions
from headrace.sql import declared_streams, parse, unread_views
from headrace.sql.language.values import print_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["MODES", "RESTART", "CaseResult", "Mode", "Runner"]

# What the rows of a view go into, where nothing else reads them.
_READER: Final = "CREATE STREAM {} WITH ('connector' = 'preview') AS SELECT * FROM {};"
# A case is work for little more than one core.
AT_ONCE: Final = 2


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What became of a case in one mode, and how long that took. `skipped` is the reason why it did not run."""

    case: Case
    mode: Mode
    failures: tuple[str, ...] = ()
    skipped: str | None = None
    seconds: float = 0.0

    @property
    def is_passed(self) -> bool:
        return not self.failures


@dataclass(frozen=True, slots=True)
class Runner:
    """One warm Spark session serves all cases; it is asked for when the first of them is found fit to run. The same
    seed cuts a stream at the same places."""

    session: Callable[[], SparkSession]
    catalogue: Catalogue
    seed: int = 0
    functions: dict[str, SqlFunction] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def run_all(self, cases: Sequence[Case], modes: Sequence[Mode] = MODES) -> Iterator[list[CaseResult]]:
        """What `run` gives for each case, in their order; several run at once."""
        pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="headrace-case")
        try:
            yield from pool.map(lambda case: self.run(case, modes), cases)
        finally:
            pool.shutdown(cancel_futures=True)

    def run(self, case: Case, modes: Sequence[Mode] = MODES) -> list[CaseResult]:
        """A result for each mode that the case allows; faults of the SQL are failures, not exceptions."""
        started_s = time.monotonic()
        try:
            validated = runnable(parse(_read_up(case), catalogue=self.catalogue), self.catalogue)
            placed_functions(validated.document)
        except HeadraceError as error:
            return [replace(_refused(case, str(error)), seconds=time.monotonic() - started_s)]
        if case.error is not None:
            return [CaseResult(case, "batch", (f"expected an error with {case.error!r}, and there was none",))]
        allowed = (*case.modes, *([RESTART] if "stream" in case.modes else []))
        checked_s = time.monotonic() - started_s
        results = [self._run(case, mode, validated) for mode in modes if mode in allowed]
        return [replace(one, seconds=one.seconds + checked_s / len(results)) for one in results]

    def _run(self, case: Case, mode: Mode, validated: Validated) -> CaseResult:
        with self.lock:
            spark = self.session()
        started_s = time.monotonic()
        try:
            with self.lock:
                register_functions(spark, self.functions, validated.document)
            result = self._compared(case, mode, validated, spark)
        except HeadraceError as error:
            result = CaseResult(case, mode, (str(error),))
        except Exception as error:  # of Spark, or of Python code that a case calls: the other cases go on
            result = CaseResult(case, mode, (_told(error, validated.as_written),))
        return replace(result, seconds=time.monotonic() - started_s)

    def _compared(self, case: Case, mode: Mode, validated: Validated, spark: SparkSession) -> CaseResult:
        inputs = _inputs(case, validated)
        with tempfile.TemporaryDirectory(prefix="headrace-test-") as directory:
            frames = Frames(spark, self.catalogue, validated, inputs, Path(directory))
            found = [self._expectation(case, mode, expected, frames) for expected in case.expectations]
        skipped = next((reason for reason, _ in found if reason is not None), None)
        return CaseResult(case, mode, tuple(failure for _, failure in found if failure is not None), skipped)

    def _expectation(
        self, case: Case, mode: Mode, expected: Expectation, frames: Frames
    ) -> tuple[str | None, str | None]:
        """Why it was skipped, and how it failed."""
        validated = frames.validated
        nodes = _nodes(validated.document, expected.given, self.catalogue)
        made: list[Made] = []
        for sink, written in nodes:
            node = rows_of(written, validated)
            chance = random.Random(f"{self.seed} {case.name} {written}")  # noqa: S311 - cuts are no secret
            table = None if mode == "batch" else retracted_table(sink, validated, self.catalogue)
            if table is not None:
                made.append(frames.table(table, chance, dies=mode == RESTART))
            elif mode == "batch":
                made.append(frames.batch(node))
            elif reason := stream_hindrance(validated, self.catalogue, node):
                return reason, None
            else:
                made.append(frames.stream(node, chance, dies=mode == RESTART))
        difference = _difference(expected, [row for one in made for row in one.rows], made[0].columns)
        if difference is None:
            return None, None
        return None, "\n".join([f"{expected.given.stream}:", str(difference), *dict.fromkeys(frames.told)])


def _read_up(case: Case) -> str:
    """The script of a case. A view that it expects rows of, and that nothing reads, is read by a preview."""
    expected = {one.given.stream for one in case.expectations}
    views = sorted(unread_views(case.sql) & expected)
    readers = [_READER.format(print_name(f"expected__{view}"), print_name(view)) for view in views]
    return "\n;\n".join([case.sql, *readers])


def _told(error: Exception, document: Document) -> str:
    from pyspark.errors import PySparkException  # noqa: PLC0415 - pyspark costs half a second: only where used

    if isinstance(error, PySparkException):
        return str(explain(error, document)[0])
    known = known_cause(error)
    return str(known) if known is not None else f"a defect of Headrace: {type(error).__name__}: {error}"


def _refused(case: Case, message: str) -> CaseResult:
    is_expected = case.error is not None and case.error in message
    return CaseResult(case, "batch", () if is_expected else (message,))


def _difference(expected: Expectation, rows: list[Row], schema: Schema) -> Difference | str | None:
    columns, wanted = expected.given.columns, typed_rows(expected.given, schema)
    if wanted and not columns:
        return None if len(wanted) == len(rows) else f"{len(wanted)} rows of any values were expected, {len(rows)} came"
    columns = columns or schema.names
    spelled = [spelled_row(row, columns, schema) for row in wanted]
    came = spelled_alike(rows, wanted, columns, schema)
    return compare_rows(columns, spelled, came, is_ordered=expected.is_ordered)


def _inputs(case: Case, validated: Validated) -> dict[str, list[Row]]:
    """Rows by the id of the source that they go into."""
    sources = [node.id for node in validated.document.nodes if not validated.document.inputs_of(node.id)]
    inputs: dict[str, list[Row]] = {}
    for given in case.inputs:
        if given.is_shared and given.stream not in sources and given.stream in declared_streams(case.sql):
            continue
        if given.stream not in sources:
            hint = did_you_mean(given.stream, sources)
            raise InvalidInput(f"line {given.line}: {given.stream!r} is read by nothing", valid=sources, hint=hint)
        schema = validated.schemas[given.stream]
        full = Schema((*schema.columns, *schema.hidden), (), schema.event_time)
        has_own_format = getattr(validated.configs[given.stream], "event_time_format", None) is not None
        written = schema.event_time if has_own_format else None
        inputs.setdefault(given.stream, []).extend(typed_rows(given, full, written))
    return inputs


def _nodes(document: Document, given: Given, catalogue: Catalogue) -> list[tuple[str, str]]:
    """The nodes whose rows a name means, each with the sink that it leads into: what leads into the sinks of a stream;
    or a view, which stands for its sink where it has none of this name."""
    kinds = {node.id: catalogue.get(node.operator).spec.kind for node in document.nodes}
    name = re.compile(rf"(into_)?{re.escape(given.stream)}(_\d+)?")
    named = [node_id for node_id, kind in kinds.items() if kind == "sink" and name.fullmatch(node_id)]
    sinks = [(sink, document.inputs_of(sink)[0].source) for sink in named]
    if kinds.get(given.stream, "sink") != "sink":
        own = [(sink, node_id) for sink, node_id in sinks if node_id == given.stream]
        return own[:1] or [(given.stream, given.stream)]
    if not sinks:
        message = f"line {given.line}: no rows go into {given.stream!r}"
        raise InvalidInput(message, valid=tuple(kinds), hint=did_you_mean(given.stream, kinds))
    return sinks
