"""Whoever checks a pipeline hears what planning refuses, at its node, without Spark."""

from __future__ import annotations

import pytest

from headrace.errors import InvalidGraph, InvalidInput
from headrace.graph.text import parse_text
from headrace.graph.validation import validate
from headrace.operators import Catalogue
from headrace.spark.planning.checks import inspect_planned, validate_planned
from headrace.spark.planning.queries import plan_queries
from headrace.spark.planning.query_chain import chain_of

TOPIC = 'topic s schema="k STRING, v DOUBLE, ts TIMESTAMP" event_time=ts'
REFUSED = {
    f'{TOPIC} ! deduplicate k ! select k "explode(array(v)) AS t" as parts ! to-topic y': (
        "parts",
        "select cannot follow a serial operator here",
    ),
    f'{TOPIC} as a ! union as all ! to-topic y\ntable t schema="k STRING, v DOUBLE, ts TIMESTAMP" key=k ! @all.in_2': (
        "all",
        "union cannot take the rows of a table",
    ),
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_planning_refuses_is_a_problem_of_its_node(text: str) -> None:
    node, message = REFUSED[text]
    catalogue = Catalogue()
    document = parse_text(text, catalogue, name="p")
    validate(document, catalogue)
    (problem,) = inspect_planned(document, catalogue).problems
    assert (problem.code, problem.node, problem.message) == ("unsupported", node, message)
    with pytest.raises(InvalidGraph, match=message):
        validate_planned(document, catalogue)


def test_what_planning_takes_has_no_problems() -> None:
    catalogue = Catalogue()
    document = parse_text(f'{TOPIC} ! deduplicate k ! select k "upper(k) AS t" ! to-topic y', catalogue, name="p")
    assert inspect_planned(document, catalogue).problems == ()
    assert validate_planned(document, catalogue) == validate(document, catalogue)


def test_a_faulty_document_is_not_planned() -> None:
    catalogue = Catalogue()
    document = parse_text(f'{TOPIC} ! filter "w > 1" as few ! deduplicate k ! to-topic y', catalogue, name="p")
    (problem,) = inspect_planned(document, catalogue).problems
    assert (problem.code, problem.node) == ("type_mismatch", "few")


def test_a_start_says_the_same() -> None:
    text, (_, message) = next(iter(REFUSED.items()))
    catalogue = Catalogue()
    validated = validate(parse_text(text, catalogue, name="p"), catalogue)
    (plan,) = plan_queries(validated, catalogue)
    with pytest.raises(InvalidInput, match=message):
        chain_of(plan, validated, catalogue)
