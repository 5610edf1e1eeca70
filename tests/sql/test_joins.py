"""What a JOIN becomes: its condition by sides, its bound in time, and the names of columns behind it.

Without an analysis, as here, columns are not known: the conditions say whose they are.
"""

from __future__ import annotations

import pytest

from headrace.errors import InvalidSyntax
from headrace.graph.document import Document, Edge, Json, Node
from headrace.operators.catalogue import Catalogue
from headrace.sql import parse, print_sql
from headrace.sql.to_graph import translate

MINUTE = "INTERVAL '1' MINUTE"


def join(clause: str, select: str = "SELECT a.k") -> dict[str, object]:
    document = translate(f"CREATE VIEW v AS {select} FROM {clause}", Catalogue())
    (node,) = (node for node in document.nodes if node.operator == "join")
    return dict(node.config)


@pytest.mark.parametrize(
    ("clause", "config"),
    [
        ("a JOIN b ON a.k = b.k WITHIN 5 MINUTES", {"before": "5 minutes", "after": "5 minutes"}),
        ("a JOIN b WITHIN (1m, 2m) ON a.k = b.k", {"before": "1 minute", "after": "2 minutes"}),
        ("a JOIN b ON a.k = b.k RETENTION 7 DAYS", {"before": "7 days", "after": "7 days"}),
        ("a WINDOW TUMBLING(1m) JOIN b WINDOW TUMBLING(1m) ON a.k = b.k", {"window": "1 minute"}),
        (
            "a WINDOW SLIDING(10m, 2m) JOIN b WINDOW HOPPING(SIZE 10 MINUTES, ADVANCE BY 2 MINUTES) ON a.k = b.k",
            {"window": "10 minutes", "every": "2 minutes"},
        ),
        (
            f"a JOIN b ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + {MINUTE}",
            {"before": "0 seconds", "after": "1 minute"},
        ),
        (
            f"a JOIN b ON b.ts >= a.ts - {MINUTE} AND a.k = b.k AND b.ts <= a.ts + {MINUTE}",
            {"before": "1 minute", "after": "1 minute"},
        ),
        (
            f"a JOIN b ON a.k = b.k AND a.ts BETWEEN b.ts - {MINUTE} AND b.ts",
            {"before": "0 seconds", "after": "1 minute"},
        ),
    ],
)
def test_bounds_in_time(clause: str, config: dict[str, object]) -> None:
    assert join(clause) == {"on": "left.k = right.k", **config}


def test_a_strict_bound_is_checked_as_well() -> None:
    found = join(f"a JOIN b ON a.k = b.k AND b.ts > a.ts AND b.ts <= a.ts + {MINUTE}")
    assert found == {"on": "left.k = right.k AND right.ts > left.ts", "before": "0 seconds", "after": "1 minute"}


def test_a_bound_on_the_other_side_is_checked_as_well() -> None:
    found = join(f"a JOIN b ON a.k = b.k AND b.ts >= a.ts + {MINUTE} AND b.ts <= a.ts + INTERVAL '1' HOUR")
    assert found["on"] == f"left.k = right.k AND right.ts >= left.ts + {MINUTE}"
    assert (found["before"], found["after"]) == ("0 seconds", "1 hour")


@pytest.mark.parametrize("kind", ["left", "right", "full"])
def test_kinds(kind: str) -> None:
    assert join(f"a {kind.upper()} OUTER JOIN b USING (k) WITHIN 1m")["kind"] == kind


def test_conditions_are_kept_as_written() -> None:
    found = join(
        "a AS x JOIN b AS y ON x.k = y.k AND (x.v > y.v OR y.w IS NULL) AND y.s.t = 'AND' WITHIN 1m", "SELECT *"
    )
    assert found["on"] == "left.k = right.k AND (left.v > right.v OR right.w IS NULL) AND right.s.t = 'AND'"


def test_a_condition_with_an_or_is_one() -> None:
    assert join("a JOIN b ON a.k = b.k OR a.k = b.j WITHIN 1m")["on"] == "left.k = right.k OR left.k = right.j"


def test_joins_of_joins() -> None:
    document = translate(
        "CREATE VIEW v AS SELECT c.z FROM a JOIN b ON a.k = b.k WITHIN 1m JOIN c ON b.k = c.k WITHIN 2m", Catalogue()
    )
    assert Edge("v_left_join", "v_join", "out", "left") in document.edges
    assert Edge("c", "v_join", "out", "right") in document.edges


