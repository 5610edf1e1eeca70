"""Which totals a query goes on with: the file of its own plan, as far as its commits go, else the commit record."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from headrace.spark.jobs.totals import Reported, TotalsFile
from headrace.spark.writing.commit import OPENED, CommitRecord

REPORTED = Reported(7, {"a": 70}, {"a": 1}, {"b": 2})
LAST = CommitRecord(
    7,
    0,
    "plan",
    {},
    offsets="v1",
    totals={"tasks": {}, "reported": replace(REPORTED, batch=6, rows={"a": 60}).to_json()},
)


@pytest.fixture
def file(tmp_path: Path) -> TotalsFile:
    made = TotalsFile(tmp_path, "plan")
    made.write(REPORTED)
    return made


def test_the_file_has_what_came_after_the_commit(file: TotalsFile) -> None:
    assert file.reported(LAST) == REPORTED


@pytest.mark.parametrize("text", ["", "{", "[]", '{"batch": 7}'], ids=["empty", "cut", "list", "foreign"])
def test_without_a_readable_file_it_is_the_record(file: TotalsFile, tmp_path: Path, text: str) -> None:
    (tmp_path / "totals.json").write_text(text)
    assert file.reported(LAST).rows == {"a": 60}


def test_a_file_of_another_plan_or_of_a_later_batch_is_passed_over(file: TotalsFile, tmp_path: Path) -> None:
    assert TotalsFile(tmp_path, "another").reported(LAST).rows == {"a": 60}
    file.write(replace(REPORTED, batch=8))
    assert file.reported(LAST).rows == {"a": 60}


def test_an_opened_query_and_a_record_without_totals_begin_at_nothing(file: TotalsFile, tmp_path: Path) -> None:
    assert file.reported(replace(LAST, totals=None)).batch == 7
    assert file.reported(CommitRecord(OPENED, 0, "plan", {})) == Reported()
    assert not (tmp_path / "totals.json").exists()
