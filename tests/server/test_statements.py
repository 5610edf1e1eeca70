"""Statements that ask or steer, answered by the real service."""

from __future__ import annotations

import pytest

from headrace.errors import HeadraceError, InvalidSyntax, NotFound
from headrace.graph import Document
from headrace.server.service import Service
from headrace.server.statements import Statements
from headrace.sql import parse

SQL = """
CREATE STREAM telemetry (drone STRING, battery DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE STREAM low AS SELECT drone, battery FROM telemetry WHERE battery < {limit};
"""


def saved(service: Service, limit: int = 20, name: str = "drones") -> Document:
    document = parse(SQL.format(limit=limit), name)
    service.save(document, note="", author="")
    return document


def rows(service: Service, sql: str) -> list[list[str | int | float | bool | None]]:
    (view,) = Statements(service).run(sql)
    assert all(len(row) == len(view.columns) for row in view.rows)
    return view.rows


def test_what_is_there(service: Service) -> None:
    saved(service)
    saved(service, limit=10)
    assert rows(service, "SHOW PIPELINES") == [["drones", 2, 2, "stopped"]]
    assert sorted(map(str, rows(service, "SHOW STREAMS"))) == [
        "['low', 'drones', 'writes', 'low']",
        "['telemetry', 'drones', 'reads', 'telemetry']",
    ]
    assert rows(service, "SHOW TABLES") == []
    assert ["avg"] in rows(service, "SHOW FUNCTIONS")


@pytest.mark.parametrize("sql", ["DESCRIBE telemetry", "SHOW SCHEMA telemetry"])
def test_columns_of_a_stream(service: Service, sql: str) -> None:
    saved(service)
    found = rows(service, sql)
    assert found[:3] == [["drone", "STRING", None], ["battery", "DOUBLE", None], ["ts", "TIMESTAMP", "event time"]]
    assert ["_offset", "BIGINT", "not in *"] in found


def test_a_statement_is_explained_with_the_definitions_before_it(service: Service) -> None:
    declared, created, _ = SQL.format(limit=5).strip().split(";")
    created = created.replace("< 5", "< ${LIMIT:5}")
    explained = [line for (line,) in rows(service, f"{declared}; EXPLAIN {created}")]
    assert any(isinstance(line, str) and "battery < 5" in line for line in explained)
    assert "low: drone STRING, battery DOUBLE" in explained
    assert any(isinstance(line, str) and "filter at the reader" in line for line in explained)


@pytest.mark.parametrize(
    ("sql", "line", "column", "length"),
    [
        (
            "{declared};\nSHOW TABLES;\n-- it is wrong\nEXPLAIN CREATE STREAM x\n  AS SELECT dron FROM telemetry",
            5,
            13,
            4,
        ),
        ("{declared};\nSHOW TABLES; EXPLAIN PLAN CREATE STREAM x AS SELECT dron FROM telemetry", 2, 53, 4),
        ("EXPLAIN SELECT\n battry FROM telemetry", 2, 2, 6),
        ("SHOW TABLES; CREATE VIEW v AS SELECT 1 AS a, bat FROM telemetry; EXPLAIN SELECT a FROM v", 1, 46, 3),
    ],
)
def test_faults_of_what_is_explained_have_their_place_in_the_script(
    service: Service, sql: str, line: int, column: int, length: int
) -> None:
    saved(service)
    declared, *_ = SQL.format(limit=5).strip().split(";")
    with pytest.raises(InvalidSyntax) as caught:
        Statements(service).run(sql.format(declared=declared))
    place = caught.value.place
    assert place is not None
    assert (place.line, place.column, place.length) == (line, column, length)
    assert "SHOW TABLES" in place.text or place.text.startswith("EXPLAIN SELECT")


def test_a_select_is_explained_over_streams_of_saved_pipelines(service: Service) -> None:
    saved(service)
    explained = [line for (line,) in rows(service, "EXPLAIN SELECT drone FROM telemetry WHERE battery < 7")]
    assert any(isinstance(line, str) and "only rows that may fulfil battery < 7" in line for line in explained)


