"""What EXPLAIN says of a pipeline's queries: each rule by a script of its own in which it fires, and in which it does
not.

After a change on purpose, `UPDATE_CASES=1 pytest tests/spark/planning/test_rules.py` writes the expected files anew.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headrace.graph import validate
from headrace.operators import Catalogue
from headrace.spark.planning.queries import plan_queries
from headrace.spark.planning.rules import RULES, rules_of
from headrace.spark.planning.rules.query import PlannedQuery
from headrace.sql import parse

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

CASES = Path(__file__).parent / "rules"
NAMES = [rule.__name__.rpartition(".")[2] for rule in RULES]


def expected(path: Path, actual: str) -> str:
    if os.environ.get("UPDATE_CASES"):
        path.write_text(actual)
    return path.read_text()


@pytest.mark.parametrize("name", NAMES)
def test_what_is_explained(name: str) -> None:
    catalogue = Catalogue()
    validated = validate(parse((CASES / f"{name}.sql").read_text(), catalogue=catalogue), catalogue)
    lines = "".join(f"{line}\n" for line in rules_of(validated, catalogue))
    assert lines == expected(CASES / f"{name}.txt", lines)


@pytest.mark.parametrize("name", NAMES)
def test_the_rule_fires_in_some_queries_of_its_script_and_not_in_all(name: str) -> None:
    catalogue = Catalogue()
    validated = validate(parse((CASES / f"{name}.sql").read_text(), catalogue=catalogue), catalogue)
    rule = RULES[NAMES.index(name)]
    fired = [bool(list(rule.fired(PlannedQuery(p, validated, catalogue)))) for p in plan_queries(validated, catalogue)]
    assert any(fired)
    assert not all(fired)


def test_every_rule_is_a_file_with_a_case() -> None:
    folder = Path(__file__).parents[3] / "src" / "headrace" / "spark" / "planning" / "rules"
    files = {path.stem for path in folder.glob("*.py")} - {"__init__", "query"}
    assert files == set(NAMES) == {path.stem for path in CASES.glob("*.sql")} == {p.stem for p in CASES.glob("*.txt")}


@pytest.mark.spark
def test_the_plan_of_spark(stack: Stack) -> None:
    source, target = stack.topic("rows", [{"k": "a", "n": 1}]), stack.name("sums")
    document = stack.pipeline(
        f'topic {source} schema="k STRING, n INT" ! aggregate "approx_count_distinct(n) AS s" keys=k as sums'
        f" ! to-topic {target}"
    )
    plans = stack.engine.spark_plans(document)
    assert list(plans) == ["sums"]
    assert "HashAggregate" in plans["sums"]
