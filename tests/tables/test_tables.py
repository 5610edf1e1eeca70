"""Tables are asked: what their topics say at the moment, through restarts and deletions."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headrace.errors import Conflict, CorruptData, HeadraceError, InvalidInput, NotFound
from headrace.sql import Delete, InsertValues, Update, parse, read_requests
from headrace.tables import Tables
from headrace.tables.declarations import Declarations
from headrace.tables.store import COPY_AGE_MS_MAX
from headrace.wire.client import Client

if TYPE_CHECKING:
    from tests.tables.conftest import Log


def row(symbol: str, maximum: float, **more: Any) -> tuple[str, dict[str, Any]]:
    return symbol, {"symbol": symbol, "maximum": maximum, **more}


def test_the_newest_row_of_each_key_is_told(log: Log, tables: Tables) -> None:
    log.write("limits", [row("a", 1), row("b", 2), row("a", 3), ("b", None), row("c", 4)])
    assert tables.ask("SELECT symbol, maximum FROM limits ORDER BY symbol").rows == (("a", 3.0), ("c", 4.0))
    log.write("limits", [row("c", 5), row("b", 6)])
    answer = tables.ask("SELECT symbol, maximum + 1 AS more FROM Limits l WHERE l.symbol IN ('b', 'c') ORDER BY 1")
    assert (answer.columns, answer.rows) == (("symbol", "more"), (("b", 7.0), ("c", 6.0)))


def test_values_come_out_as_they_are(log: Log, tables: Tables) -> None:
    log.write("limits", [row("a", 1.5, open=True, since="2026-01-31T12:00:00.25Z", tags=["x", "y"]), row("b", 2)])
    first, second = tables.ask("SELECT * FROM limits ORDER BY symbol").as_objects()
    assert first == {
        "symbol": "a",
        "maximum": 1.5,
        "open": True,
        "since": "2026-01-31 12:00:00.250000",
        "tags": '["x", "y"]',
    }
    assert second == {"symbol": "b", "maximum": 2.0, "open": None, "since": None, "tags": None}
    assert tables.ask("SELECT symbol FROM limits WHERE since > '2026-01-31' AND open").rows == (("a",),)


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT count(*) AS n, sum(maximum) AS total FROM limits", [(4, 10.0)]),
        ("SELECT upper(symbol) FROM limits WHERE maximum BETWEEN 2 AND 3 ORDER BY maximum DESC", [("C",), ("B",)]),
        ("WITH big AS (SELECT * FROM limits WHERE maximum > 3) SELECT symbol FROM big", [("d",)]),
        ("SELECT a.symbol FROM limits a JOIN limits b ON a.maximum = b.maximum + 3", [("d",)]),
        ("SELECT maximum > 2 AS big, count(*) FROM limits GROUP BY 1 HAVING count(*) > 1 ORDER BY 1 LIMIT 1", [(0, 2)]),
        ("SELECT symbol FROM limits WHERE maximum = (SELECT max(maximum) FROM limits)", [("d",)]),
        ("SELECT CASE WHEN 1 / 2 > 0 THEN 'exact' END FROM limits LIMIT 1", [("exact",)]),
    ],
)
def test_whole_queries_are_answered(log: Log, tables: Tables, sql: str, rows: list[tuple[Any, ...]]) -> None:
    log.write("limits", [row(symbol, place) for place, symbol in enumerate("abcd", 1)])
    assert list(tables.ask(sql).rows) == rows


def test_a_copy_goes_on_where_it_was_after_a_restart(log: Log, tables: Tables) -> None:
    log.write("limits", [row("a", 1), row("b", 2)])
    tables.follow()
    log.write("limits", [("a", None), row("c", 3)])
    again = log.tables()
    try:
        assert again.ask("SELECT symbol FROM limits ORDER BY symbol").rows == (("b",), ("c",))
    finally:
        again.close()


def test_a_copy_that_may_have_missed_a_deletion_is_made_anew(log: Log, tables: Tables) -> None:
    log.write("limits", [row("a", 1)])
    tables.follow()
    path = log.directory / "tables.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE copies SET time_ms = time_ms - ?", (COPY_AGE_MS_MAX + 1,))
        connection.execute("""INSERT INTO "rows of limits" VALUES ('ghost', NULL, '{"symbol": "ghost"}')""")
    connection.close()
    assert ("ghost",) in tables.ask("SELECT symbol FROM limits").rows
    again = log.tables()
    try:
        assert again.ask("SELECT symbol FROM limits").rows == (("a",),)
    finally:
        again.close()


def test_a_file_that_is_broken_is_made_anew(log: Log, tables: Tables) -> None:
    log.write("limits", [row("a", 1)])
    tables.close()
    (log.directory / "tables.sqlite").write_bytes(b"no database" * 1000)
    again = log.tables()
    try:
        assert again.ask("SELECT symbol FROM limits").rows == (("a",),)
    finally:
        again.close()


def test_other_columns_make_another_copy(log: Log, tables: Tables) -> None:
    log.write("limits", [row("a", 1, note="hello")])
    tables.follow()
    log.documents[:] = [
        parse(
            "CREATE STREAM t (k STRING); CREATE TABLE limits (symbol STRING PRIMARY KEY, note STRING);"
            "CREATE STREAM s AS SELECT note FROM t JOIN limits ON k = symbol"
        )
    ]
    tables.follow()
    assert tables.ask("SELECT * FROM limits").as_objects() == [{"symbol": "a", "note": "hello"}]


def test_tables_that_are_gone_leave_nothing(log: Log, tables: Tables) -> None:
    log.write("limits", [row("a", 1)])
    tables.follow()
    log.documents.clear()
    tables.follow()
    assert tables._store.topics == ()
    with pytest.raises(NotFound, match="no table 'limits'"):
        tables.ask("SELECT * FROM limits")


def test_a_written_table_can_be_asked(log: Log, tables: Tables) -> None:
    log.documents.append(
        parse("CREATE STREAM t (k STRING, v INT); CREATE TABLE latest AS SELECT k PRIMARY KEY, v FROM t", "other")
    )
    log.create("latest")
    log.write("latest", [("x", {"k": "x", "v": 1})])
    assert tables.ask("SELECT v FROM latest WHERE k = 'x'").rows == ((1,),)
    assert [table.name for table in tables.known()] == ["latest", "limits"]


def test_a_table_is_declared_until_its_topic_is_gone(log: Log, tables: Tables) -> None:
    tables.declare("CREATE TABLE mine (k STRING PRIMARY KEY, v INT) WITH (topic = 'own')")
    log.create("own")
    log.write("own", [("x", {"k": "x", "v": 1})])
    assert tables.ask("SELECT v FROM mine").rows == ((1,),)
    again = log.tables()
    try:
        assert [table.name for table in again.known()] == ["limits", "mine"]
        with Client(log.bootstrap) as client:
            client.delete_topics(["own"])
        again.follow()
        assert [table.name for table in again.known()] == ["limits"]
    finally:
        again.close()


def test_what_was_declared_outlives_its_copies(log: Log, tables: Tables) -> None:
    tables.declare("CREATE TABLE mine (k STRING PRIMARY KEY, v INT) WITH (topic = 'lasting')")
    log.create("lasting")
    log.write("lasting", [("x", {"k": "x", "v": 1})])
    tables.close()
    for copies in log.directory.glob("tables.sqlite*"):
        copies.unlink()
    again = log.tables()
    try:
        assert again.ask("SELECT v FROM mine").rows == ((1,),)
        again.forget("mine")
    finally:
        again.close()


def test_what_an_older_version_declared_among_its_copies_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "tables.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE declared (name TEXT PRIMARY KEY, statement TEXT NOT NULL)")
        connection.execute("INSERT INTO declared VALUES ('mine', 'CREATE TABLE mine (k STRING PRIMARY KEY)')")
        connection.commit()
    statements = Declarations.beside(path).statements()
    assert statements == {"mine": "CREATE TABLE mine (k STRING PRIMARY KEY)"}
    assert not path.exists()
    assert Declarations.beside(path).statements() == statements


@pytest.mark.parametrize("content", ["", "[]", '{"format": 1}'])
def test_a_file_of_declarations_that_is_broken_is_told(tmp_path: Path, content: str) -> None:
    (tmp_path / "tables.json").write_text(content)
    with pytest.raises(CorruptData, match="does not tell the declared tables"):
        Declarations.beside(tmp_path / "tables.sqlite")


def test_a_declared_table_is_dropped_and_its_topic_stays(log: Log, tables: Tables) -> None:
    definition = "CREATE TABLE mine (k STRING PRIMARY KEY, v INT) WITH (topic = 'kept')"
    tables.declare(definition)
    log.create("kept")
    log.write("kept", [("x", {"k": "x", "v": 1})])
    assert tables.forget("MINE") == "mine"
    with pytest.raises(NotFound, match="no table 'mine'"):
        tables.ask("SELECT v FROM mine")
    tables.declare(definition)
    assert tables.ask("SELECT v FROM mine").rows == ((1,),)
    with pytest.raises(Conflict, match="there by its pipelines"):
        tables.forget("limits")


def test_records_that_are_no_rows_are_counted(log: Log, tables: Tables) -> None:
    log.write("limits", [row("a", 1), ("a", b"?"), ("b", b"[]"), row("c", 2)])
    assert tables.ask("SELECT symbol FROM limits ORDER BY symbol").rows == (("a",), ("c",))
    assert tables.bad_records(tables.find("limits")) == 2


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT * FROM limit", "no table 'limit'"),
        ("SELECT nothing FROM limits", "unknown column 'nothing'"),
        ("SELECT no_such(symbol) FROM limits", "tables have no function NO_SUCH"),
        ("SELECT limits.missing FROM limits", "unknown column 'limits.missing'"),
        ("SELECT 1", "reads a table"),
        ("SELECT * FROM limits a, limits b, limits c, limits d, limits e", "more than 10000 rows"),
    ],
)
def test_what_cannot_be_answered_is_said(log: Log, tables: Tables, sql: str, message: str) -> None:
    log.write("limits", [row(str(number), number) for number in range(10)])
    with pytest.raises(HeadraceError, match=message):
        tables.ask(sql)


def test_a_mistyped_column_has_near_names(log: Log, tables: Tables) -> None:
    log.write("limits", [row("a", 1)])
    with pytest.raises(InvalidInput) as refused:
        tables.ask("SELECT limits.symbl FROM limits")
    assert refused.value.hint == "did you mean symbol?"
    assert "limits.symbol" in refused.value.valid


def test_an_endless_question_ends(log: Log, tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headrace.tables.question.SECONDS_MAX", 0.05)
    log.write("limits", [row(str(number), number) for number in range(100)])
    many = ", ".join(f"limits t{number}" for number in range(8))
    with pytest.raises(InvalidInput, match="takes longer"):
        tables.ask(f"SELECT count(*) FROM {many}")


def changed(tables: Tables, sql: str) -> int:
    (request,) = read_requests(sql)
    assert isinstance(request.operation, InsertValues | Update | Delete)
    return tables.change(request.operation)


def test_rows_are_changed_by_hand_and_seen_at_once(log: Log, tables: Tables) -> None:
    log.write("limits", [row("a", 1), row("b", 2, tags=["x"], since="2026-01-31T12:00:00Z")])
    values = "('c', 1 + 2, true, NULL, NULL), ('a', 9, false, '2026-02-01 00:00:00', '[\"y\"]')"
    assert changed(tables, f"INSERT INTO limits VALUES {values}") == 2
    assert changed(tables, "INSERT INTO limits (maximum, symbol) VALUES (4, 'd')") == 1
    assert changed(tables, "UPDATE limits SET maximum = maximum * 10, open = false WHERE symbol IN ('b', 'c')") == 2
    assert changed(tables, "DELETE FROM limits WHERE maximum = 4") == 1
    assert changed(tables, "DELETE FROM limits WHERE maximum = 4") == 0
    assert tables.ask("SELECT * FROM limits ORDER BY symbol").rows == (
        ("a", 9.0, False, "2026-02-01 00:00:00.000000", '["y"]'),
        ("b", 20.0, False, "2026-01-31 12:00:00.000000", '["x"]'),
        ("c", 30.0, False, None, None),
    )


def test_a_table_with_several_keys_is_changed_and_asked(log: Log, tables: Tables) -> None:
    tables.declare("CREATE TABLE pairs (a STRING, b INT, v INT, PRIMARY KEY (a, b))")
    log.create("pairs")
    log.write("pairs", [('["x","1"]', {"a": "x", "b": 1, "v": 1})])
    assert changed(tables, "INSERT INTO pairs VALUES ('x', 1, 5), ('x', 2, 6), ('y\"z', 1, 7)") == 3
    assert changed(tables, "UPDATE pairs SET v = v * 10 WHERE a = 'x' AND b = 2") == 1
    assert changed(tables, "DELETE FROM pairs WHERE b = 1 AND a <> 'x'") == 1
    assert tables.ask("SELECT * FROM pairs ORDER BY a, b").rows == (("x", 1, 5), ("x", 2, 60))
    assert tables.find("pairs").key == "a, b"
    for wrong, message in {
        "INSERT INTO pairs (a, v) VALUES ('x', 1)": "b, the key of pairs, is missing",
        "INSERT INTO pairs (a) VALUES ('x')": "b, the key of pairs, is missing",
        "INSERT INTO pairs VALUES ('x', NULL, 1)": "a row without b",
        "INSERT INTO pairs VALUES ('x\n', 1, 1)": "a control character",
        "UPDATE pairs SET b = 1 WHERE a = 'x'": "b is the key of pairs",
    }.items():
        with pytest.raises(InvalidInput, match=message):
            changed(tables, wrong)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("INSERT INTO limits VALUES ('a')", "1 values for 5 columns"),
        ("INSERT INTO limits (maximum) VALUES (1)", "symbol, the key of limits, is missing"),
        ("INSERT INTO limits (symbol, maximun) VALUES ('a', 1)", "no column 'maximun'"),
        ("INSERT INTO limits (symbol) VALUES (NULL)", "a row without symbol"),
        ("INSERT INTO limits (symbol, maximum) VALUES ('a', 'much')", "'much' is no DOUBLE"),
        ("INSERT INTO limits (symbol) VALUES (nobody)", "unknown column 'nobody'"),
        ("UPDATE limits SET symbol = 'x' WHERE maximum = 1", "is the key of limits"),
        ("DELETE FROM limits WHERE missing = 1", "unknown column 'missing'"),
        ("DELETE FROM nothing WHERE a = 1", "no table 'nothing'"),
    ],
)
def test_a_change_that_is_wrong_writes_nothing(log: Log, tables: Tables, sql: str, message: str) -> None:
    log.write("limits", [row("a", 1)])
    with pytest.raises(HeadraceError, match=message):
        changed(tables, sql)
    assert tables.ask("SELECT symbol FROM limits").rows == (("a",),)
