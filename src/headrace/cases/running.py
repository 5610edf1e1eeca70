"""Runs a case: as a batch, as a stream cut into micro-batches at random places, and as one that is killed on its way.

No broker takes part.
"""

from __future__ import annotations

import random
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from headrace.cases.case_file import MODES, RESTART, Case, Expectation, Given, Mode
from headrace.cases.cells import comparable, typed_rows
from headrace.cases.comparing import Difference, compare_rows
from headrace.cases.frames import Frames
from headrace.cases.sinks import Row
from headrace.cases.streamed import stream_hindrance
from headrace.errors import HeadraceError, InvalidInput, did_you_mean
from headrace.graph.document import Document
from headrace.graph.schema import Schema
from headrace.graph.validation import Validated, validate
from headrace.operators.catalogue import Catalogue
from headrace.serial import SqlFunction
from headrace.spark.session.functions import register_functions
from headrace.sql import declared_streams, parse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["MODES", "RESTART", "CaseResult", "Mode", "Runner", "without_compiling"]


# Every case is a new plan over few rows: to compile it costs a fifth to two fifths of all its work.
_INTERPRETED: Final = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}


def without_compiling(spark: SparkSession) -> None:
    """Spark's plans are interpreted from now on in this session: the same rows, sooner where they are few."""
    for name, value in _INTERPRETED.items():
        spark.conf.set(name, value)


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What became of a case in one mode. `skipped` is the reason why it did not run."""

    case: Case
    mode: Mode
    failures: tuple[str, ...] = ()
    skipped: str | None = None

    @property
    def is_passed(self) -> bool:
        return not self.failures


@dataclass(frozen=True, slots=True)
class Runner:
    """One warm Spark session serves all cases. The same seed cuts a stream at the same places."""

    spark: SparkSession
    catalogue: Catalogue
    seed: int = 0
    functions: dict[str, SqlFunction] = field(default_factory=dict)

    def run(self, case: Case, modes: Sequence[Mode] = MODES) -> list[CaseResult]:
        """A result for each mode that the case allows; faults of the SQL are failures, not exceptions."""
        try:
            validated = validate(parse(case.sql, catalogue=self.catalogue), self.catalogue)
            register_functions(self.spark, self.functions, validated.document)
        except HeadraceError as error:
            return [_refused(case, str(error))]
        if case.error is not None:
            return [CaseResult(case, "batch", (f"expected an error with {case.error!r}, and there was none",))]
        allowed = (*case.modes, *([RESTART] if "stream" in case.modes else []))
        return [self._run(case, mode, validated) for mode in modes if mode in allowed]

    def _run(self, case: Case, mode: Mode, validated: Validated) -> CaseResult:
        try:
            inputs = _inputs(case, validated)
            with tempfile.TemporaryDirectory(prefix="headrace-test-") as directory:
                frames = Frames(self.spark, self.catalogue, validated, inputs, Path(directory))
                found = [self._expectation(case, mode, expected, frames) for expected in case.expectations]
        except HeadraceError as error:
            return CaseResult(case, mode, (str(error),))
        skipped = next((reason for reason, _ in found if reason is not None), None)
        return CaseResult(case, mode, tuple(failure for _, failure in found if failure is not None), skipped)

    def _expectation(
        self, case: Case, mode: Mode, expected: Expectation, frames: Frames
    ) -> tuple[str | None, str | None]:
        """Why it was skipped, and how it failed."""
        validated = frames.validated
        nodes = _nodes(validated.document, expected.given, self.catalogue)
        schema = validated.schemas[nodes[0]]
        rows: list[Row] = []
        for node in nodes:
            if mode != "batch" and (reason := stream_hindrance(validated, self.catalogue, node)):
                return reason, None
            chance = random.Random(f"{self.seed} {case.name} {node}")  # noqa: S311 - cuts are no secret
            rows += frames.batch(node) if mode == "batch" else frames.stream(node, chance, dies=mode == RESTART)
        difference = _difference(expected, rows, schema)
        return None, None if difference is None else f"{expected.given.stream}:\n{difference}"


def _refused(case: Case, message: str) -> CaseResult:
    is_expected = case.error is not None and case.error in message
    return CaseResult(case, "batch", () if is_expected else (message,))


def _difference(expected: Expectation, rows: list[Row], schema: Schema) -> Difference | None:
    columns = expected.given.columns
    wanted = [comparable(row, columns, schema) for row in typed_rows(expected.given, schema)]
    if not columns:
        columns = schema.names
    came = [comparable(row, columns, schema) for row in rows]
    return compare_rows(columns, wanted, came, is_ordered=expected.is_ordered)


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
        inputs.setdefault(given.stream, []).extend(typed_rows(given, full))
    return inputs


def _nodes(document: Document, given: Given, catalogue: Catalogue) -> list[str]:
    """The nodes whose rows a name means: a view, or what leads into the sinks of a stream."""
    kinds = {node.id: catalogue.get(node.operator).spec.kind for node in document.nodes}
    if kinds.get(given.stream, "sink") != "sink":
        return [given.stream]
    name = re.compile(rf"(into_)?{re.escape(given.stream)}(_\d+)?")
    sinks = [node_id for node_id, kind in kinds.items() if kind == "sink" and name.fullmatch(node_id)]
    if not sinks:
        message = f"line {given.line}: no rows go into {given.stream!r}"
        raise InvalidInput(message, valid=tuple(kinds), hint=did_you_mean(given.stream, kinds))
    return [document.inputs_of(sink)[0].source for sink in sinks]