@pytest.mark.parametrize(
    "clause",
    [
        "a JOIN b ON a.k = b.k",
        f"a JOIN b ON a.k = b.k AND b.ts <= a.ts + {MINUTE}",
        "a CROSS JOIN b",
        "a JOIN b ON a.k = b.k AND a.v > 5",
    ],
)
def test_state_without_an_end_is_refused(clause: str) -> None:
    streams = "".join(
        f"CREATE STREAM {name} (k STRING, v INT, ts TIMESTAMP, WATERMARK FOR ts AS ts);" for name in ("a", "b")
    )
    with pytest.raises(InvalidSyntax) as caught:
        parse(f"{streams} CREATE STREAM v AS SELECT a.k FROM {clause}")
    assert "WITHIN" in str(caught.value.hint)


@pytest.mark.parametrize("columns", ["a.* EXCEPT (n)", "m, a.* EXCEPT (n)", "b.* EXCEPT (m)"])
def test_a_side_without_some_columns_is_refused_by_name(columns: str) -> None:
    script = f"""CREATE STREAM a (k STRING, n INT, ts TIMESTAMP, WATERMARK FOR ts AS ts);
    CREATE STREAM b (k STRING, m INT, at TIMESTAMP, WATERMARK FOR at AS at);
    CREATE VIEW v AS SELECT {columns} FROM a JOIN b ON a.k = b.k WITHIN 5 MINUTES"""
    with pytest.raises(InvalidSyntax, match=r"\* EXCEPT stands over one stream") as caught:
        parse(script)
    side = "k, n, ts" if "a.*" in columns else "k, m, at"
    assert caught.value.hint == f"name the columns that are meant, of {side}"


def test_a_join_with_a_table_is_a_lookup_and_so_is_one_without_a_bound() -> None:
    known = parse(
        "CREATE STREAM a (k STRING); CREATE TABLE b (k STRING PRIMARY KEY, v INT);"
        "CREATE STREAM s AS SELECT a.k, v FROM a LEFT JOIN b ON a.k = b.k"
    )
    assert known.node("s_join") == Node("s_join", "lookup-join", {"on": "left.k = right.b_k", "kind": "left"})
    unknown = translate("CREATE VIEW s AS SELECT * FROM a JOIN b ON a.k = b.k", Catalogue())
    assert unknown.nodes == (Node("s", "lookup-join", {"on": "left.k = right.k"}),)
    assert parse(print_sql(known)) == known


@pytest.mark.parametrize(
    ("config", "written"),
    [
        ({"on": "left.k = right.k", "before": "1 minute", "after": "1 minute"}, "JOIN b ON a.k = b.k WITHIN 1 MINUTE;"),
        (
            {"on": "left.k = right.j AND left.v > 1", "before": "0 seconds", "after": "1 hour", "kind": "left"},
            "LEFT JOIN b ON a.k = b.j AND a.v > 1 WITHIN (0 SECONDS, 1 HOUR);",
        ),
        (
            {"on": "left.k = right.k", "before": "1 hour", "after": "1 hour", "kind": "full"},
            "FULL JOIN b USING (k) WITHIN 1 HOUR;",
        ),
        ({"on": "left.k = right.k", "window": "1 hour"}, "JOIN b WINDOW TUMBLING(1 HOUR) ON a.k = b.k;"),
        (
            {"on": "left.k = right.k", "window": "1 hour", "every": "1 minute"},
            "JOIN b WINDOW SLIDING(1 HOUR, 1 MINUTE) ON a.k = b.k;",
        ),
        ({"on": "left.k = right.k AND left.v > 1", "window": "1 hour", "kind": "left"}, "on => "),
        ({"on": "left.k = right.k"}, "on => "),
    ],
)
def test_a_join_is_printed_as_a_query_that_means_the_same(config: dict[str, Json], written: str) -> None:
    nodes = (Node("a", "python-thing"), Node("b", "python-thing"), Node("v", "join", config))
    document = Document("d", nodes, (Edge("a", "v", "out", "left"), Edge("b", "v", "out", "right")))
    printed = print_sql(document)
    assert written in printed
    assert translate(printed, Catalogue()).node("v") == nodes[2]


def test_a_self_join_and_a_union_are_printed_as_queries() -> None:
    bound: dict[str, Json] = {"on": "left.k = right.j", "before": "1 minute", "after": "1 minute"}
    nodes = (Node("t", "python-thing"), Node("v", "join", bound), Node("u", "union"))
    edges = (
        Edge("t", "v", "out", "left"),
        Edge("t", "v", "out", "right"),
        Edge("v", "u"),
        Edge("t", "u", "out", "in_2"),
    )
    document = Document("d", nodes, edges)
    printed = print_sql(document)
    assert "FROM t AS a\nJOIN t AS b ON a.k = b.j WITHIN 1 MINUTE;" in printed
    assert "SELECT *\nFROM v\nUNION ALL\nSELECT *\nFROM t;" in printed
    assert translate(printed, Catalogue()).edges == document.edges


