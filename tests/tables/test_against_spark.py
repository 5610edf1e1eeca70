"""Whatever tables answer is what Spark answers, with its type; where tables fail for a row, Spark fails too."""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from tests.operators.columnar.test_against_spark import FIXED, VALUES, _Grower
from tests.operators.columnar.test_against_spark import SCHEMA as COLUMNS
from tests.operators.columnar.test_against_spark import as_told as told_plainly

from headrace.errors import HeadraceError, InvalidInput
from headrace.formats import ValueFormat
from headrace.graph.schema import Schema
from headrace.operators.arrow_types import arrow_schema
from headrace.tables.definition import Table
from headrace.tables.frames import Frame
from headrace.tables.question import Asking, Wanted, read_statement

SCHEMA = Schema.parse(f"{COLUMNS}, w DATE, x STRING, z DECIMAL(38,10)")
ARROW = arrow_schema(SCHEMA)
NUMBER_TEXTS = ["1", " 7 ", "-12", "+5", "2.5", "1e3", "", "abc", "2147483648", "-0", "١"]
TIME_TEXTS = [
    "2026-01-01", "2026-1-2", "2026-01-01 10:00", "2026-01-01T10:00:00.123456789Z", "2026-02-30", "2026-01-01 25:00:00",
    "2026-01-01 10:00:00+01:30", "2026", "2026-05", "2026-01-01 10:00:00 UTC", "2026-01-01 x", "true", " Y ",
]  # fmt: skip
CHOICES: dict[str, list[Any]] = {
    **VALUES,
    "w": [None, date(1970, 1, 1), date(2024, 2, 29), date(1, 1, 1), date(9999, 12, 31)],
    "x": [None, *NUMBER_TEXTS, *TIME_TEXTS],
    "z": [None, Decimal("0E-10"), Decimal("0.5"), Decimal("-12345678901234567890.0000000005"), Decimal("2.5")],
}
ROW_COUNT = 200
TYPES = ("TINYINT", "SMALLINT", "INT", "BIGINT", "DOUBLE", "DECIMAL(10,2)", "DECIMAL(38,0)", "STRING", "BOOLEAN",
         "TIMESTAMP", "DATE", "FLOAT")  # fmt: skip
