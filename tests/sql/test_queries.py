"""Queries of several parts: what nodes they become, and that printing them gives the same nodes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from headrace.graph.document import Document, Edge
from headrace.sql import parse, print_sql

Read = Callable[[str], Document]


def configs(document: Document, *ids: str) -> list[dict[str, object]]:
    return [dict(document.node(node_id).config) for node_id in ids]


def test_parts_behind_with_are_views_of_the_statement(read: Read) -> None:
    document = read(
        "INSERT INTO o WITH x AS (SELECT drone FROM t WHERE ok), y AS (SELECT * FROM x) SELECT y.drone FROM y"
    )
    assert {node.id for node in document.nodes} == {"t", "o_x_filter", "o_x", "o_y", "o_select", "o"}
    assert Edge("o_x", "o_y") in document.edges
    assert configs(document, "o_x", "o_y", "o_select") == [
        {"columns": ["drone"]},
        {"columns": ["*"]},
        {"columns": ["drone"]},
    ]


def test_a_part_hides_a_stream_of_its_name(read: Read) -> None:
    document = read("INSERT INTO o WITH timeless AS (SELECT drone FROM t) SELECT * FROM timeless")
    assert {node.id for node in document.nodes} == {"t", "o_timeless", "o"}


def test_a_query_in_from_is_a_view_of_the_statement(read: Read) -> None:
    document = read("INSERT INTO o SELECT d.n FROM (SELECT alt AS n FROM t) AS d WHERE d.n > 1")
    assert document.edges == (
        Edge("o_d", "o_filter"),
        Edge("o_filter", "o_select"),
        Edge("o_select", "o"),
        Edge("t", "o_d"),
    )
    assert configs(document, "o_filter") == [{"condition": "n > 1"}]
    assert "o_from" in {node.id for node in read("INSERT INTO o SELECT n FROM (SELECT alt AS n FROM t)").nodes}


def test_a_key_in_the_select_list_is_the_key_of_the_topic(read: Read) -> None:
    document = read("INSERT INTO o SELECT upper(drone) AS name PRIMARY KEY, alt FROM t")
    assert configs(document, "o") == [{"key": "name", "topic": "o"}]
    created = read("CREATE STREAM s AS SELECT drone PRIMARY KEY FROM t")
    assert configs(created, "into_s") == [{"key": "drone", "topic": "s"}]
    declared = read("CREATE STREAM p (drone STRING PRIMARY KEY); INSERT INTO p SELECT drone FROM t")
    assert configs(declared, "p") == [{"key": "drone", "topic": "p"}]


def test_current_events_are_what_comes_anyway(read: Read) -> None:
    assert read("INSERT CURRENT EVENTS INTO o SELECT * FROM t") == read("INSERT INTO o SELECT * FROM t")


@pytest.mark.parametrize(
    ("select", "operator", "config"),
    [
        (
            "SELECT count(*) AS n FROM t WINDOW SLIDING(10m, 2m)",
            "sliding-window",
            {"size": "10 minutes", "every": "2 minutes", "time": "ts", "aggregates": ["count(*) AS n"]},
        ),
        (
            "SELECT count(*) AS n FROM HOP(TABLE t, DESCRIPTOR(ts), 2m, 10m)",
            "sliding-window",
            {"size": "10 minutes", "every": "2 minutes", "time": "ts", "aggregates": ["count(*) AS n"]},
        ),
        (
            "SELECT count(*) AS n FROM CUMULATE(TABLE t, DESCRIPTOR(ts), 2m, 10m)",
            "cumulate-window",
            {"size": "10 minutes", "step": "2 minutes", "time": "ts", "aggregates": ["count(*) AS n"]},
        ),
        (
            "SELECT drone, count(*) AS n FROM t GROUP BY drone WINDOW SESSION(30s) EMIT FINAL",
            "gap-window",
            {"gap": "30 seconds", "time": "ts", "keys": ["drone"], "aggregates": ["count(*) AS n"]},
        ),
        (
            "SELECT count(*) AS n FROM t WINDOW SESSION(30s)",
            "session-window",
            {"gap": "30 seconds", "time": "ts", "aggregates": ["count(*) AS n"]},
        ),
        (
            "SELECT drone, count(*) AS n FROM t WINDOW SESSION(30s, drone) EMIT CHANGES",
            "session-window",
            {"gap": "30 seconds", "time": "ts", "keys": ["drone"], "aggregates": ["count(*) AS n"], "emit": "changes"},
        ),
        (
            "SELECT *, avg(alt) AS m FROM t GROUP BY drone WINDOW('length', 5)",
            "length-window",
            {"length": 5, "keys": ["drone"], "aggregates": ["avg(alt) AS m"]},
        ),
    ],
)
def test_windows_and_their_operators(read: Read, select: str, operator: str, config: dict[str, object]) -> None:
    node = read(f"INSERT INTO o {select}").node("o_window")
    assert (node.operator, dict(node.config)) == (operator, config)


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO o WITH x AS (SELECT drone FROM t WHERE ok), y AS (SELECT * FROM x) SELECT y.drone FROM y",
        "INSERT INTO o SELECT d.n FROM (SELECT alt AS n FROM t) AS d WHERE d.n > 1",
        "INSERT INTO o SELECT drone, count(*) AS n FROM t WINDOW SESSION(30s, drone) EMIT CHANGES",
        "INSERT INTO o SELECT *, avg(alt) AS m FROM t GROUP BY drone WINDOW('length', 5)",
        "CREATE STREAM s AS SELECT drone PRIMARY KEY FROM t",
        "INSERT INTO o SELECT drone, count(*) AS n FROM t GROUP BY drone WINDOW SLIDING(10m, 2m) HAVING count(*) > 3",
        "INSERT INTO o SELECT drone, count(*) AS n FROM t GROUP BY drone WINDOW CUMULATE(10m, 2m) EMIT CHANGES",
        "INSERT INTO o SELECT drone, count(DISTINCT alt) AS n FROM t GROUP BY drone WINDOW SESSION(30s)",
    ],
)
def test_printed_they_mean_the_same(read: Read, sql: str) -> None:
    document = read(sql)
    printed = print_sql(document)
    assert parse(printed) == document
    assert print_sql(parse(printed)) == printed
    assert " => " not in printed


@pytest.mark.parametrize(
    "inner",
    [
        "INSERT INTO o SELECT count(*) AS n FROM t WINDOW TUMBLING(1m)",
        "INSERT INTO o SELECT count(*) AS n FROM t GROUP BY DRONE WINDOW TUMBLING(1m)",
    ],
)
def test_a_partition_puts_its_key_into_every_window(read: Read, inner: str) -> None:
    document = read(f"PARTITION WITH (drone OF t) BEGIN {inner}; END")
    window = document.node("o_window").config
    assert [str(key).lower() for key in window["keys"]] == ["drone"]  # type: ignore[union-attr]
    assert parse(print_sql(document)) == document


def test_a_partition_leaves_rows_without_a_window_alone(read: Read) -> None:
    inner = "INSERT INTO o WITH x AS (SELECT alt FROM t WHERE ok) SELECT alt FROM (SELECT * FROM x)"
    assert read(f"PARTITION WITH (drone OF t) BEGIN {inner}; END") == read(inner)
