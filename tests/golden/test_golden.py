"""The golden cases, in the same form in which users write theirs: each as a batch, some as a stream, slowly all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headrace.cases import Case, Mode, Runner, read_cases
from headrace.operators import Catalogue

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES = sorted(Path(__file__).parent.glob("*.sql"))
CASES = [case for file in FILES for case in read_cases(file.read_text(), file.stem)]
STREAMED_EACH = 6


@pytest.fixture(scope="module")
def runner(spark: SparkSession) -> Runner:
    return Runner(spark, Catalogue())


def check(runner: Runner, case: Case, mode: Mode) -> None:
    for result in runner.run(case, (mode,)):
        assert result.is_passed, "\n".join(result.failures)


@pytest.mark.spark
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_as_a_batch(runner: Runner, case: Case) -> None:
    check(runner, case, "batch")


@pytest.mark.spark
@pytest.mark.parametrize("case", CASES[::STREAMED_EACH], ids=lambda case: case.name)
def test_as_a_stream(runner: Runner, case: Case) -> None:
    check(runner, case, "stream")


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_every_case_as_a_stream_cut_at_other_places(spark: SparkSession, seed: int) -> None:
    runner = Runner(spark, Catalogue(), seed)
    for case in CASES:
        check(runner, case, "stream")


@pytest.mark.spark
def test_a_difference_is_shown(runner: Runner) -> None:
    text = (
        "CREATE STREAM t (a STRING, b INT);\nCREATE STREAM s AS SELECT a, b + 1 AS c FROM t;\n"
        "-- @input t\n-- | a | b |\n-- | x | 1 |\n-- | y | 2 |\n-- @expect s\n-- | a | c |\n-- | x | 2 |\n-- | y | 4 |"
    )
    (case,) = read_cases(text, "wrong")
    (result,) = runner.run(case, ("batch",))
    assert result.failures == ("s:\n  | a | c |\n  | x | 2 |\n- | y | 4 |\n+ | y | 3 |",)
