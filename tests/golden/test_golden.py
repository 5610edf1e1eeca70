"""The golden cases, in the same form in which users write theirs: some as a batch and as a stream, slowly all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headrace.cases import Case, Mode, Runner, for_few_rows, read_cases
from headrace.errors import HeadraceError
from headrace.operators import Catalogue
from headrace.sql import parse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDER = Path(__file__).parent
FILES = sorted(FOLDER.glob("*.sql"))
CASES = [case for file in FILES for case in read_cases(file.read_text(), file.stem)]
REFUSED = [case for case in CASES if case.error is not None]
RUN = [case for case in CASES if case.error is None]
# Row by row a stream does what a batch does: there a few cases are enough.
ROW_FILES = ("casts", "expressions", "nested", "nulls", "strings", "times")
ROWS = [case for file in ROW_FILES for case in RUN if case in read_cases((FOLDER / f"{file}.sql").read_text(), file)]
STATEFUL = [case for case in RUN if case not in ROWS]
# Where a stream is cut decides which rows it emits too early: one of so many tries does.
RETRACTING = frozenset(case.name for case in read_cases((FOLDER / "retractions.sql").read_text(), "retractions"))
RETRACTING_SEEDS = 4
BATCHED_EACH, STREAMED_EACH, ROWS_STREAMED_EACH, RESTARTED_EACH = 2, 18, 10, 4


@pytest.fixture(scope="module")
def few_rows(spark: SparkSession) -> Iterator[SparkSession]:
    """The session as `headrace test` has it; other tests get theirs back."""
    with for_few_rows(spark):
        yield spark


@pytest.fixture(scope="module")
def runner(few_rows: SparkSession) -> Runner:
    return Runner(lambda: few_rows, Catalogue())


def check(runner: Runner, case: Case, mode: Mode) -> None:
    for result in runner.run(case, (mode,)):
        assert result.is_passed, "\n".join(result.failures)


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_what_is_refused(case: Case) -> None:
    with pytest.raises(HeadraceError, match=re.escape(str(case.error))):
        parse(case.sql)


@pytest.mark.spark
@pytest.mark.parametrize("case", RUN[::BATCHED_EACH], ids=lambda case: case.name)
def test_as_a_batch(runner: Runner, case: Case) -> None:
    check(runner, case, "batch")


@pytest.mark.spark
def test_a_view_that_nothing_else_reads(runner: Runner) -> None:
    text = """CREATE STREAM t (k STRING, v INT);
-- @case a view alone
CREATE VIEW big AS SELECT k FROM t WHERE v > 1
-- @input t
-- | k | v |
-- | a | 1 |
-- | b | 2 |
-- @expect big
-- | k |
-- | b |
"""
    (case,) = read_cases(text, "views")
    check(runner, case, "batch")


@pytest.mark.spark
@pytest.mark.parametrize("case", STATEFUL[::STREAMED_EACH], ids=lambda case: case.name)
def test_as_a_stream(runner: Runner, case: Case) -> None:
    check(runner, case, "stream")


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("case", RUN[1::BATCHED_EACH], ids=lambda case: case.name)
def test_the_others_as_a_batch(runner: Runner, case: Case) -> None:
    check(runner, case, "batch")


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("case", [*STATEFUL, *ROWS[::ROWS_STREAMED_EACH]], ids=lambda case: case.name)
def test_as_a_stream_cut_at_other_places(runner: Runner, case: Case) -> None:
    check(replace(runner, seed=1 + case.line % 5), case, "stream")


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("case", STATEFUL[2::RESTARTED_EACH], ids=lambda case: case.name)
def test_as_a_stream_that_is_killed_and_restarted(runner: Runner, case: Case) -> None:
    check(runner, case, "restart")


@pytest.mark.spark
@pytest.mark.parametrize("case", [case for case in RUN if case.name in RETRACTING], ids=lambda case: case.name)
def test_rows_leave_a_table_wherever_a_stream_is_cut(runner: Runner, case: Case) -> None:
    for seed in range(RETRACTING_SEEDS):
        check(replace(runner, seed=seed), case, "stream")


@pytest.mark.spark
def test_a_difference_is_shown(runner: Runner) -> None:
    text = (
        "CREATE STREAM t (a STRING, b INT);\nCREATE STREAM s AS SELECT a, b + 1 AS c FROM t;\n"
        "-- @input t\n-- | a | b |\n-- | x | 1 |\n-- | y | 2 |\n-- @expect s\n-- | a | c |\n-- | x | 2 |\n-- | y | 4 |"
    )
    (case,) = read_cases(text, "wrong")
    (result,) = runner.run(case, ("batch",))
    assert result.failures == ("s:\n  | a | c |\n  | x | 2 |\n- | y | 4 |\n+ | y | 3 |\n        ^",)
