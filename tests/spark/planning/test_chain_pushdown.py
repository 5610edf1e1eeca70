"""Which rows filters behind a join or a lookup let the readers of its chain leave out."""

from __future__ import annotations

import pytest

from headrace.graph import validate
from headrace.graph.text import parse_text
from headrace.operators import Catalogue
from headrace.operators.columnar import columns_of
from headrace.spark.planning.chain_pushdown import wanted_of_inputs
from headrace.spark.planning.queries import plan_queries
from headrace.spark.planning.query_chain import chain_of

CATALOGUE = Catalogue()
ORDERS = 'topic orders schema="k STRING, id BIGINT, ts TIMESTAMP" event_time=ts as orders'
PAYMENTS = 'topic payments schema="payer STRING, paid BIGINT, at TIMESTAMP" event_time=at as payments'
REFUNDS = 'topic refunds schema="who STRING, sum BIGINT, on TIMESTAMP" event_time=on as refunds'
LIMITS = 'table limits schema="k STRING, maximum INT" key=k as limits'
JOIN = 'join "left.k = right.payer" before="1 second" as both'
WINDOW = 'tumbling-window 10s time=ts keys=k aggregates=["count(*) AS n"] as window'


def pushed(text: str) -> dict[str, set[str]]:
    """The inputs of the only chain of which rows are left out, and the columns that tell."""
    validated = validate(parse_text(text, CATALOGUE, name="p"), CATALOGUE)
    (plan,) = plan_queries(validated, CATALOGUE)
    chain = chain_of(plan, validated, CATALOGUE)
    assert chain is not None
    assert plan.base.id in plan.in_chain
    wanted = wanted_of_inputs(plan, chain, validated)
    return {chain.inputs[number].source: set(columns_of(form)) for number, form in wanted.items()}


@pytest.mark.parametrize(
    ("behind", "expected"),
    [
        ('! filter "id > 5 AND paid < 3" ! preview', {"orders": {"id"}, "payments": {"paid"}}),
        ('! filter "id > paid" ! preview', {}),
        ('! filter "id > 5 OR paid < 3" ! preview', {}),
        ("! preview", {}),
        ('! filter "id > 5" ! preview\n@both ! filter "id < 3" ! preview', {"orders": {"id"}}),
        ('! filter "id > 5" ! preview\n@both ! preview', {}),
    ],
)
def test_each_side_of_a_join_by_what_is_said_of_it(behind: str, expected: dict[str, set[str]]) -> None:
    assert pushed(f"{ORDERS} ! @both.left\n{PAYMENTS} ! @both.right\n{JOIN} {behind}") == expected


def test_a_join_before_another_gets_all_rows() -> None:
    """What is said of a side of the last one is said of columns that the first one made."""
    text = f"""{ORDERS} ! @both.left
    {PAYMENTS} ! @both.right
    {JOIN} ! @all.left
    {REFUNDS} ! @all.right
    join "left.k = right.who" before="1 second" as all ! filter "paid > 5 AND sum > 3" ! preview"""
    assert pushed(text) == {"refunds": {"sum"}}


@pytest.mark.parametrize("on", ["left.k = right.k", "left.id = right.n"], ids=["one stage", "two stages"])
def test_rows_that_another_node_gets_as_well_all_count(on: str) -> None:
    doubled = "" if on == "left.k = right.k" else "! select id ts as plain"
    text = f"""{ORDERS} {doubled} ! @both.left
    @orders ! {WINDOW} ! @both.right
    join "{on}" before="1 minute" after="1 minute" as both ! filter "id > 5" ! preview"""
    assert pushed(text) == ({} if not doubled else {"plain": {"id"}})


@pytest.mark.parametrize("kind", ["inner", "left", "semi", "anti"])
def test_of_a_lookup_what_is_said_of_the_stream(kind: str) -> None:
    condition = "id > 5" if kind in ("semi", "anti") else "id > 5 AND maximum > 3"
    text = f"""{ORDERS} ! @with.left
    {LIMITS} ! @with.right
    lookup-join "left.k = right.k" kind={kind} as with ! filter "{condition}" ! preview"""
    assert pushed(text) == {"orders": {"id"}}
