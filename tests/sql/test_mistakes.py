"""What people write who come from Flink, ksqlDB, Spark and PostgreSQL: the answer names place, cause and what to write.

Each script is checked as `headrace sql FILE` checks it: no server, no Spark, and nothing started.
"""

from __future__ import annotations

import pytest

from headrace.errors import HeadraceError, Place
from headrace.pipeline import Pipeline
from headrace.spark.planning.checks import validate_planned

HEAD = """\
CREATE STREAM t (k STRING, y INT, x DOUBLE, b BOOLEAN, l BIGINT, pos STRUCT<lat: DOUBLE, lon: DOUBLE>, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH (topic = 't');
CREATE STREAM u (k STRING, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (topic = 'u');
CREATE TABLE tab (k STRING PRIMARY KEY, name STRING) WITH (topic = 'tab');
"""
O = "CREATE STREAM o AS SELECT "  # noqa: E741

# Statement, the marked text, part of the message, part of the hint.
MISTAKES = [
    # Flink
    ("CREATE STREAM s (k STRING, ts TIMESTAMP(3))", "TIMESTAMP(3)", "unexpected '('", "TIMESTAMP without brackets"),
    (
        "CREATE STREAM s (k STRING) WITH (connector = 'kafka')",
        "connector = 'kafka'",
        "unknown connector 'kafka'",
        "leave it out",
    ),
    ("CREATE STREAM s (k STRING METADATA FROM 'key')", "STRING METADATA FROM 'key'", "METADATA", "_key"),
    ("CREATE TABLE s (k STRING, PRIMARY KEY (k) NOT ENFORCED)", "NOT", "NOT ENFORCED is not supported", "leave NOT"),
    ("CREATE STREAM s (a ROW<b INT>)", "ROW<b INT>", "unknown type 'ROW'", "STRUCT<"),
    (O + "TUMBLE_START(ts, INTERVAL '1' MINUTE) AS w FROM t", "TUMBLE_START", "unknown function", "_window_start"),
    (O + "proctime, k FROM t", "proctime", "unknown column 'proctime'", "current_timestamp()"),
    (
        O + "t.k, name FROM t JOIN tab FOR SYSTEM_TIME AS OF t.ts ON t.k = tab.k",
        "tab",
        "FOR SYSTEM_TIME AS OF cannot run",
        "leave it out",
    ),
    (O + "* FROM t, LATERAL TABLE(split(k))", "LATERAL", "LATERAL is not supported", "explode(array)"),
    ("EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT k FROM t; END", "EXECUTE", "EXECUTE is not", "one pipeline"),
    ("SET 'table.exec.state.ttl' = '1 h'", "SET", "SET is not supported", "WITH (…)"),
    ("USE CATALOG c", "USE", "USE is not supported", "one catalogue"),
    ("CREATE TEMPORARY VIEW v AS SELECT * FROM t", "TEMPORARY", "CREATE TEMPORARY is not", "CREATE VIEW"),
    ("INSERT OVERWRITE o SELECT * FROM t", "OVERWRITE", "INSERT OVERWRITE is not", "--truncate"),
    # ksqlDB
    ("CREATE STREAM s (k VARCHAR KEY, v INT)", "VARCHAR KEY", "unexpected 'KEY'", "PRIMARY KEY"),
    (
        "CREATE STREAM o WITH (kafka_topic = 'o') AS SELECT k FROM t",
        "kafka_topic",
        "unknown option 'kafka_topic'",
        "topic = '…'",
    ),
    (
        "CREATE STREAM o WITH (value_format = 'json') AS SELECT k FROM t",
        "value_format",
        "unknown option 'value_format'",
        "format = 'json'",
    ),
    (O + "ROWTIME, k FROM t", "ROWTIME", "unknown column 'ROWTIME'", "_event_time"),
    (O + "latest_by_offset(x) AS x, k FROM t GROUP BY k", "latest_by_offset", "unknown function", "max_by(column"),
    (O + "timestamptostring(l, 'yyyy') AS x FROM t", "timestamptostring", "unknown function", "date_format"),
    (
        O + "count(*) AS n FROM t WINDOW TUMBLING (SIZE 1 MINUTE, GRACE PERIOD 5 SECONDS)",
        ",",
        "GRACE is not supported",
        "WATERMARK FOR",
    ),
    (O + "t.k, u.x FROM t JOIN u ON t.k = u.k", "JOIN", "nothing bounds this join", "WITHIN 10 MINUTES"),
    (O + "pos->lat AS lat FROM t", "pos", "-> is not supported", "column.field"),
    (O + "k FROM t EMIT CHANGES LIMIT 5", "SELECT", "LIMIT cannot stand here", "on its own"),
    (O + "STRUCT(a := k) AS s FROM t", ":=", ":= is not supported", "named_struct"),
    ("PRINT t", "PRINT", "PRINT is not supported", "headrace consume"),
    ("TERMINATE q1", "TERMINATE", "TERMINATE is not supported", "STOP PIPELINE"),
    # PostgreSQL, and Materialize
    ("CREATE MATERIALIZED VIEW v AS SELECT k FROM t", "MATERIALIZED", "CREATE MATERIALIZED", "CREATE TABLE name AS"),
    ("CREATE SINK s FROM t", "SINK", "CREATE SINK is not supported", "CREATE STREAM name WITH"),
    ("CREATE INDEX i ON tab (k)", "INDEX", "CREATE INDEX is not supported", "PRIMARY KEY"),
    ("ALTER TABLE tab ADD COLUMN z INT", "ALTER", "ALTER is not supported", "each save is a version"),
    ("CREATE STREAM s (k SERIAL)", "SERIAL", "unknown type 'SERIAL'", "BIGINT"),
    ("CREATE STREAM s (k JSONB)", "JSONB", "unknown type 'JSONB'", "get_json_object"),
    ("CREATE STREAM s (k INT NOT NULL)", "INT NOT NULL", "unexpected 'NOT'", "IS NOT NULL"),
    ("CREATE STREAM output AS SELECT * FROM t", "output", "OUTPUT is a word of the language", "`output`"),
    (O + "DISTINCT ON (k) * FROM t", "ON", "DISTINCT ON is not supported", "ROW_NUMBER()"),
    (O + "ARRAY[1, 2] AS a FROM t", "ARRAY", "ARRAY[…] is not supported", "array(1, 2)"),
    (O + "ts AT TIME ZONE 'UTC' AS a FROM t", "AT TIME ZONE", "is not supported", "from_utc_timestamp"),
    (O + "k ->> 'a' AS a FROM t", "->>", "->> is not supported", "get_json_object"),
    (O + "EXTRACT(EPOCH FROM ts) AS a FROM t", "ts", "EXTRACT knows no EPOCH", "unix_seconds"),
    (O + "k FROM t WHERE k ~ '^a'", "~", "~ is not supported", "RLIKE"),
    (O + "k FROM t WHERE k SIMILAR TO 'a%'", "k", "SIMILAR TO is not supported", "RLIKE"),
    (O + "k FROM t FETCH FIRST 5 ROWS ONLY", "FETCH", "FETCH FIRST is not supported", "LIMIT 5"),
    (O + "k FROM t OFFSET 5", "OFFSET", "OFFSET is not supported", "no end"),
    (O + "k FROM t WHERE \"k\" = 'abc'", '"k"', "is a text, not the column 'k'", "`k`"),
    (O + '"k" AS name FROM t', '"k"', "is a text, not the column 'k'", "`k`"),
    (O + "k FROM t WHERE k = 'it's'", "'", "is never closed", "'it''s'"),
    # Spark
    ("MERGE INTO tab USING t ON tab.k = t.k WHEN MATCHED THEN DELETE", "MERGE", "MERGE is not", "UPSERT INTO"),
    (O + "k FROM t ORDER BY ts", "ts", "ORDER BY cannot sort it", "ROW_NUMBER()"),
    (O + "date_format(ts, 'YYYY-MM-DD') AS d FROM t", "'YYYY-MM-DD'", "'Y' is no letter", "yyyy-MM-dd"),
    (O + "date_trunc(ts, 'hour') AS h FROM t", "date_trunc", "no unit 'TS'", "the unit comes first"),
    (O + "pos.alt AS a FROM t", "alt", "pos has no field 'alt'", "did you mean lat?"),
    # everybody
    (O + "k + 1 AS a FROM t", "k", "does not work with STRING and INT", "CAST(text AS DOUBLE)"),
    (O + "k FROM t WHERE y = 'abc'", "y", "'abc' is no number", "CAST the other side"),
    (O + "k FROM t WHERE y IN ('a', 'b')", "y", "'a' is no number", "CAST the other side"),
    (O + "CASE WHEN b THEN 'a' ELSE 2 END AS a FROM t", "b", "'a' is no number", "CAST the other side"),
    (O + "k FROM t WHERE y = NULL", "y", "is never true", "y IS NULL"),
    (O + "k FROM t WHERE y", "y", "is INT, not BOOLEAN", "compare it"),
    (O + "k FROM t WHERE count(*) > 3", "count(*)", "an aggregate cannot stand in WHERE", "HAVING"),
    (O + "k, y, count(*) AS n FROM t GROUP BY k", "y", "neither in GROUP BY", "add it to GROUP BY"),
    (O + "lenght(k) AS n FROM t", "lenght", "unknown function 'lenght'", "did you mean length"),
]


@pytest.mark.parametrize(("sql", "marked", "message", "hint"), MISTAKES, ids=[one[0][-60:] for one in MISTAKES])
def test_a_mistake_is_answered(sql: str, marked: str, message: str, hint: str) -> None:
    error = _answer(HEAD + sql)
    assert message in error.message
    assert error.place is not None
    assert _marked(error.place) == marked
    assert hint in (error.hint or "")
    assert error.hint or error.valid, "the answer does not say what to write"


def _answer(sql: str) -> HeadraceError:
    with pytest.raises(HeadraceError) as caught:
        _check(sql)
    return caught.value


def _check(sql: str) -> None:
    pipeline = Pipeline.from_sql(sql, "p")
    validate_planned(pipeline.document(), pipeline.catalogue)


def _marked(place: Place) -> str:
    assert place.text is not None
    line = place.text.splitlines()[place.line - 1]
    return line[place.column - 1 : place.column - 1 + place.length]