CASTS = tuple(f"CAST({name} AS {type_})" for name in CHOICES for type_ in TYPES)
# Each for one text: of a column some value fails for almost every type.
TEXT_CASTS = tuple(f"CAST('{text}' AS {type_})" for text in (*NUMBER_TEXTS, *TIME_TEXTS) for type_ in TYPES)
MORE = (
    "abs(i)", "abs(y)", "abs(d)", "abs(m)", "round(d)", "round(d, 1)", "round(m, 1)", "round(z, 3)", "round(n)",
    "round(i)", "floor(d)", "floor(m)", "floor(i)", "ceil(d)", "ceil(n)", "ceiling(y)", "floor(z)", "sqrt(d)",
    "sqrt(c)", "greatest(i, j, b)", "least(i, j)", "greatest(d, e)", "least(d, e, 1.5)", "greatest(s, u)",
    "least(t, v)", "unix_millis(t)", "unix_seconds(t)", "t + INTERVAL 1 DAY", "t - INTERVAL '1.5' SECONDS",
    "t - INTERVAL '90' MINUTES",
    "t - INTERVAL 2 HOURS", "t > TIMESTAMP '2024-02-29 12:00:00'", "t > '2024-02-29 12:00:00'", "t = '1970-01-01'",
    "w = '2024-02-29'", "w < DATE '2024-03-01'", "t BETWEEN '1970-01-01' AND '2025-01-01'",
    "t IN ('1970-01-01', TIMESTAMP '1582-10-10')", "w IN ('2024-02-29')", "TIMESTAMP '2026-01-01 10:00:00.5'",
    "s = 'it''s'", "'it''s'", "'a\\\\b'", "'tab\\tnew\\nline'", "'say \\'x\\''", "s <=> NULL", "5L", "1.5D", "7BD",
    "length('it''s')", "current_timestamp() > t", "s LIKE 'A%'", "'x' || s", "i + CAST(y AS BIGINT)", "-7 % 3",
    "7 / 2", "2147483647 + 1", "1 / 0", "i / 0", "CAST(1.5 AS INT)", "CAST(-1.5e0 AS INT)", "CAST(2.5 AS DECIMAL(2,0))",
    "CASE WHEN w IS NULL THEN DATE '2026-01-01' ELSE w END", "coalesce(t, TIMESTAMP '2026-01-01')",
    "s LIKE 'a\\\\_b%'", "nullif(w, DATE '1970-01-01')", "1 = 1.0", "'a' < 'B'", "NOT f", "f = true", "w < t",
)  # fmt: skip
QUERIES = (
    "SELECT sum(i), sum(b), sum(y) FROM t WHERE i < 1000 AND b < 1000 AND b > -1000",
    "SELECT sum(m), avg(m), min(m), max(m), avg(n), sum(n), sum(z), min(z) FROM t",
    "SELECT min(d), max(d), min(s), max(s), min(t), max(w), min(f), max(f), min(b), max(y) FROM t",
    "SELECT avg(i), avg(c), avg(y) FROM t WHERE i < 1000 AND i > -1000",
    "SELECT count(*), count(i), count(DISTINCT d), count(DISTINCT s), count(DISTINCT m), count(DISTINCT t) FROM t",
    "SELECT sum(i), avg(d), min(s), count(*) FROM t WHERE false",
    "SELECT d, count(*) FROM t GROUP BY d ORDER BY d",
    "SELECT f, g, count(*), sum(j), avg(m) FROM t GROUP BY f, g ORDER BY f, g DESC",
    "SELECT abs(j) AS a, count(*) FROM t GROUP BY abs(j) HAVING abs(j) > 2 ORDER BY a",
    "SELECT (j + y) AS a, count(*) AS n FROM t WHERE y < 100 GROUP BY j + y ORDER BY 1 DESC, 2",
    "SELECT s, u, f FROM t ORDER BY s, u DESC, f, i, j, b, c, y, d, e, m, n, t, v, w, x, z",
    "SELECT d FROM t ORDER BY d DESC NULLS FIRST LIMIT 20",
    "SELECT e FROM t ORDER BY e NULLS LAST LIMIT 20 OFFSET 5",
    "SELECT DISTINCT d, f FROM t ORDER BY d, f",
    "SELECT a.j, b.y, count(*) FROM t a JOIN t b ON a.j = b.y GROUP BY a.j, b.y ORDER BY 1, 2",
    "SELECT a.d, count(*) FROM t a JOIN t b ON a.d = b.e GROUP BY a.d ORDER BY 1",
    "SELECT a.j, count(b.y) AS n, count(*) AS k FROM t a LEFT JOIN t b ON a.j = b.y AND b.f GROUP BY a.j ORDER BY 1",
    "SELECT a.j, b.y, count(*) FROM t a FULL JOIN t b ON a.j = b.y AND a.f GROUP BY 1, 2 ORDER BY 1, 2",
    "SELECT a.j, b.y, count(*) FROM t a RIGHT JOIN t b ON a.j = b.y GROUP BY a.j, b.y ORDER BY 1, 2",
    "SELECT j, count(*) FROM t a LEFT SEMI JOIN (SELECT y FROM t WHERE f) b ON a.j = b.y GROUP BY j ORDER BY j",
    "SELECT j, count(*) FROM t a LEFT ANTI JOIN (SELECT y FROM t WHERE f) b ON a.j = b.y GROUP BY j ORDER BY j",
    "SELECT count(*) FROM t a JOIN t b ON a.t < b.v WHERE a.f AND b.g",
    "SELECT count(*) FROM t WHERE j IN (SELECT y FROM t)",
    "SELECT count(*) FROM t WHERE j NOT IN (SELECT y FROM t)",
    "SELECT count(*) FROM t WHERE j NOT IN (SELECT y FROM t WHERE y IS NOT NULL)",
    "SELECT count(*) FROM t WHERE EXISTS (SELECT 1 FROM t WHERE i = 12345)",
    "SELECT count(*) FROM t WHERE c = (SELECT max(c) FROM t)",
    "WITH q AS (SELECT j, count(*) AS n FROM t GROUP BY j) SELECT q.j, q.n + 1 AS k FROM q ORDER BY q.j",
    "SELECT j FROM t UNION SELECT c FROM t ORDER BY j",
    "SELECT count(*) AS n FROM (SELECT j FROM t UNION ALL SELECT y FROM t) q",
    "SELECT j + 1 AS a, a * 2 AS b, b FROM t ORDER BY j, b LIMIT 3",
    "SELECT count(*) + sum(j) * 2 AS k, max(j) - min(j) FROM t",
    "SELECT year(t) AS a, count(*) FROM t GROUP BY a ORDER BY a",
)  # fmt: skip