def test_an_expression_around_an_aggregate_is_explained_as_it_runs(service: Service) -> None:
    saved(service)
    asked = "SELECT drone, round(avg(battery), 1) AS b FROM telemetry GROUP BY drone WINDOW TUMBLING(10s)"
    explained = [str(line) for (line,) in rows(service, f"EXPLAIN {asked}")]
    assert any("lanes are by drone" in line and "select follows" in line for line in explained)
    assert not any("partial aggregation" in line or "hoisted" in line for line in explained)


def test_a_saved_pipeline_is_explained(service: Service) -> None:
    saved(service)
    assert rows(service, "EXPLAIN PIPELINE drones")


def test_several_statements_have_several_answers(service: Service) -> None:
    views = Statements(service).run("show pipelines; SHOW TABLES;")
    assert [view.statement for view in views] == ["SHOW PIPELINES", "SHOW TABLES"]


@pytest.mark.parametrize(
    ("sql", "message", "hint"),
    [
        (SQL.format(limit=1), "asks nothing", "EXPLAIN"),
        ("DESCRIBE telemetri", "no pipeline has a stream 'telemetri'", "telemetry"),
        ("EXPLAIN PIPELINE nothing", "nothing", ""),
        ("CREATE TABLE t (k STRING PRIMARY KEY); EXPLAIN SELECT k FROM t", "tables are asked at once", ""),
        ("EXPLAIN SELECT k FROM telemetri", "no table, view or stream 'telemetri'", "telemetry"),
        ("EXPLAIN PLAN PIPELINE drones", "Spark starts", "try again"),
        ("EXPLAIN CHANGE PIPELINE drones", "does not run", "what runs"),
        ("ROLLBACK PIPELINE drones", "no version before 1", ""),
        ("DEPLOY PIPELINE drones VERSION 9", "9", ""),
        ("PAUSE PIPELINE drones", "does not run", "START PIPELINE drones"),
        (";".join(["SHOW TABLES"] * 21), "at most 20", ""),
        ("SHOW TABLE", "SHOW does not know", "TABLES"),
    ],
)
def test_what_cannot_be_answered_is_told(service: Service, sql: str, message: str, hint: str) -> None:
    saved(service)
    with pytest.raises(HeadraceError) as caught:
        Statements(service).run(sql)
    assert message in caught.value.message
    assert hint in str(caught.value.hint)


def test_names_that_can_be_asked_are_told_without_the_steps_between_them(service: Service) -> None:
    windowed = "CREATE VIEW deep AS SELECT drone, count(*) AS n FROM telemetry GROUP BY drone WINDOW TUMBLING(1m)"
    service.save(
        parse(f"{SQL.format(limit=5)}; {windowed}; CREATE STREAM o AS SELECT n FROM deep", "p"), note="", author=""
    )
    with pytest.raises(NotFound) as caught:
        Statements(service).run("SELECT * FROM nobody")
    assert list(caught.value.valid) == ["deep", "low", "o", "telemetry"]


def test_tables_that_pipelines_have(service: Service) -> None:
    document = parse("CREATE STREAM t (k STRING, v INT); CREATE TABLE newest AS SELECT k PRIMARY KEY, v FROM t", "p")
    service.save(document, note="", author="")
    assert rows(service, "SHOW TABLES") == [["newest", "newest", "k"]]
    assert rows(service, "DESCRIBE newest") == [["k", "STRING", "key"], ["v", "INT", None]]


def test_a_table_that_several_statements_write_is_one(service: Service) -> None:
    table = "CREATE TABLE limits (k STRING PRIMARY KEY, v INT)"
    changes = (
        "UPSERT INTO limits SELECT k, v FROM t ON limits.k = t.k; UPDATE limits SET v = t.v FROM t WHERE limits.k = t.k"
    )
    service.save(parse(f"CREATE STREAM t (k STRING, v INT); {table}; {changes}", "p"), note="", author="")
    assert rows(service, "SHOW TABLES") == [["limits", "limits", "k"]]


@pytest.mark.parametrize("sql", ["SELECT * FROM nobody", "CREATE TABLE x (k STRING PRIMARY KEY); SELECT * FROM y"])
def test_a_table_that_is_not_there_is_told(service: Service, sql: str) -> None:
    with pytest.raises(NotFound, match="no table, view or stream"):
        rows(service, sql)
