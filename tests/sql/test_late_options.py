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


@pytest.mark.parametrize(
    ("query", "node", "operator"),
    [
        ("SELECT k, count(*) AS n FROM w GROUP BY k WINDOW SESSION(1m)", "s_window", "session-window"),
        ("SELECT k, count(*) AS n FROM w GROUP BY k WINDOW CUMULATE(1h, 1m)", "s_window", "time-window"),
        ("SELECT k, sum(v) OVER (ORDER BY ts ROWS 3 PRECEDING) AS n FROM w", "s_over", "over-window"),
        ("SELECT k, sum(v) OVER (ORDER BY ts) AS n FROM w", "s_over", "over-running"),
        ("SELECT k FROM w OUTPUT LAST EVERY 10 SECONDS", "s_output", "output-rate"),
        ("SELECT w.k, o.v AS x FROM w ASOF JOIN other AS o ON w.k = o.k AND w.ts >= o.ts", "s_join", "asof-join"),
        (
            "SELECT * FROM `over-window`(TABLE w, rows => 2, time => 'ts', aggregates => ARRAY['count(*) AS n'])",
            "s",
            "over-window",
        ),
        (
            "SELECT * FROM `time-window`(TABLE w, size => '1m', time => 'ts', aggregates => ARRAY['count(*) AS n'])",
            "s",
            "time-window",
        ),
    ],
)
def test_dead_letters_are_kept_by_all_that_goes_by_time(query: str, node: str, operator: str) -> None:
    document = read("'late.policy' = 'dead_letter', 'dead_letter.topic' = 'bad'", query)
    found = document.node(node)
    assert found.operator == operator
    assert found.config.items() >= {"late": "dead_letter", "dead_letter": "bad"}.items()
    assert parse(print_sql(document)) == document


@pytest.mark.parametrize("window", ["SESSION(1m)", "CUMULATE(1h, 1m)", "SLIDING(1h, 1m)"])
@pytest.mark.parametrize("policy", ["include_in_next_window", "update_previous"])
def test_every_window_of_event_time_has_the_choice(window: str, policy: str) -> None:
    kept = ", 'late.for' = '1 hour'" if policy == "update_previous" else ""
    document = read(f"'late.policy' = '{policy}'{kept}", f"SELECT k, count(*) AS n FROM w GROUP BY k WINDOW {window}")
    assert document.node("s_window").config["late"] == policy
    assert parse(print_sql(document)) == document


def test_windows_that_are_told_again_are_changes() -> None:
    windows = "(SELECT k, count(*) AS n FROM w GROUP BY k WINDOW TUMBLING(1m)) AS c"
    with pytest.raises(InvalidSyntax, match="these rows are changes"):
        read("'late.policy' = 'update_previous', 'late.for' = '1 hour'", f"SELECT sum(n) AS n FROM {windows}")
    read("'late.policy' = 'include_in_next_window'", f"SELECT sum(n) AS n FROM {windows}")


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
            "this over-window lets no row out twice",
        ),
        (
            "'late.policy' = 'include_in_next_window'",
            "SELECT * FROM `asof-join`(left => TABLE w, right => TABLE other, keys => ARRAY['k'])",
            "this asof-join lets no row out twice",
        ),
        (
            "'late.policy' = 'include_in_next_window'",
            "SELECT * FROM `gap-window`(TABLE w, gap => '1m', time => 'ts', keys => ARRAY['k'], aggregates => "
            "ARRAY['count(*) AS n'])",
            "this gap-window drops late rows",
        ),
        (
            "'late.policy' = 'include_in_next_window'",
            "SELECT k FROM w OUTPUT LAST EVERY 10 SECONDS",
            "OUTPUT lets no row out twice",
        ),
        (
            "'late.policy' = 'include_in_next_window'",
            "SELECT w.k FROM w JOIN other ON w.k = other.k WITHIN 1 MINUTE",
            "a join lets no row out twice",
        ),
        (
            "'late.policy' = 'include_in_next_window'",
            "SELECT k, sum(v) OVER (ORDER BY ts ROWS 3 PRECEDING) AS n FROM w",
            "OVER lets no row out twice",
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