def as_told(column: Any) -> list[Any]:
    """Times as numbers: Python has none beyond the year 9999."""
    return told_plainly(column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column)


def asked(sql: str, rows: pa.RecordBatch) -> Frame:
    table = Table("t", "t", ("i",), SCHEMA, ValueFormat("json"))

    def scan(wanted: Wanted) -> Iterable[pa.RecordBatch]:
        return [rows.slice(0, 0), rows.slice(0, 77), rows.slice(77)]

    return Asking(sql, lambda _: table, scan).query(read_statement(sql))


def columns_of(frame: Frame) -> list[Any]:
    return [as_told(column) for column in frame.rows.columns]


@pytest.mark.spark
def test_expressions_and_queries_are_those_of_spark(spark: SparkSession) -> None:
    seed = random.randrange(1 << 32)
    random_ = random.Random(seed)
    made = [{name: random_.choice(choices) for name, choices in CHOICES.items()} for _ in range(ROW_COUNT)]
    rows = pa.RecordBatch.from_pylist(made, ARROW)
    frame = spark.createDataFrame(pa.Table.from_batches([rows]), str(SCHEMA))
    frame.createOrReplaceTempView("t")
    grower = _Grower(seed)
    grown = [grower.any(depth) for depth in (1, 2) for _ in range(60)]
    ours: dict[str, Frame] = {}
    failing: list[str] = []
    refused: list[str] = []
    for text in dict.fromkeys((*FIXED, *CASTS, *TEXT_CASTS, *MORE, *grown)):
        try:
            ours[text] = asked(f"SELECT {text} AS c FROM t", rows)
        except InvalidInput as error:
            is_refused = any(
                word in str(error) for word in ("cannot compute", "tables have no", "do not know the escape")
            )
            (refused if is_refused else failing).append(text)
    theirs = spark.sql(f"SELECT {', '.join(f'{text} AS c{place}' for place, text in enumerate(ours))} FROM t").toArrow()
    for (text, found), wanted in zip(ours.items(), theirs.columns, strict=True):
        column = found.rows.column(0)
        is_plain = not pa.types.is_list(column.type) and not pa.types.is_null(column.type)
        assert not is_plain or column.type == wanted.type, f"seed {seed}: {text} is {column.type}, not {wanted.type}"
        for row, (one, other) in enumerate(zip(as_told(column), as_told(wanted), strict=True)):
            assert one == other, f"seed {seed}: {text} is {one!r}, not {other!r}, for {made[row]}"
    assert len(ours) > len(refused)
    for text in failing_each(spark, failing):
        pytest.fail(f"seed {seed}: Spark computes {text}")
    for sql in QUERIES:
        assert columns_of(asked(sql, rows)) == [as_told(column) for column in spark.sql(sql).toArrow().columns], sql


def failing_each(spark: SparkSession, failing: list[str]) -> Iterable[str]:
    """What does not fail in Spark, of a sample of what fails here."""
    for text in random.sample(failing, min(len(failing), 40)):
        try:
            spark.sql(f"SELECT {text} AS c FROM t").toArrow()
        except PySparkException:
            continue
        yield text


def test_all_queries_are_answered() -> None:
    rows = pa.RecordBatch.from_pylist([], ARROW)
    for sql in QUERIES:
        try:
            asked(sql, rows)
        except HeadraceError as error:
            pytest.fail(f"{sql}: {error}")