ASOF = """CREATE STREAM t (k STRING, n INT, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE STREAM q (k STRING, j STRING, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE STREAM v AS SELECT t.n, q.k AS its_key, q.x, q.ts AS since FROM t """


@pytest.mark.parametrize(
    ("clause", "config", "right"),
    [
        ("ASOF JOIN q ON t.k = q.k AND t.ts >= q.ts", {"keys": ["k"]}, ["k", "j", "x", "ts AS q_ts"]),
        ("ASOF JOIN q USING (k) WITHIN 1m", {"keys": ["k"], "within": "1 minute"}, ["k", "j", "x", "ts AS q_ts"]),
        (
            "ASOF LEFT JOIN q ON t.k = q.k AND q.ts <= t.ts",
            {"keys": ["k"], "kind": "left"},
            ["k AS q_k", "j", "x", "ts AS q_ts", "k"],
        ),
        ("ASOF JOIN q ON q.j = t.k", {"keys": ["k"]}, ["k AS q_k", "j", "x", "ts AS q_ts", "j AS k"]),
        ("LEFT ASOF JOIN q ON t.ts >= q.ts", {"kind": "left"}, ["k AS q_k", "j", "x", "ts AS q_ts"]),
    ],
)
def test_the_newest_row_of_the_right(clause: str, config: dict[str, Json], right: list[Json]) -> None:
    document = parse(f"{ASOF}{clause};")
    nodes = {node.id: node for node in document.nodes}
    assert (nodes["v_join"].operator, dict(nodes["v_join"].config)) == ("asof-join", config)
    assert nodes["v_right"].config == {"columns": right}
    printed = print_sql(document)
    assert "ASOF" in printed
    assert parse(printed) == document


SIDES = """CREATE STREAM a (k STRING, v INT, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE STREAM b (k STRING, v INT, ts TIMESTAMP, WATERMARK FOR ts AS ts);
"""
PAIRS = "FROM a LEFT JOIN b ON a.k = b.k WITHIN 1 MINUTE"


@pytest.mark.parametrize(
    ("items", "columns"),
    [
        ("b.k, a.v", ["b_k AS k", "v"]),
        ("a.k, b.k", ["k", "b_k"]),
        ("b.k, a.v AS k", ["b_k", "v AS k"]),
        ("b.v + 1 AS w, b.v", ["b_v + 1 AS w", "b_v AS v"]),
        ("b.k AS x", ["b_k AS x"]),
        ("b.*, a.v", ["b_k", "b_v", "b_ts", "v"]),
    ],
)
def test_columns_of_the_right_come_out_under_their_own_names(items: str, columns: list[str]) -> None:
    document = parse(f"{SIDES} CREATE STREAM s AS SELECT {items} {PAIRS}")
    assert document.node("s").config == {"columns": columns}
    assert parse(print_sql(document)) == document


def test_the_key_of_a_stream_may_be_a_column_of_the_right() -> None:
    document = parse(f"{SIDES} CREATE STREAM s AS SELECT b.k PRIMARY KEY, a.v {PAIRS}")
    assert document.node("s").config == {"columns": ["b_k AS k", "v"]}
    assert document.node("into_s").config["key"] == "k"


@pytest.mark.parametrize(
    ("query", "word"),
    [
        (f"SELECT v {PAIRS}", "v"),
        (f"SELECT a.k {PAIRS} WHERE v > 1", "v"),
        (f"SELECT count(*) AS n {PAIRS} GROUP BY k", "k"),
        (f"SELECT a.k, sum(v) AS n {PAIRS} GROUP BY a.k", "v"),
        (f"SELECT a.k {PAIRS} QUALIFY ROW_NUMBER() OVER (PARTITION BY a.k ORDER BY v) <= 2", "v"),
    ],
)
def test_a_name_of_both_sides_needs_its_stream(query: str, word: str) -> None:
    with pytest.raises(InvalidSyntax, match=f"{word!r} is a column of several streams here") as caught:
        parse(f"{SIDES} CREATE VIEW s AS {query}")
    assert caught.value.place is not None
    assert caught.value.hint == f"write the name of its stream before it, such as b.{word}"
