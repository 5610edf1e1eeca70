"""Every notation of a window and of a duration means the same window."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.graph.document import Document, Json
from headrace.operators.durations import canonical_duration_of
from headrace.sql import parse, print_sql
from headrace.sql.language.cursor import Cursor
from headrace.sql.language.durations import print_duration, print_interval, read_duration
from headrace.sql.language.script import read_script

Read = Callable[[str], Document]


def window(document: Document) -> dict[str, Json]:
    return dict(document.node("o_window").config)


def test_a_timeout_is_that_of_the_streams(read: Read) -> None:
    select = "SELECT count(*) AS n FROM (SELECT * FROM t WHERE alt > 1) AS x WINDOW TUMBLING(10s) EMIT FINAL TIMEOUT 1m"
    document = read(f"INSERT INTO o {select}")
    assert document.node("t").config["idle_timeout"] == "1 minute"
    printed = print_sql(document)
    assert "IDLE AFTER INTERVAL '1' MINUTE" in printed
    assert parse(printed) == document


@pytest.mark.parametrize(
    "select",
    [
        "SELECT drone, count(*) AS n FROM t GROUP BY drone WINDOW TUMBLING(10s)",
        "SELECT drone, count(*) AS n FROM t GROUP BY drone WINDOW TUMBLING(ts, 10s)",
        "SELECT drone, count(*) AS n FROM t WINDOW TUMBLING(10 SECONDS) GROUP BY drone",
        "SELECT drone, count(*) AS n FROM t WINDOW TUMBLING (SIZE 10 SECONDS) GROUP BY drone",
        "SELECT drone, count(*) AS n FROM t WINDOW('tumbling', 10 sec) GROUP BY drone",
        "SELECT drone, count(*) AS n FROM t GROUP BY drone WINDOW('TUMBLING', ts, 10 sec)",
        "SELECT drone, count(*) AS n FROM t GROUP BY drone WINDOW TUMBLING(ts, INTERVAL '10' SECOND)",
        "SELECT drone, count(*) AS n FROM t GROUP BY drone WINDOW TUMBLING('10 seconds')",
        "SELECT drone, count(*) AS n FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND) GROUP BY drone",
        "SELECT drone, count(*) AS n FROM TUMBLE(TABLE t, DESCRIPTOR(ts), 10s) x GROUP BY window_start, x.drone",
        "select drone, count(*) as n from t group by drone window tumbling(10S)",
    ],
)
def test_notations_of_a_tumbling_window(read: Read, select: str) -> None:
    config = window(read(f"INSERT INTO o {select}"))
    aggregates = config.pop("aggregates")
    assert config == {"size": "10 seconds", "time": "ts", "keys": ["drone"]}
    assert str(aggregates).lower() == "['count(*) as n']"


@pytest.mark.parametrize(("clause", "emit"), [("", None), ("EMIT FINAL", "final"), ("emit changes", "changes")])
def test_emit(read: Read, clause: str, emit: str | None) -> None:
    config = window(read(f"INSERT INTO o SELECT count(*) AS n FROM t WINDOW TUMBLING(1m) {clause}"))
    assert config.get("emit") == emit
    assert "keys" not in config


def test_emit_changes_says_nothing_new_without_a_window(read: Read) -> None:
    assert read("INSERT INTO o SELECT * FROM t EMIT CHANGES") == read("INSERT INTO o SELECT * FROM t")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("10s", "10 seconds"),
        ("5m", "5 minutes"),
        ("1h", "1 hour"),
        ("2d", "2 days"),
        ("250ms", "250 milliseconds"),
        ("10 SECONDS", "10 seconds"),
        ("1 minute", "1 minute"),
        ("60 SECONDS", "1 minute"),
        ("INTERVAL '5' SECOND", "5 seconds"),
        ("INTERVAL 5 SECONDS", "5 seconds"),
        ("INTERVAL '5 minutes'", "5 minutes"),
        ("interval '90' second", "90 seconds"),
    ],
)
def test_spellings_of_durations(written: str, meant: str) -> None:
    assert duration(written) == meant


@given(st.integers(0, 10**9))
def test_printed_durations_read_back(milliseconds: int) -> None:
    spelled = canonical_duration_of(milliseconds)
    for printed in (print_duration(spelled), print_interval(spelled)):
        assert printed is not None
        assert duration(printed) == spelled


@pytest.mark.parametrize("other", ["10s", "90 sec", "1 hour 30 minutes", "60 seconds", "x", ""])
def test_other_spellings_are_not_changed_by_printing(other: str) -> None:
    assert print_duration(other) is None
    assert print_interval(other) is None


def duration(written: str) -> str:
    script = read_script(written)
    return read_duration(Cursor(script, 0, len(script.tokens)), ")")
