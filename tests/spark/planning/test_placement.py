"""Where a chain runs, and the reason that is given."""

from __future__ import annotations

import pytest

from headrace.graph import validate
from headrace.graph.text import parse_text
from headrace.operators import Catalogue
from headrace.spark.planning.placement import place
from headrace.spark.planning.queries import plan_queries
from headrace.spark.planning.query_chain import chain_of

SOURCE = 'topic t schema="k STRING, n BIGINT"'
DATED = 'topic t schema="k STRING, n BIGINT, d DATE"'
UNCHANGED = "python headrace.operators.samples:unchanged"
BY_KEY = 'length-window 3 keys=k aggregates=["sum(n) AS s"]'
BY_M = 'length-window 3 keys=k aggregates=["sum(m) AS s"]'
AS_TOPIC = f"{BY_KEY} partitioned=as_topic"


@pytest.mark.parametrize(
    ("text", "way_in", "way_out", "because"),
    [
        (f"{SOURCE} ! {AS_TOPIC} ! to-topic o format=arrow", "reader", "writer", "lanes are the topic's partitions"),
        (f"{SOURCE} ! {AS_TOPIC} ! to-topic o", "reader", "writer", "its tasks make what sinks take"),
        (
            f"{SOURCE} ! {AS_TOPIC} ! select \"DATE('2026-01-01') AS d\" ! to-topic o",
            "reader",
            "rows",
            "select follows",
        ),
        (f"{DATED} ! {AS_TOPIC} ! to-topic o", "reader", "rows", "Spark writes the text for to-topic"),
        (f"{DATED} ! {AS_TOPIC} ! select k ! to-topic o", "reader", "writer", "its tasks make what sinks take"),
        (f"{DATED} ! {AS_TOPIC} ! to-topic o format=arrow", "reader", "writer", "its tasks make what sinks take"),
        (f"{SOURCE} ! {BY_KEY} ! to-file d format=parquet", "packets", "writer", "lanes are by k"),
        (f"{SOURCE} ! {BY_KEY} ! filter s>1 ! to-file d format=csv", "packets", "writer", "what sinks take"),
        (f'{SOURCE} ! {BY_KEY} ! filter "sqrt(s) > 1" ! to-file d format=csv', "packets", "rows", "filter follows"),
        (f"{SOURCE} ! {BY_KEY} ! select \"split(k, '/') AS l\" ! to-topic o format=arrow", "packets", "rows", "a list"),
        (f'{SOURCE} ! {BY_KEY} ! to-table o key="k, n"', "packets", "writer", "what sinks take"),
        (f"{SOURCE} ! {BY_KEY} ! to-table o key=k mode=delete", "packets", "writer", "what sinks take"),
        (f"{DATED} ! {BY_KEY} ! to-table o key=d mode=delete", "packets", "rows", "Spark writes the key for to-table"),
        (
            f'{SOURCE} ! select k "bround(n) AS r" ! {UNCHANGED} ! to-topic o format=arrow',
            "rows",
            "writer",
            "sinks take",
        ),
        (f'{SOURCE} ! select k "bround(n) AS r" ! {UNCHANGED} ! to-topic o', "rows", "rows", "Spark alone knows"),
        (f"{SOURCE} ! filter n>1 ! {BY_KEY} ! to-topic o format=arrow", "packets", "writer", "lanes are by k"),
        (
            f'{SOURCE} ! filter "sqrt(n) > 1" ! {BY_KEY} ! to-topic o format=arrow',
            "rows",
            "writer",
            "filter comes first",
        ),
        (f'{SOURCE} ! select k "n AS m" ! {BY_M} ! to-topic o format=arrow', "packets", "writer", "lanes are by k"),
        (f'{SOURCE} ! select k "n+1 AS m" ! {BY_M} ! to-topic o format=arrow', "packets", "writer", "lanes are by k"),
        (
            f'{SOURCE} ! select k "n + length(soundex(k)) AS m" ! {BY_M} ! to-topic o format=arrow',
            "rows",
            "writer",
            "select comes first",
        ),
        (f"{SOURCE} ! filter n>1 ! {AS_TOPIC} ! to-topic o format=arrow", "reader", "writer", "topic's partitions"),
        (
            "generator 5 ! python headrace.operators.samples:doubled ! preview",
            "rows",
            "writer",
            "generator is Spark's own",
        ),
        (
            f"{SOURCE} ! union as u ! {BY_KEY} ! to-topic o format=arrow\n{SOURCE} as t ! @u.in_2",
            "packets",
            "writer",
            "lanes are by k",
        ),
        (
            f"{SOURCE} ! union as u ! python headrace.operators.samples:unchanged ! to-topic o format=arrow\n"
            f"{SOURCE} as t ! @u.in_2",
            "reader",
            "writer",
            "lanes are the topic's partitions",
        ),
        (f"{SOURCE} as s ! {AS_TOPIC} as w ! to-topic o format=arrow\n@w ! preview", "reader", "writer", "sinks take"),
        (f"{DATED} as s ! {AS_TOPIC} as w ! to-topic o format=arrow\n@w ! preview", "reader", "rows", "for preview"),
    ],
)
def test_as_near_to_the_log_as_it_can(text: str, way_in: str, way_out: str, because: str) -> None:
    validated = validate(parse_text(text, Catalogue(), name="p"), Catalogue())
    (plan,) = plan_queries(validated, Catalogue())
    chain = chain_of(plan, validated, Catalogue())
    assert chain is not None
    placed = place(plan, chain, validated, Catalogue())
    assert (placed.way_in, placed.way_out) == (way_in, way_out)
    assert because in str(placed)
