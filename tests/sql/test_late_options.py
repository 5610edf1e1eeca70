"""What a stream's options say about late rows becomes settings of the windows over it."""

from __future__ import annotations

import pytest

from headrace.errors import InvalidSyntax
from headrace.graph.document import Document, Json
from headrace.sql import parse, print_sql

COLUMNS = "(k STRING, v INT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)"
WINDOW = "SELECT k, count(*) AS n FROM w GROUP BY k WINDOW TUMBLING(1m)"


def read(options: str, query: str = WINDOW) -> Document:
    views = "CREATE VIEW w AS SELECT k, v, ts FROM t WHERE v > 1; CREATE STREAM other " + COLUMNS
    return parse(f"CREATE STREAM t {COLUMNS} WITH ({options}); {views}; CREATE STREAM s AS {query};")


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ("'late.policy' = 'dead_letter', 'dead_letter.topic' = 'bad'", {"late": "dead_letter", "dead_letter": "bad"}),
        ("'late.policy' = 'include_in_next_window'", {"late": "include_in_next_window"}),
        (
            "'late.policy' = 'update_previous', 'late.for' = '1 hour'",
            {"late": "update_previous", "late_for": "1 hour"},
        ),
    ],
)
def test_a_window_takes_the_policy_of_its_stream(options: str, settings: dict[str, Json]) -> None:
    document = read(options)
    node = document.node("s_window")
    assert node.operator == "time-window"
    assert settings.items() <= node.config.items()
    assert parse(print_sql(document)) == document


def test_rows_that_cannot_be_read_may_share_the_topic() -> None:
    document = read("'late.policy' = 'dead_letter', 'dead_letter.topic' = 'bad', bad_rows = 'dead_letter'")
    assert document.node("t").config["dead_letter"] == document.node("s_window").config["dead_letter"] == "bad"
    alone = read("'late.policy' = 'dead_letter', 'dead_letter.topic' = 'bad'")
    assert "dead_letter" not in alone.node("t").config


def test_dropping_is_what_every_window_does() -> None:
    assert read("'late.policy' = 'drop'") == read("topic = 't'")


@pytest.mark.parametrize(
    ("options", "query", "message"),
    [
        ("'late.policy' = 'later'", WINDOW, "no policy 'later'"),
        ("'late.policy' = 'dead_letter'", WINDOW, "no topic is named"),
        ("'late.policy' = 'update_previous'", WINDOW, "go together"),
        ("'late.for' = '1 hour'", WINDOW, "late.for is for"),
        (
            "'late.policy' = 'include_in_next_window'",
            "SELECT * FROM `over-window`(TABLE w, rows => 2, time => 'ts', aggregates => ARRAY['count(*) AS n'])",
            "this over-window drops late rows",
        ),
        (
            "'late.policy' = 'include_in_next_window'",
            "SELECT * FROM `asof-join`(left => TABLE w, right => TABLE other, keys => ARRAY['k'])",
            "this asof-join drops late rows",
        ),
        (
            "'late.policy' = 'include_in_next_window'",
            "SELECT k FROM w OUTPUT LAST EVERY 10 SECONDS",
            "OUTPUT drops late rows",
        ),
        (
            "'late.policy' = 'include_in_next_window'",
            "SELECT k, count(*) AS n FROM w GROUP BY k WINDOW SESSION(1m)",
            "session windows drop late rows",
        ),
        (
            "'late.policy' = 'include_in_next_window'",
            "SELECT w.k FROM w JOIN other ON w.k = other.k WITHIN 1 MINUTE",
            "a join drops late rows",
        ),
        (
            "'late.policy' = 'include_in_next_window'",
            "SELECT k, sum(v) OVER (ORDER BY ts ROWS 3 PRECEDING) AS n FROM w",
            "OVER drops late rows",
        ),
    ],
)
def test_what_cannot_be_kept_is_refused(options: str, query: str, message: str) -> None:
    with pytest.raises(InvalidSyntax, match=message):
        read(options, query)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM deduplicate(TABLE w, keys => ARRAY['k'], within => '1 minute', time => 'ts')",
        "SELECT * FROM `length-window`(TABLE w, length => 5, aggregates => ARRAY['count(*) AS n'])",
        "SELECT k FROM w OUTPUT LAST EVERY 10 EVENTS",
    ],
)
def test_what_drops_no_late_rows_of_the_stream_asks_for_no_policy(query: str) -> None:
    assert all("late" not in node.config for node in read("'late.policy' = 'include_in_next_window'", query).nodes)
