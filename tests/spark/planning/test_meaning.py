"""What makes two queries the same, and what is said of their difference."""

from __future__ import annotations

import json

from headrace.graph.text import parse_text
from headrace.graph.validation import validate
from headrace.operators import Catalogue
from headrace.spark.planning.meaning import Meaning, difference, renaming
from headrace.spark.planning.queries import plan_queries

CATALOGUE = Catalogue()
SOURCE = 'topic t schema="k STRING, v INT"'


def meaning(text: str) -> Meaning:
    (plan,) = plan_queries(validate(parse_text(text, CATALOGUE, name="p"), CATALOGUE), CATALOGUE)
    return Meaning.of(plan)


def counted(aggregates: str = '"count(*) AS n"', source: str = SOURCE, keys: str = "k", node: str = "a") -> Meaning:
    return meaning(f"{source} as s ! aggregate {aggregates} keys={keys} as {node} ! to-topic o")


def test_ids_and_spelling_are_no_difference() -> None:
    assert renaming(counted(), counted('"COUNT(*) AS n"', node="b"), CATALOGUE) == {"s": "s", "a": "b"}


def test_settings_keys_and_topics_are() -> None:
    for other in (counted('"sum(v) AS n"'), counted(keys="v"), counted(source=SOURCE.replace("topic t", "topic T"))):
        assert renaming(counted(), other, CATALOGUE) is None
    (change,) = difference(counted(), counted('"sum(v) AS n"'), CATALOGUE).changes
    assert change == '~ node a: aggregates ["count(*) AS n"] → ["sum(v) AS n"]'


def test_spelling_is_not_told_beside_a_difference() -> None:
    changed = difference(counted(), counted('"COUNT(*) AS n"', keys="v"), CATALOGUE).changes
    assert changed == ('~ node a: keys ["k"] → ["v"]',)


def test_rows_go_on_wherever_they_are_read_from_the_same_topic() -> None:
    one = meaning(f'{SOURCE} as s ! filter "v > 1" ! to-topic o')
    other = meaning(f'{SOURCE} as other ! filter "v > 2" ! to-topic o')
    assert renaming(one, other, CATALOGUE) == {"s": "other"}
    assert renaming(one, meaning(f"{SOURCE.replace('topic t', 'topic u')} as s ! to-topic o"), CATALOGUE) is None
    assert renaming(one, counted(), CATALOGUE) is None


def test_inputs_in_another_order_are_another_query() -> None:
    text = "{one} as a ! union as all ! deduplicate k as d ! to-topic o\n{two} as b ! @all.in_2"
    one, two = SOURCE, SOURCE.replace("topic t", "topic u")
    assert renaming(meaning(text.format(one=one, two=two)), meaning(text.format(one=two, two=one)), CATALOGUE) is None


def test_it_is_kept_as_json() -> None:
    assert Meaning.from_json(json.loads(json.dumps(counted().to_json()))) == counted()
