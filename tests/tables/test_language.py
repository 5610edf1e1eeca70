"""Tables speak the language of pipelines: what is written is what is read, and a condition means the same in both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from tests.tables.test_tables import changed

from headrace.errors import HeadraceError, InvalidInput
from headrace.tables import Tables

if TYPE_CHECKING:
    from tests.tables.conftest import Log

DECLARED = (
    "CREATE TABLE pq (id INT PRIMARY KEY, ts TIMESTAMP, x INT, s STRING, m DECIMAL(20,4), d DOUBLE, f BOOLEAN, "
    "day DATE, b BIGINT, r FLOAT, tags ARRAY<STRING>) WITH (topic = 'pq')"
)


@pytest.fixture
def pq(log: Log, tables: Tables) -> Iterator[Tables]:
    """With two rows, a day apart."""
    tables.declare(DECLARED)
    log.create("pq")
    rows: list[dict[str, Any]] = [
        {
            "id": 1,
            "ts": "2026-01-01T10:00:00Z",
            "x": 7,
            "s": "ABC",
            "m": 1.25,
            "d": 0.5,
            "f": True,
            "day": "2026-01-01",
        },
        {"id": 2, "ts": "2026-01-02T10:00:00Z", "x": -7, "s": "abd", "m": None, "d": 2.5, "f": False, "day": None},
    ]
    log.write("pq", [(str(row["id"]), row) for row in rows])
    yield tables
    tables.forget("pq")
    from headrace.wire.client import Client

    with Client(log.bootstrap) as client:
        client.delete_topics(["pq"])


@pytest.mark.parametrize(
    ("condition", "ids"),
    [
        ("ts > TIMESTAMP '2026-01-01 12:00:00'", [2]),
        ("ts > '2026-01-01 12:00:00'", [2]),
        ("ts = TIMESTAMP '2026-01-01T10:00:00Z'", [1]),
        ("ts = TIMESTAMP '2026-01-01 11:00:00+01:00'", [1]),
        ("ts BETWEEN '2026-01-01' AND '2026-01-02'", [1]),
        ("ts IN ('2026-01-02 10:00:00', TIMESTAMP '2026-01-03')", [2]),
        ("ts + INTERVAL 1 DAY > TIMESTAMP '2026-01-03'", [2]),
        ("ts < current_timestamp() - INTERVAL '200' WEEKS", []),
        ("day = DATE '2026-01-01'", [1]),
        ("day < '2027-01-01'", [1]),
        ("s LIKE 'a%'", [2]),
        ("s = 'ABC'", [1]),
        ("s || '!' = 'ABC!'", [1]),
        ("x % 3 = -1", [2]),
        ("mod(x, 3) = 1", [1]),
        ("x / 2 = 3.5", [1]),
        ("CAST(x / 2 AS INT) = -3", [2]),
        ("m = 1.25", [1]),
        ("m IS NULL", [2]),
        ("f", [1]),
        ("NOT f", [2]),
        ("id = 1", [1]),
        ("1 = id AND x > 0", [1]),
        ("id = 1 OR id = 2", [1, 2]),
        ("CAST(s AS STRING) IN (SELECT s FROM pq WHERE f)", [1]),
        ("EXISTS (SELECT 1 FROM pq WHERE id = 9)", []),
        ("abs(x) = 7 AND round(d, 0) = 3e0", [2]),
    ],
)
def test_a_condition_means_what_it_means_in_a_pipeline(pq: Tables, condition: str, ids: list[int]) -> None:
    assert [row[0] for row in pq.ask(f"SELECT id FROM pq WHERE {condition} ORDER BY id").rows] == ids


def test_a_deletion_by_time_spares_the_rest(pq: Tables) -> None:
    assert changed(pq, "DELETE FROM pq WHERE ts > TIMESTAMP '2026-01-01 12:00:00'") == 1
    assert pq.ask("SELECT id FROM pq").rows == ((1,),)


def test_what_is_written_is_read(pq: Tables) -> None:
    written = (
        "25, TIMESTAMP '2026-01-01 10:00:00.123456', -2147483648, 'it''s \\\\ \"ä\"\\n', 1234567890123456.7891, 0.1, "
        "true, DATE '2026-02-28', 9223372036854775807, 1.5, '[\"a\", null]'"
    )
    assert changed(pq, f"INSERT INTO pq VALUES ({written})") == 1
    assert pq.ask("SELECT * FROM pq WHERE id = 25").rows == (
        (
            25, "2026-01-01 10:00:00.123456", -2147483648, "it's \\ \"ä\"\n", "1234567890123456.7891", 0.1, True,
            "2026-02-28", 9223372036854775807, 1.5, '["a", null]',
        ),
    )  # fmt: skip
    assert changed(pq, "UPDATE pq SET m = m + 0.0001, x = x + 1, ts = '2026-03-01' WHERE id = 25") == 1
    found = pq.ask("SELECT m, x, ts, s FROM pq WHERE id = 25").rows
    assert found == (("1234567890123456.7892", -2147483647, "2026-03-01 00:00:00.000000", 'it\'s \\ "ä"\n'),)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("INSERT INTO pq (id, x) VALUES (3, 2147483648)", "2147483648 is no INT"),
        ("INSERT INTO pq (id, x) VALUES (3, 1.5)", "1.5 is no INT"),
        ("INSERT INTO pq (id, x) VALUES (3, 1.5e0)", "1.5 is no INT"),
        ("INSERT INTO pq (id, x) VALUES (3, '5')", "'5' is no INT"),
        ("INSERT INTO pq (id, ts) VALUES (3, 'garbage')", "'garbage' is no TIMESTAMP"),
        ("INSERT INTO pq (id, ts) VALUES (3, '2026-02-30')", "'2026-02-30' is no TIMESTAMP"),
        ("INSERT INTO pq (id, ts) VALUES (3, 5)", "5 is no TIMESTAMP"),
        ("INSERT INTO pq (id, m) VALUES (3, 1.23456789)", "1.23456789 is no DECIMAL"),
        ("INSERT INTO pq (id, m) VALUES (3, 12345678901234567.5)", "is no DECIMAL"),
        ("INSERT INTO pq (id, b) VALUES (3, 9223372036854775808)", "is no BIGINT"),
        ("INSERT INTO pq (id, d) VALUES (3, 9007199254740993)", "is no DOUBLE"),
        ("INSERT INTO pq (id, f) VALUES (3, 1)", "1 is no BOOLEAN"),
        ("INSERT INTO pq (id, tags) VALUES (3, '{}')", "is no ARRAY<STRING>"),
        ("INSERT INTO pq (id, x) VALUES (3, CAST('abc' AS INT))", "'abc' is no INT"),
        ("INSERT INTO pq (id, x) VALUES (3, 2147483647 + 1)", "does not fit"),
        ("UPDATE pq SET x = 3000000000 WHERE id = 1", "3000000000 is no INT"),
        ("UPDATE pq SET x = x * 1000000000 WHERE id = 1", "does not fit"),
        ("UPDATE pq SET x = 1 / 0 WHERE id = 1", "division by zero"),
        ("DELETE FROM pq WHERE CAST(s AS INT) = 1", "'ABC' is no INT"),
        ("DELETE FROM pq WHERE x", "must be BOOLEAN"),
        ("DELETE FROM pq WHERE s = 1", "STRING"),
    ],
)
def test_what_would_be_lost_or_altered_is_refused(pq: Tables, sql: str, message: str) -> None:
    before = pq.ask("SELECT * FROM pq ORDER BY id").rows
    with pytest.raises(InvalidInput, match=message):
        changed(pq, sql)
    assert pq.ask("SELECT * FROM pq ORDER BY id").rows == before


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT s, count(*) FROM pq", "'s' stands beside aggregates"),
        ("SELECT id, s FROM pq GROUP BY id", "'s' stands beside aggregates"),
        ("SELECT CAST(s AS INT) FROM pq", "'ABC' is no INT"),
        ("SELECT x / (x - x) FROM pq", "division by zero"),
        ("SELECT stddev(x) FROM pq", "tables have no function STDDEV"),
        ("SELECT datetime('now') FROM pq", "tables have no function DATETIME"),
        ("SELECT row_number() OVER (ORDER BY id) FROM pq", "tables have no function (OVER|ROW_NUMBER)"),
        ("SELECT ifnull(x, 'a') FROM pq", "tables cannot compute"),
        ("SELECT a.id FROM pq a JOIN pq b ON a.id = b.id WHERE id = 1", "'id' is ambiguous"),
        ("SELECT b.id FROM pq a", "unknown column 'b.id'"),
        ("SELECT id FROM pq WHERE s ILIKE 'a%'", "ILike"),
        ("SELECT id FROM pq WHERE s REGEXP 'a'", "Regexp"),
        ("SELECT id FROM pq WHERE s = '\\d'", "escape"),
        ("SELECT sum(x) FROM pq WHERE sum(x) > 1", "an aggregate may stand in"),
        ("SELECT max(tags) FROM pq", "of ARRAY<STRING>"),
    ],
)
def test_what_only_spark_computes_is_refused_by_name(pq: Tables, sql: str, message: str) -> None:
    with pytest.raises(HeadraceError, match=message):
        pq.ask(sql)


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT m FROM pq ORDER BY m", [(None,), ("1.2500",)]),
        ("SELECT m FROM pq ORDER BY m DESC", [("1.2500",), (None,)]),
        ("SELECT m FROM pq ORDER BY m NULLS LAST", [("1.2500",), (None,)]),
        ("SELECT 7 / 2, 7 % -3, -7 % 3, 1 / 4e0 FROM pq LIMIT 1", [(3.5, 1, -1, 0.25)]),
        ("SELECT sum(x), avg(x), avg(m), sum(m), min(s), max(ts), count(m), count(DISTINCT f) FROM pq",
         [(0, 0.0, "1.25000000", "1.2500", "ABC", "2026-01-02 10:00:00.000000", 1, 2)]),
        ("SELECT sum(x), count(*) FROM pq WHERE id > 5", [(None, 0)]),
        ("SELECT abs(x) AS a, count(*) AS n FROM pq GROUP BY abs(x) HAVING abs(x) > 2 ORDER BY n", [(7, 2)]),
        ("SELECT (x + id) FROM pq GROUP BY id + 0, x + id ORDER BY 1", [(-5,), (8,)]),
        ("SELECT a.id, b.id FROM pq a LEFT JOIN pq b ON a.id = b.id + 1 ORDER BY a.id", [(1, None), (2, 1)]),
        ("SELECT a.id, b.id FROM pq a FULL JOIN pq b ON a.id = b.id + 1 ORDER BY 1, 2", [(None, 2), (1, None), (2, 1)]),
        ("SELECT a.id FROM pq a LEFT ANTI JOIN pq b ON a.id = b.id + 1", [(1,)]),
        ("SELECT a.id FROM pq a JOIN pq b ON a.x > b.x", [(1,)]),
        ("SELECT id AS n FROM pq UNION SELECT CAST(1 AS BIGINT) FROM pq ORDER BY n", [(1,), (2,)]),
        ("SELECT n + 1 AS k FROM (SELECT id * 2 AS n FROM pq) q WHERE n > 2", [(5,)]),
        ("SELECT DISTINCT abs(x) FROM pq", [(7,)]),
        ("SELECT id FROM pq ORDER BY id LIMIT 1 OFFSET 1", [(2,)]),
        ("SELECT x + 1 AS y, y * 2 AS z FROM pq WHERE id = 1", [(8, 16)]),
        ("SELECT count(*) FROM pq a, pq b", [(4,)]),
    ],
)  # fmt: skip
def test_answers_are_those_of_spark(pq: Tables, sql: str, rows: list[tuple[Any, ...]]) -> None:
    assert list(pq.ask(sql).rows) == rows


def test_a_row_under_another_key_is_found_and_deleted(log: Log, pq: Tables) -> None:
    log.write("pq", [("own key", {"id": 30, "x": 1}), ("30", {"id": 31, "x": 2})])
    assert pq.ask("SELECT x FROM pq WHERE id = 30").rows == ((1,),)
    assert changed(pq, "DELETE FROM pq WHERE id = 30") == 1
    assert pq.ask("SELECT id FROM pq WHERE id >= 30").rows == ((31,),)
