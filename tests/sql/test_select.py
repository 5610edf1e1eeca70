"""What a SELECT becomes: one node for each clause, named after the statement."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from headrace.graph.document import Document, Edge

Read = Callable[[str], Document]


def configs(document: Document, *ids: str) -> list[dict[str, object]]:
    return [dict(document.node(node_id).config) for node_id in ids]


def test_a_view_ends_in_its_own_node(read: Read) -> None:
    document = read("CREATE VIEW v AS SELECT drone FROM t WHERE ok; INSERT INTO o SELECT * FROM v")
    assert {node.id for node in document.nodes} == {"t", "v_filter", "v", "o"}
    assert document.edges == (Edge("t", "v_filter"), Edge("v", "o"), Edge("v_filter", "v"))


def test_a_view_of_everything_still_is_a_node(read: Read) -> None:
    document = read("CREATE VIEW v AS SELECT * FROM t; INSERT INTO o SELECT * FROM v")
    assert configs(document, "v") == [{"columns": ["*"]}]


def test_a_stream_as_select_is_read_on_straight_from_the_graph(read: Read) -> None:
    document = read("CREATE STREAM s WITH (key = 'drone') AS SELECT drone FROM t; INSERT INTO o SELECT * FROM s")
    assert configs(document, "s", "into_s") == [{"columns": ["drone"]}, {"topic": "s", "key": "drone"}]
    assert set(document.edges) == {Edge("t", "s"), Edge("s", "into_s"), Edge("s", "o")}


def test_a_stream_that_is_written_and_read_goes_through_its_topic(read: Read) -> None:
    document = read(
        "CREATE STREAM mid (drone STRING) WITH (topic = 'm'); INSERT INTO mid SELECT drone FROM t;"
        "INSERT INTO o SELECT * FROM mid"
    )
    assert Edge("into_mid_select", "into_mid") in document.edges
    assert Edge("mid", "o") in document.edges
    assert configs(document, "mid", "into_mid") == [{"topic": "m", "schema": "drone STRING"}, {"topic": "m"}]


def test_more_inserts_into_one_stream_are_counted(read: Read) -> None:
    document = read("INSERT INTO o SELECT * FROM t; INSERT INTO o SELECT drone FROM t; INSERT INTO o SELECT ok FROM t")
    assert {node.id for node in document.nodes} == {"t", "o", "o_2", "o_2_select", "o_3", "o_3_select"}


def test_unused_declarations_make_no_nodes(read: Read) -> None:
    assert "timeless" not in {node.id for node in read("INSERT INTO o SELECT * FROM t").nodes}


def test_expressions_are_kept_as_written(read: Read) -> None:
    document = read("INSERT INTO o SELECT  alt  *  2   AS  twice, lower( drone ) low FROM t WHERE  alt>1  AND ok")
    assert configs(document, "o_filter", "o_select") == [
        {"condition": "alt>1  AND ok"},
        {"columns": ["alt  *  2   AS  twice", "lower( drone ) AS low"]},
    ]


@pytest.mark.parametrize("source", ["t", "T", "t x", "t AS x"])
def test_the_name_of_the_stream_before_a_column_is_left_out(read: Read, source: str) -> None:
    name = source.rsplit(maxsplit=1)[-1]
    document = read(
        f"INSERT INTO o SELECT {name}.drone, `{name}`.alt * 2 AS a FROM {source} WHERE {name}.drone <> 'x.y'"
    )
    assert configs(document, "o_filter", "o_select") == [
        {"condition": "drone <> 'x.y'"},
        {"columns": ["drone", "alt * 2 AS a"]},
    ]


def test_a_star_with_the_name_of_the_stream(read: Read) -> None:
    assert read("INSERT INTO o SELECT x.* FROM t x") == read("INSERT INTO o SELECT * FROM t")


def test_names_of_streams_may_differ_in_case(read: Read) -> None:
    assert read("insert into O select * from T") == read("INSERT INTO o SELECT * FROM t")


def test_words_of_the_language_are_no_aliases(read: Read) -> None:
    document = read(
        "INSERT INTO o SELECT alt FROM t WINDOW TUMBLING(1s) HAVING count(*) > 1 EMIT CHANGES".replace(
            "alt", "max(alt) m"
        )
    )
    assert document.node("o_window").config["emit"] == "changes"


def test_a_column_may_be_called_like_a_word_of_the_language(read: Read) -> None:
    document = read(
        "CREATE STREAM odd (emit INT, output STRING, pattern STRING);"
        "INSERT INTO o SELECT emit, pattern FROM odd WHERE emit > 3"
    )
    assert configs(document, "o_filter") == [{"condition": "emit > 3"}]


def test_functions_called_like_joins(read: Read) -> None:
    document = read("INSERT INTO o SELECT left(drone, 2) AS l FROM t WHERE right(drone, 1) = 'x'")
    assert configs(document, "o_select") == [{"columns": ["left(drone, 2) AS l"]}]


WINDOW = "GROUP BY drone WINDOW TUMBLING(10s)"


def test_a_window_puts_out_bounds_keys_and_aggregates(read: Read) -> None:
    document = read(f"INSERT INTO o SELECT _window_start, _window_end, drone, count(*) AS n FROM t {WINDOW}")
    assert {node.id for node in document.nodes} == {"t", "o_window", "o"}


def test_columns_of_a_window_are_chosen_by_a_select(read: Read) -> None:
    document = read(f"INSERT INTO o SELECT count(*) AS n, upper(drone) AS d, n * 2 AS twice FROM t {WINDOW}")
    assert configs(document, "o_select") == [{"columns": ["n", "upper(drone) AS d", "n * 2 AS twice"]}]
    assert document.node("o_window").config["aggregates"] == ["count(*) AS n"]


def test_an_aggregate_may_stand_inside_an_expression(read: Read) -> None:
    document = read(f"INSERT INTO o SELECT sum(t.alt) / count(*) AS mean FROM t {WINDOW}")
    assert document.node("o_window").config["aggregates"] == ["sum(alt) / count(*) AS mean"]


def test_aggregates_without_a_name_get_one_of_their_words(read: Read) -> None:
    document = read(f"INSERT INTO o SELECT avg(alt), count(*), max(alt + 1) AS count FROM t {WINDOW}")
    assert document.node("o_window").config["aggregates"] == [
        "avg(alt) AS avg_alt",
        "count(*) AS count_2",
        "max(alt + 1) AS count",
    ]
    assert document.node("o_select").config["columns"] == ["avg_alt", "count_2", "count"]


def test_filters_of_an_aggregate_belong_to_it(read: Read) -> None:
    document = read(
        f"INSERT INTO o SELECT count(*) FILTER (WHERE ok) AS good FROM t {WINDOW} HAVING count(*) FILTER (WHERE ok) > 1"
    )
    assert document.node("o_window").config["aggregates"] == ["count(*) FILTER (WHERE ok) AS good"]
    assert document.node("o_having").config["condition"] == "good > 1"


def test_having_uses_the_names_of_aggregates_and_adds_its_own(read: Read) -> None:
    document = read(
        f"INSERT INTO o SELECT drone, COUNT(*) AS n FROM t x {WINDOW}"
        " HAVING count( * ) > 3 AND max(x.alt) < 9 AND n < 99"
    )
    assert document.node("o_having").config["condition"] == "n > 3 AND max_alt < 9 AND n < 99"
    assert document.node("o_window").config["aggregates"] == ["COUNT(*) AS n", "max(alt) AS max_alt"]
    assert document.node("o_select").config["columns"] == ["drone", "n"]


def test_where_stands_before_the_window(read: Read) -> None:
    document = read(f"INSERT INTO o SELECT count(*) AS n FROM t WHERE ok {WINDOW} HAVING n > 1")
    order = [("t", "o_filter"), ("o_filter", "o_window"), ("o_window", "o_having"), ("o_having", "o_select")]
    assert {Edge(*pair) for pair in [*order, ("o_select", "o")]} == set(document.edges)


def test_flinks_names_of_the_bounds(read: Read) -> None:
    document = read(
        "INSERT INTO o SELECT window_start, window_end AS until, drone, count(*) AS n "
        "FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY window_start, window_end, drone"
    )
    assert document.node("o_select").config["columns"] == [
        "_window_start AS window_start",
        "_window_end AS until",
        "drone",
        "n",
    ]
    assert document.node("o_window").config["keys"] == ["drone"]


def test_any_operator_can_be_called_by_its_name(read: Read) -> None:
    called = read("CREATE VIEW v AS SELECT * FROM filter(TABLE t, condition => 'ok'); INSERT INTO o SELECT * FROM v")
    assert called == read("CREATE VIEW v AS SELECT * FROM t WHERE ok; INSERT INTO o SELECT * FROM v")
