"""As few queries as possible, each scanning its source once."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise

from headrace.graph.document import Document, Edge, Node
from headrace.graph.validation import validate
from headrace.operators import Catalogue
from headrace.spark.planning.plan import QueryPlan, identity
from headrace.spark.planning.queries import plan_queries

SCHEMA = "drone STRING, battery DOUBLE, ts TIMESTAMP"
SOURCE = Node("telemetry", "topic", {"topic": "telemetry", "schema": SCHEMA, "event_time": "ts"})
WINDOW = Node(
    "averages", "tumbling-window", {"size": "1 minute", "time": "ts", "aggregates": ["avg(battery) AS battery"]}
)


def chain(*nodes: str) -> list[Edge]:
    return [Edge(source, target) for source, target in pairwise(nodes)]


def plans(nodes: list[Node], edges: list[Edge]) -> tuple[QueryPlan, ...]:
    catalogue = Catalogue()
    return plan_queries(validate(Document("drones", tuple(nodes), tuple(edges)), catalogue), catalogue)


def low(name: str = "low") -> Node:
    return Node(name, "filter", {"condition": "battery < 20"})


def preview(name: str) -> Node:
    return Node(name, "preview")


def test_sinks_that_differ_row_by_row_share_one_query() -> None:
    nodes = [SOURCE, low(), Node("names", "select", {"columns": ["drone"]}), preview("a"), preview("b"), preview("c")]
    edges = [*chain("telemetry", "low", "names", "a"), *chain("low", "b"), *chain("telemetry", "c")]
    (query,) = plans(nodes, edges)
    assert {branch.sink.id: [node.id for node, _ in branch.steps] for branch in query.branches} == {
        "a": ["low", "names"],
        "b": ["low"],
        "c": [],
    }
    assert query.bad_rows_of == SOURCE


def test_a_stateful_node_is_the_base_of_its_own_query() -> None:
    nodes = [SOURCE, low(), WINDOW, low("few"), preview("a"), preview("b"), preview("c")]
    edges = [*chain("telemetry", "low", "averages", "few", "a"), *chain("averages", "b"), *chain("telemetry", "c")]
    shared, windowed = sorted(plans(nodes, edges), key=lambda plan: len(plan.chain))
    assert [branch.sink.id for branch in shared.branches] == ["c"]
    assert [node.id for node in windowed.chain] == ["telemetry", "low", "averages"]
    assert {branch.sink.id for branch in windowed.branches} == {"a", "b"}
    assert windowed.bad_rows_of is None


def test_select_with_explode_makes_rows_and_is_no_row_step() -> None:
    source = Node("s", "topic", {"topic": "s", "schema": "tags ARRAY<STRING>"})
    exploded = Node("tag", "select", {"columns": ["explode(tags) AS tag"]})
    (query,) = plans([source, exploded, preview("a")], chain("s", "tag", "a"))
    assert query.base.id == "tag"


def test_dead_letters_find_a_home_even_beside_a_window_alone() -> None:
    letters = {"bad_rows": "dead_letter", "dead_letter": "telemetry.bad"}
    source = Node("telemetry", "topic", {**SOURCE.config, **letters})
    windowed, bad = plans([source, WINDOW, preview("a")], chain("telemetry", "averages", "a"))
    assert windowed.bad_rows_of is None
    assert bad.bad_rows_of == source
    assert bad.branches == ()


def test_emit_changes_is_update_mode() -> None:
    changes = Node("averages", "tumbling-window", {**WINDOW.config, "emit": "changes"})
    (final,) = plans([SOURCE, WINDOW, preview("a")], chain("telemetry", "averages", "a"))
    (changing,) = plans([SOURCE, changes, preview("a")], chain("telemetry", "averages", "a"))
    assert (final.output_mode, changing.output_mode) == ("append", "update")
    assert identity(final) != identity(changing)


def test_a_query_of_several_sources_is_the_same_in_every_process() -> None:
    """A new process finds the state that the last one left: sets of texts have another order in each."""
    sources = "".join(
        f'topic t{n} schema="k STRING" as s{n} ! @all.{p}\n' for n, p in enumerate(("in", "in_2", "in_3"))
    )
    code = f"""
from headrace.graph import validate
from headrace.graph.text import parse_text
from headrace.operators import Catalogue
from headrace.spark.planning.plan import identity
from headrace.spark.planning.queries import plan_queries
document = parse_text({sources + "union as all ! preview"!r}, Catalogue(), name="p")
print([identity(plan) for plan in plan_queries(validate(document, Catalogue()), Catalogue())])
"""
    found = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(found) == 1


def test_a_stateless_query_stays_itself_while_its_steps_change() -> None:
    (before,) = plans([SOURCE, low(), preview("a")], chain("telemetry", "low", "a"))
    (after,) = plans([SOURCE, preview("a")], chain("telemetry", "a"))
    other = Node("telemetry", "topic", {**SOURCE.config, "topic": "other"})
    (elsewhere,) = plans([other, preview("a")], chain("telemetry", "a"))
    assert identity(before) == identity(after)
    assert identity(after) != identity(elsewhere)
