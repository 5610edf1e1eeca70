"""Every fault is told in words, with the marked text, and with what would be right."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from headrace.errors import InvalidSyntax
from headrace.graph.document import Document
from headrace.sql import parse

Read = Callable[[str], Document]

# statements, part of the message, the marked text, part of the hint or of the valid words
FAULTS = [
    # statements
    ("SELEKT 1", "unknown statement SELEKT", "SELEKT", "INSERT INTO … SELECT"),
    ("SELECT * FROM t", "no target", "SELECT", "INSERT INTO name"),
    ("CREATE TABLE x (drone STRING); INSERT INTO x SELECT drone FROM t", "x has no key", "x", "PRIMARY KEY"),
    ("CREATE TABLE x AS SELECT drone FROM t", "x has no key", "x", "PRIMARY KEY"),
    ("CREATE TABLE x (a INT, PRIMARY KEY (a)) WITH (connector = 'file')", "unknown option", "connector", "format"),
    ("CREATE TABLE x (a INT PRIMARY KEY); INSERT INTO o SELECT * FROM x", "those of a table", "o", "JOIN"),
    (
        "CREATE TABLE x (drone STRING PRIMARY KEY); INSERT INTO o SELECT * FROM x JOIN t USING (drone)",
        "a table stands on the right",
        "JOIN",
        "the stream first",
    ),
    (
        "CREATE TABLE x (drone STRING PRIMARY KEY); INSERT INTO o SELECT * FROM t FULL JOIN x USING (drone)",
        "FULL JOIN with a table",
        "FULL JOIN",
        "LEFT JOIN",
    ),
    (
        "CREATE TABLE x (drone STRING PRIMARY KEY); INSERT INTO o SELECT * FROM t JOIN x USING (drone) WITHIN 1m",
        "a table has no time",
        "JOIN",
        "leave the bound out",
    ),
    (
        "CREATE TABLE x (a TIMESTAMP PRIMARY KEY, WATERMARK FOR a AS a); INSERT INTO o SELECT * FROM t JOIN x ON ts=a",
        "a table has no watermark",
        "WATERMARK FOR a AS a",
        "",
    ),
    ("CREATE STREEM x", "CREATE STREEM", "STREEM", "did you mean STREAM?"),
    ("CREATE STREAM output (a INT)", "OUTPUT is a word of the language", "output", "`output` in backquotes"),
    (
        "INSERT INTO o SELECT count(*) AS n FROM t WINDOW TUMBLING(1m) GRACE PERIOD 5 SECONDS",
        "GRACE PERIOD is not supported",
        "GRACE",
        "WATERMARK FOR",
    ),
    ("INSERT INTO o SELECT TUMBLE_START(ts, 1) AS w FROM t", "unknown function", "TUMBLE_START", "name _window_start"),
    ("INSERT INTO o SELECT DISTINCT ON (drone) * FROM t", "DISTINCT ON is not", "ON", "ROW_NUMBER"),
    ("MERGE INTO o USING t ON true", "MERGE is not supported", "MERGE", "UPSERT INTO"),
    ("CREATE MATERIALIZED VIEW v AS SELECT * FROM t", "CREATE MATERIALIZED", "MATERIALIZED", "CREATE TABLE name AS"),
    ("INSERT INTO o SELECT ARRAY[1, 2] AS l FROM t", "ARRAY[…] is not supported", "ARRAY", "array(1, 2)"),
    (
        "INSERT INTO o SELECT ts AT TIME ZONE 'UTC' AS l FROM t",
        "AT TIME ZONE is not",
        "AT TIME ZONE",
        "from_utc_timestamp",
    ),
    ("INSERT INTO o SELECT drone -> 'k' AS l FROM t", "-> is not supported", "drone", "get_json_object"),
    ("UPDATE o SET alt = 1 FROM t WHERE true", "o is a stream", "o", "CREATE TABLE"),
    ("DELETE FROM o USING t WHERE true", "o is a stream", "o", "CREATE TABLE"),
    ("UPSERT INTO o SELECT * FROM t", "o is a stream", "o", "CREATE TABLE"),
    (
        "CREATE TABLE l (k STRING PRIMARY KEY, n INT); UPSERT INTO l SELECT k, n FROM t ON l.k = t.n",
        "k is compared with t.n and filled with k",
        "t.n",
        "select n AS k",
    ),
    (
        "CREATE TABLE l (k STRING PRIMARY KEY); UPSERT INTO l SELECT upper(k) AS k FROM t ON l.k = t.k",
        "k is compared with t.k and filled with upper(k)",
        "t.k",
        "select k AS k",
    ),
    (
        "CREATE TABLE l (drone STRING PRIMARY KEY); UPSERT INTO l SELECT * FROM t ON l.drone = t.alt",
        "drone is compared with t.alt and filled with drone",
        "t.alt",
        "select alt AS drone",
    ),
    (
        "INSERT INTO o SELECT count(*) AS n FROM t GROUP BY x.alt",
        "no stream and no column here is called 'x'",
        "x.alt",
        "dot",
    ),
    ("INSERT INTO o SELECT x.alt FROM t", "no stream and no column here is called 'x'", "x", "before a dot"),
    ("UPDATE x SET a = 1 WHERE b = 2", "no part of a pipeline", "UPDATE", "a stream behind FROM"),
    ("DELETE FROM x WHERE b = 2", "no part of a pipeline", "DELETE", "a stream behind FROM or USING"),
    ("INSERT INTO x VALUES (1)", "VALUES is no part of a pipeline", "INSERT", "on its own"),
    (
        "CREATE TABLE x (a STRING PRIMARY KEY); DELETE FROM x USING t WHERE x.a = t.drone AND t.ok",
        "which row of the table",
        "x.a = t.drone AND t.ok",
        "x.a = t.column",
    ),
    (
        "CREATE TABLE x (a STRING PRIMARY KEY, b INT); UPDATE x SET c = 1 FROM t WHERE x.a = t.drone",
        "unknown column 'c'",
        "c",
        "a b",
    ),
    ("EXPLAIN SELECT * FROM t", "EXPLAIN is no part of a pipeline", "EXPLAIN", "on its own"),
    ("START PIPELINE p", "START is no part of a pipeline", "START", "on its own"),
    (
        "PARTITION WITH (drone OF t) BEGIN INSERT INTO o SELECT count(*) AS n FROM timeless WINDOW LENGTH(5); END",
        "the key of these rows is not known",
        "WINDOW LENGTH(5)",
        "t",
    ),
    (
        "PARTITION WITH (drone OF t) BEGIN INSERT INTO o SELECT alt FROM t JOIN timeless b USING (alt) WITHIN 1m; END",
        "only single streams",
        "JOIN",
        "outside of the block",
    ),
    ("INSERT o SELECT * FROM t", "expected INTO", "o", ""),
    ("CREATE VIEW", "expected the name of a view but found the end", " ", ""),
    ("CREATE VIEW v SELECT * FROM t", "expected AS", "SELECT", ""),
    ("INSERT INTO o SELECT * FROM t; garbage", "unknown statement GARBAGE", "garbage", ""),
    # clauses
    ("INSERT INTO o SELECT t.alt FROM t JOIN timeless ON t.alt = timeless.alt", "nothing bounds", "JOIN", "WITHIN"),
    ("INSERT INTO o SELECT alt FROM t, timeless", "a cross join", ", timeless", "WITHIN"),
    ("INSERT INTO o SELECT t.alt FROM t JOIN t ON true WITHIN 1m", "the same name", "JOIN", "AS a JOIN"),
    (
        "INSERT INTO o SELECT t.alt FROM t ASOF JOIN timeless b USING (drone)",
        "have no event time",
        "ASOF JOIN",
        "WATERMARK FOR",
    ),
    ("INSERT INTO o SELECT a.alt FROM t a ASOF FULL JOIN t b USING (drone)", "only the left", "ASOF FULL JOIN", "LEFT"),
    (
        "INSERT INTO o SELECT a.alt FROM t a ASOF JOIN t b ON a.drone = b.drone AND a.ts > b.ts",
        "not later",
        "a.ts > b.ts",
        ">=",
    ),
    (
        "INSERT INTO o SELECT a.alt FROM t a ASOF JOIN t b ON a.drone = upper(b.drone)",
        "with =",
        "a.drone = upper(b.drone)",
        "",
    ),
    (
        "INSERT INTO o SELECT a.alt FROM t a ASOF JOIN t b USING (drone) RETENTION 1 DAY",
        "looks back",
        "ASOF JOIN",
        "WITHIN",
    ),
    (
        "INSERT INTO o SELECT a.alt FROM t a ASOF JOIN t b WINDOW TUMBLING(1m) USING (drone)",
        "no window",
        "WINDOW TUMBLING(1m)",
        "out",
    ),
    (
        "INSERT INTO o SELECT t.alt FROM t JOIN timeless b ON t.alt = b.alt AND ok = drone WITHIN 1m",
        "both sides",
        "ok = drone",
        "b",
    ),
    (
        "INSERT INTO o SELECT t.alt FROM t JOIN timeless b ON t.alt = b.alt AND what WITHIN 1m",
        "neither side",
        "what",
        "b",
    ),
    (
        "INSERT INTO o SELECT t.alt FROM t WINDOW TUMBLING(1s) JOIN timeless b ON t.alt = b.alt",
        "the same window",
        "WINDOW TUMBLING(1s)",
        "both",
    ),
    (
        "INSERT INTO o SELECT ok FROM t UNION SELECT ok FROM t UNION ALL SELECT ok FROM t",
        "UNION leaves out doubles of all parts",
        "SELECT",
        "FROM (",
    ),
    ("INSERT INTO o SELECT alt FROM t ORDER BY alt", "ORDER BY", "alt", ""),
    ("INSERT INTO o SELECT alt FROM t LIMIT 5", "no end", "SELECT", ""),
    ("INSERT INTO o SELECT DISTINCT alt FROM t", "the key 'alt' is DOUBLE", "o", "STRING"),
    ("INSERT INTO o SELECT DISTINCT drone, count(*) AS n FROM t GROUP BY drone", "rows that are changes", "o", ""),
    ("INSERT INTO o SELECT a FROM (SELECT a FROM t)", "unknown column 'a'", "a", "alt"),
    ("INSERT INTO o SELECT alt PRIMARY KEY, ok PRIMARY KEY FROM t", "a stream has one key", "ok", "concat"),
    ("INSERT INTO o SELECT alt + 1 PRIMARY KEY FROM t", "has no name", "alt + 1", "AS name"),
    ("CREATE STREAM p WITH (connector = 'preview') AS SELECT alt PRIMARY KEY FROM t", "rows of a topic", "alt", ""),
    ("CREATE STREAM p WITH (key = 'ok') AS SELECT alt PRIMARY KEY, ok FROM t", "in the options", "alt", ""),
    ("INSERT EXPIRED EVENTS INTO o SELECT * FROM t", "current rows only", "o", ""),
    ("INSERT INTO o SELECT * FROM t FOR SYSTEM_TIME AS OF ts", "tables keep no old versions", "t", ""),
    ("INSERT INTO o SELECT * FROM t QUALIFY ok", "QUALIFY can only bound ROW_NUMBER()", "ok", ""),
    (
        "INSERT INTO o SELECT drone, count(*) AS n FROM t GROUP BY drone EMIT CHANGES TIMEOUT 1m",
        "closes windows of event time",
        "EMIT CHANGES TIMEOUT 1m",
        "WINDOW",
    ),
    (
        "INSERT INTO o SELECT count(*) AS n FROM t WINDOW TUMBLING(1s) EMIT FINAL TIMEOUT 1m;"
        " INSERT INTO o SELECT count(*) AS n FROM t WINDOW TUMBLING(1s) EMIT FINAL TIMEOUT 2m",
        "after 1 minute and after 2 minutes",
        "EMIT FINAL TIMEOUT 2m",
        "IDLE AFTER",
    ),
    ("INSERT INTO o WITH x AS (SELECT * FROM t) SELECT * FROM y", "unknown stream 'y'", "y", ""),
    ("INSERT INTO o SELECT * FROM t WHERE alt IN (SELECT alt FROM t)", "a subquery", "alt IN (SELECT alt FROM t)", ""),
    (
        "INSERT INTO o SELECT alt - lead(alt) OVER (ORDER BY ts) AS x FROM t",
        "LEAD looks at what follows a row, and that is not there yet",
        "lead(alt) OVER (ORDER BY ts)",
        "LAG",
    ),
    (
        "INSERT INTO o SELECT ntile(4) OVER (ORDER BY ts) AS x FROM t",
        "NTILE needs the number of all rows",
        "ntile(4) OVER (ORDER BY ts)",
        "count(*) OVER",
    ),
    (
        "INSERT INTO o SELECT percent_rank() OVER (ORDER BY ts) AS x FROM t",
        "PERCENT_RANK needs the number of all rows",
        "percent_rank() OVER (ORDER BY ts)",
        "RANK()",
    ),
    (
        "INSERT INTO o SELECT nth_value(alt, 2) OVER (ORDER BY ts) AS x FROM t",
        "NTH_VALUE with an OVER window cannot run yet",
        "nth_value(alt, 2) OVER (ORDER BY ts)",
        "FIRST_VALUE",
    ),
    (
        "INSERT INTO o SELECT stddev(alt) OVER (ORDER BY ts) AS x FROM t",
        "STDDEV with an OVER window cannot run yet",
        "stddev(alt) OVER (ORDER BY ts)",
        "dense_rank",
    ),
    (
        "INSERT INTO o SELECT count(DISTINCT alt) OVER (ORDER BY ts) AS x FROM t",
        "DISTINCT cannot stand with OVER",
        "count(DISTINCT alt) OVER (ORDER BY ts)",
        "GROUP BY",
    ),
    (
        "INSERT INTO o SELECT first_value(alt) FILTER (WHERE ok) OVER (ORDER BY ts) AS x FROM t",
        "FILTER cannot stand with FIRST_VALUE",
        "first_value(alt) FILTER (WHERE ok) OVER (ORDER BY ts)",
        "IGNORE NULLS",
    ),
    (
        "INSERT INTO o SELECT lag(alt) OVER (ORDER BY ts ROWS 3 PRECEDING) AS x FROM t",
        "LAG looks at its own rows, and takes no frame",
        "OVER",
        "leave out",
    ),
    (
        "INSERT INTO o SELECT lag(alt, 1, 'none') OVER (ORDER BY ts) AS x FROM t",
        "'none' is no value of alt, which is DOUBLE",
        "lag(alt, 1, 'none') OVER (ORDER BY ts)",
        "",
    ),
    (
        "INSERT INTO o SELECT dense_rank() OVER (ORDER BY alt) AS x FROM t",
        "DENSE_RANK() without a bound goes by event time",
        "dense_rank() OVER (ORDER BY alt)",
        "the event time of the rows",
    ),
    (
        "INSERT INTO o SELECT sum(lag(alt) OVER (ORDER BY ts)) OVER (ORDER BY ts) AS x FROM t",
        "cannot stand inside of another",
        "sum(lag(alt) OVER (ORDER BY ts)) OVER (ORDER BY ts) AS x",
        "a query inside",
    ),
    (
        "INSERT INTO o SELECT sum(alt) OVER w AS x FROM t",
        "windows have no names",
        "sum(alt) OVER w AS x",
        "ORDER BY ts",
    ),
    (
        "INSERT INTO o SELECT * FROM t WHERE lag(alt) OVER (ORDER BY ts) > 3",
        "LAG(…) OVER (…) stands in the SELECT list only",
        "lag(alt) OVER (ORDER BY ts) > 3",
        "a query inside",
    ),
    (
        "INSERT INTO o SELECT lag(alt) OVER (ORDER BY ts) AS x FROM t QUALIFY row_number() OVER (ORDER BY alt) <= 3",
        "QUALIFY cannot stand beside OVER",
        "lag(alt) OVER (ORDER BY ts) AS x",
        "a query inside",
    ),
    (
        "INSERT INTO o SELECT sum(alt) OVER (ORDER BY ts ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING) AS x FROM t",
        "they end with the row itself",
        "OVER",
        "PRECEDING",
    ),
    (
        "INSERT INTO o SELECT sum(alt) OVER (ORDER BY ts ROWS BETWEEN 3 PRECEDING AND 3 FOLLOWING) AS x FROM t",
        "what follows a row is not there yet",
        "OVER",
        "PRECEDING",
    ),
    (
        "CREATE TABLE x (drone STRING PRIMARY KEY); INSERT INTO o SELECT * FROM (SELECT *, row_number()"
        " OVER (ORDER BY alt) AS n FROM t WHERE drone IN (SELECT drone FROM x)) AS y WHERE n <= 3",
        "a subquery cannot stand beside ROW_NUMBER()",
        "drone IN (SELECT drone FROM x)",
        "a query of its own",
    ),
    (
        "CREATE TABLE x (drone STRING PRIMARY KEY, v INT);"
        " INSERT INTO o SELECT (SELECT v FROM x WHERE v = t.alt) AS v FROM t",
        "could give several rows of x",
        "SELECT v FROM x WHERE v = t.alt",
        "x.drone = stream.column",
    ),
    (
        "CREATE TABLE x (drone STRING PRIMARY KEY); INSERT INTO o SELECT * FROM t WHERE alt > ALL (SELECT 1 FROM x)",
        "a subquery can only be",
        "alt > ALL (SELECT 1 FROM x)",
        "JOIN",
    ),
    (
        "INSERT INTO o SELECT t.alt FROM t SEMI JOIN timeless b ON t.alt = b.alt",
        "SEMI JOIN looks rows up",
        "SEMI JOIN",
        "",
    ),
    (
        "INSERT INTO o SELECT t.alt FROM t LEFT ANTI JOIN timeless b ON t.alt = b.alt",
        "ANTI JOIN looks",
        "LEFT ANTI JOIN",
        "",
    ),
    (
        "INSERT INTO o SELECT a.alt FROM t a WINDOW SESSION(10m) JOIN t b WINDOW SESSION(10m) ON a.alt = b.alt",
        "session windows cannot be joined yet",
        "WINDOW SESSION(10m)",
        "WITHIN",
    ),
    (
        "INSERT INTO o SELECT a.alt FROM t a WINDOW TUMBLING(PROCTIME(), 1m)"
        " JOIN t b WINDOW TUMBLING(PROCTIME(), 1m) ON a.alt = b.alt",
        "not by the clock",
        "WINDOW TUMBLING(PROCTIME(), 1m)",
        "PROCTIME() out",
    ),
    (
        "INSERT INTO o SELECT a.alt FROM t a WINDOW TUMBLING(alt, 1m)"
        " JOIN t b WINDOW TUMBLING(ts, 1m) ON a.alt = b.alt",
        "'alt' is not the event time",
        "alt",
        "ts",
    ),
    (
        "INSERT INTO o SELECT count(*) AS n FROM t GROUP BY CUBE (ok)",
        "GROUP BY CUBE is not supported",
        "CUBE",
        "UNION ALL",
    ),
    ("INSERT INTO o SELECT * FROM t TABLESAMPLE (10 PERCENT)", "TABLESAMPLE is not supported", "TABLESAMPLE", ""),
    ("INSERT INTO o SELECT * FROM t CROSS JOIN UNNEST(tags) AS x", "UNNEST is not supported", "UNNEST", "explode"),
    ("INSERT INTO o (alt) SELECT alt FROM t", "no list of columns", "alt", "AS"),
    ("CREATE STREAM IF NOT EXISTS x AS SELECT * FROM t", "IF NOT EXISTS is not supported", "IF", "once"),
    ("CREATE OR REPLACE VIEW x AS SELECT * FROM t", "CREATE OR REPLACE is not supported", "OR", "version"),
    (
        "PARTITION WITH (drone OF t) BEGIN INSERT INTO o SELECT count(*) AS n FROM timeless; END",
        "the key of these rows is not known",
        "SELECT count(*) AS n FROM timeless",
        "t",
    ),
    (
        "PARTITION WITH (drone OF t) BEGIN INSERT INTO o SELECT DISTINCT ok FROM t; END",
        "needs the key among its columns",
        "SELECT DISTINCT ok FROM t",
        "drone",
    ),
    ("INSERT INTO o SELECT * FROM PATTERN (EVERY e1=t)", "patterns", "PATTERN (EVERY e1=t)", ""),
    ("INSERT INTO o SELECT * FROM t MATCH_RECOGNIZE (PATTERN (x))", "patterns", "MATCH_RECOGNIZE (PATTERN (x))", ""),
    (
        "INSERT INTO o SELECT * FROM t OUTPUT SNAPSHOT EVERY 5 EVENTS",
        "goes by time",
        "OUTPUT SNAPSHOT EVERY 5 EVENTS",
        "LAST",
    ),
    (
        "INSERT INTO o SELECT count(*) AS n FROM t WINDOW SLIDING(1m, 5m)",
        "size must be",
        "WINDOW SLIDING(1m, 5m)",
        "",
    ),
    ("INSERT INTO o SELECT * FROM t OUTPUT LAST EVERY 0 EVENTS", "greater than 0", "OUTPUT LAST EVERY 0 EVENTS", ""),
    ("INSERT INTO o SELECT * FROM t WHERE ok WHERE ok", "a second time", "WHERE", ""),
    ("INSERT INTO o SELECT * FROM t EMIT SOMETIMES", "expected CHANGES or FINAL", "SOMETIMES", ""),
    ("INSERT INTO o SELECT * FROM t EMIT FINAL", "EMIT FINAL needs a window", "EMIT FINAL", ""),
    ("INSERT INTO o SELECT alt x y FROM t", "expected , or FROM", "y", ""),
    ("INSERT INTO o SELECT * FROM t SOMEHOW STRANGE", "expected WHERE or GROUP BY", "STRANGE", ""),
    # expressions
    ("INSERT INTO o SELECT alt, FROM t", "expected an expression but found 'FROM'", "FROM", ""),
    ("INSERT INTO o SELECT * FROM t WHERE alt >", "breaks off", " ", ""),
    ("INSERT INTO o SELECT * FROM t WHERE (alt > 1", "expected ) but found the end of the statement", " ", ""),
    ("INSERT INTO o SELECT * FROM t WHERE alt > AND ok", "cannot be read on from 'AND'", "AND", ""),
    ("INSERT INTO o SELECT upper(drone, alt) AS x FROM t", "has 2 arguments, and takes 1 at most", ")", ""),
    ("INSERT INTO o SELECT upper() AS x FROM t", "something is missing before ')'", ")", ""),
    ("INSERT INTO o SELECT upper(drone AS x FROM t", "expected ) but found 'AS'", "AS", ""),
    ("INSERT INTO o SELECT CASE WHEN ok THEN 1 AS x FROM t", "expected END but found 'AS'", "AS", ""),
    ("INSERT INTO o SELECT CAST(alt INT) AS x FROM t", "expected AS but found 'INT'", "INT", ""),
    ("INSERT INTO o SELECT CAST(alt AS STRNG) AS x FROM t", "unknown type 'STRNG'", "STRNG", "did you mean STRING"),
    ("INSERT INTO o SELECT * FROM t WHERE drone = 'abc", "never closed", "'", ""),
    ("INSERT INTO o SELECT * FROM t /* alt", "never closed", "/", ""),
    ("INSERT INTO o SELECT * FROM t WHERE alt > :limit", "a parameter", "alt > :limit", ""),
    (
        "INSERT INTO o SELECT * FROM t WHERE SET_HEADER('a', 'b') = 'b'",
        "SET_HEADER makes no value",
        "SET_HEADER",
        "alone",
    ),
    ("INSERT INTO o SELECT alt, SET_HEADER(drone, 'b') FROM t", "is a text", "SET_HEADER(drone, 'b')", "REMOVE_HEADER"),
    ("INSERT INTO o SELECT SET_HEADER('a', 'b') FROM t", "a value beside", "SET_HEADER('a', 'b')", "a column more"),
    ("INSERT INTO o SELECT alt, SET_HEADER('a', altt) FROM t", "unknown column 'altt'", "SET_HEADER('a', altt)", "alt"),
    (
        "INSERT INTO o SELECT split_index(drone, ',', 1) AS x FROM t",
        "unknown function",
        "split_index",
        "Spark calls it split_part, which counts from 1",
    ),
    ("INSERT INTO o SELECT abss(alt) AS x FROM t", "unknown function 'abss'", "abss", "did you mean abs"),
    ("INSERT INTO o SELECT " + "(" * 500 + "alt" + ")" * 500 + " AS x FROM t", "nested too deeply", "(", ""),
    # names
    ("INSERT INTO o SELECT * FROM tt", "unknown stream 'tt'", "tt", "did you mean t?"),
    ("CREATE STREAM a AS SELECT * FROM a", "unknown stream 'a'", "a", "what this statement makes"),
    ("INSERT INTO o SELECT * FROM t CREATE STREAM a", "or ; but found 'CREATE'", "CREATE", ""),
    (
        "INSERT INTO o SELECT t.alt FROM t JOIN t AS b ON t.alt = b.altt WITHIN 1m",
        "unknown column 'b.altt'",
        "b.altt",
        "did you mean alt?",
    ),
    ("INSERT INTO alerts SELECT * FROM t", "unknown stream 'alerts'", "alerts", "CREATE STREAM alerts"),
    ("INSERT INTO o SELECT * FROM v; CREATE VIEW v AS SELECT * FROM t", "unknown stream 'v'", "v", "in line 5"),
    ("CREATE VIEW t AS SELECT * FROM timeless", "'t' is defined twice", "t", ""),
    ("CREATE STREAM a AS SELECT * FROM t; INSERT INTO a SELECT * FROM t", "its own SELECT", "a", "two INSERT INTO"),
    ("CREATE VIEW v AS SELECT * FROM t", "nobody reads 'v'", "v", "INSERT INTO"),
    ("CREATE VIEW o_filter AS SELECT * FROM t; INSERT INTO o SELECT * FROM o_filter WHERE ok", "two nodes", "o", ""),
    ("INSERT INTO o SELECT * FROM o", "no columns", "o", "list them"),
    ("INSERT INTO o SELECT dron FROM t", "unknown column 'dron'", "dron", "did you mean drone?"),
    ("INSERT INTO o SELECT drone\nFROM t\nWHERE ok AND\n  altt > 1", "unknown column 'altt'", "altt", "alt"),
    ("INSERT INTO o SELECT x.alt, y.alt AS b FROM t x", "no stream and no column here is called 'y'", "y", "drone"),
    ("INSERT INTO o SELECT alt, alt FROM t", "comes out twice", "alt", "rename"),
    ("INSERT INTO o SELECT alt + 1 FROM t", "has no name", "alt + 1", "AS name"),
    # types
    ("INSERT INTO o SELECT ok + 1 AS x FROM t", "does not work with BOOLEAN", "ok", ""),
    ("INSERT INTO o SELECT * FROM t WHERE alt", "is DOUBLE, not BOOLEAN", "alt", ""),
    ("CREATE STREAM p (drone INT); INSERT INTO p SELECT drone FROM t", "is STRING, and the target wants INT", "p", ""),
    ("CREATE STREAM p (d INT); INSERT INTO p SELECT drone FROM t", "no column 'drone'; the SELECT", "p", "d"),
    ("CREATE STREAM p (a STRINGG); INSERT INTO o SELECT * FROM p", "unknown type 'STRINGG'", "STRINGG", "STRING"),
    ("CREATE STREAM p (a INT, A STRING)", "defined twice", "A", ""),
    # windows
    ("INSERT INTO o SELECT count(*) AS n FROM t EMIT FINAL", "EMIT FINAL needs a window", "EMIT FINAL", "EMIT CHANGES"),
    (
        "INSERT INTO o SELECT drone, row_number() OVER (ORDER BY alt) AS n FROM t",
        "without a bound",
        "row_number() OVER (ORDER BY alt)",
        "QUALIFY",
    ),
    (
        "INSERT INTO o SELECT * FROM (SELECT *, row_number() OVER (ORDER BY alt) AS n FROM t)",
        "without a bound",
        "row_number() OVER (ORDER BY alt)",
        "WHERE n <= 10",
    ),
    (
        "INSERT INTO o SELECT * FROM t QUALIFY row_number() OVER (ORDER BY alt + 1) <= 2",
        "only be ranked by columns",
        "alt + 1",
        "",
    ),
    (
        "INSERT INTO o SELECT * FROM t QUALIFY rank() OVER (ORDER BY alt) <= 2",
        "QUALIFY can only bound ROW_NUMBER()",
        "rank() OVER (ORDER BY alt) <= 2",
        "",
    ),
    ("INSERT INTO o SELECT * FROM t QUALIFY row_number() OVER (PARTITION BY drone) = 1", "needs ORDER BY", "OVER", ""),
    ("INSERT INTO o SELECT avg(alt) OVER () AS x FROM t", "OVER goes by event time", "OVER", "ORDER BY"),
    (
        "INSERT INTO o SELECT avg(alt) OVER (ORDER BY ts ROWS 3 PRECEDING) FROM t",
        "needs a name",
        "avg(alt) OVER (ORDER BY ts ROWS 3 PRECEDING)",
        "AS name",
    ),
    (
        "INSERT INTO o SELECT avg(alt) OVER (ORDER BY ts DESC ROWS 3 PRECEDING) AS x FROM t",
        "from the earliest row",
        "OVER",
        "",
    ),
    (
        "INSERT INTO o SELECT drone, avg(alt) OVER (ORDER BY ts ROWS 3 PRECEDING) AS x FROM t GROUP BY drone",
        "beside groups",
        "drone",
        "",
    ),
    ("INSERT INTO o SELECT drone FROM t GROUP BY drone", "GROUP BY without an aggregate", "drone", "count(*)"),
    ("INSERT INTO o SELECT drone, count(*) AS n FROM t", "drone is neither in GROUP BY", "drone", ""),
    ("INSERT INTO o SELECT drone FROM t HAVING ok", "ok is neither in GROUP BY", "ok", ""),
    ("INSERT INTO o SELECT * FROM t WHERE count(*) > 3", "cannot stand in WHERE", "count(*)", "HAVING"),
    (
        "INSERT INTO o SELECT count(*) AS n FROM t WINDOW TIME(10m)",
        "time windows cannot run",
        "WINDOW TIME(10m)",
        "sliding",
    ),
    ("INSERT INTO o SELECT avg(ok) AS n FROM t WINDOW('length', 5)", "ok", "avg(ok) AS n", ""),
    ("INSERT INTO o SELECT count(*) AS n FROM t WINDOW TUMBLIN(1s)", "unknown kind", "TUMBLIN", "tumbling"),
    ("INSERT INTO o SELECT count(*) AS n FROM t WINDOW TUMBLING(5 apples)", "is no duration", "5 apples", "10s"),
    ("INSERT INTO o SELECT count(*) AS n FROM t WINDOW TUMBLING(tss, 1s)", "unknown column 'tss'", "tss", "ts"),
    ("INSERT INTO o SELECT count(*) AS n FROM t WINDOW TUMBLING()", "expected a duration", ")", ""),
    ("INSERT INTO o SELECT count(*) AS n FROM HOP(TABLE t, DESCRIPTOR(ts), 1s)", "expected ,", ")", ""),
    (
        "INSERT INTO o SELECT count(*) AS n FROM timeless WINDOW TUMBLING(1s)",
        "no event time",
        "WINDOW TUMBLING(1s)",
        "WATERMARK",
    ),
    ("INSERT INTO o SELECT alt, count(*) AS n FROM t WINDOW TUMBLING(1s)", "alt is neither", "alt", "_window_start"),
    (
        "INSERT INTO o SELECT count(*) AS n FROM t GROUP BY dron WINDOW TUMBLING(1s)",
        "unknown column 'dron'",
        "dron",
        "drone",
    ),
    (
        "INSERT INTO o SELECT drone FROM t GROUP BY drone WINDOW TUMBLING(1s)",
        "nothing to compute",
        "WINDOW TUMBLING(1s)",
        "count",
    ),
    ("INSERT INTO o SELECT * FROM t WINDOW TUMBLING(1s)", "* cannot stand with a window", "*", ""),
    ("INSERT INTO o SELECT sum(alt) / 2 FROM t WINDOW TUMBLING(1s)", "needs a name", "sum(alt) / 2", "AS name"),
    (
        "INSERT INTO o SELECT sum(DISTINCT alt) AS n FROM t WINDOW TUMBLING(1s)",
        "DISTINCT",
        "alt",
        "collect_set",
    ),
    ("INSERT INTO o SELECT avg(altt) AS n FROM t WINDOW TUMBLING(1s)", "unknown column 'altt'", "altt", "alt"),
    ("INSERT INTO o SELECT count(*) AS n FROM t WINDOW TUMBLING(0s)", "no length", "WINDOW TUMBLING(0s)", ""),
    # options
    ("CREATE STREAM p WITH (topik = 'x'); INSERT INTO p SELECT * FROM t", "unknown option 'topik'", "topik", "topic"),
    (
        "CREATE STREAM p WITH ('latest.policy' = 'drop')",
        "unknown option 'latest.policy'",
        "'latest.policy'",
        "on_error",
    ),
    ("CREATE STREAM p WITH (start = 'latest'); INSERT INTO p SELECT * FROM t", "only written", "start", "partitions"),
    ("CREATE STREAM p (a INT) WITH (key = 'a'); INSERT INTO o SELECT * FROM p", "only read", "key", "start"),
    (
        "CREATE STREAM p WITH (format = 'xml'); INSERT INTO p SELECT * FROM t",
        "cannot be 'xml'",
        "format = 'xml'",
        "arrow",
    ),
    ("CREATE STREAM p WITH (key = 'x'); INSERT INTO p SELECT alt FROM t", "unknown column 'x'", "key = 'x'", "alt"),
    (
        "CREATE STREAM p WITH (partitions = 'many'); INSERT INTO p SELECT * FROM t",
        "partitions",
        "partitions = 'many'",
        "",
    ),
    ("CREATE STREAM p WITH (connector = 'kafka')", "unknown connector 'kafka'", "connector = 'kafka'", "generator"),
    ("CREATE STREAM p WITH (connector = 'filter')", "unknown connector 'filter'", "connector = 'filter'", "preview"),
    ("CREATE STREAM p WITH (connector = 'file'); INSERT INTO p SELECT * FROM t", "'path' is missing", "p", ""),
    ("CREATE STREAM p WITH (connector = 'generator'); INSERT INTO p SELECT * FROM t", "only be read", "p", ""),
    ("CREATE STREAM p WITH (connector = 'preview'); INSERT INTO o SELECT * FROM p", "only be written", "p", ""),
    ("CREATE STREAM p WITH (topic = 'a', topic = 'b')", "given twice", "topic", ""),
    ("CREATE STREAM p WITH (topic)", "expected =", ")", ""),
    ("CREATE STREAM p WITH (topic = x)", "expected a text in quotes", "x", ""),
    ("CREATE STREAM p WITH (topic = JSON 'x')", "this is no JSON", "'x'", ""),
    ("CREATE STREAM p WITH (rows = 10d)", "is no number", "10d", ""),
    (
        "CREATE STREAM p (a INT, WATERMARK FOR b AS b); INSERT INTO o SELECT a FROM p",
        "unknown column 'b'",
        "WATERMARK FOR b AS b",
        "a",
    ),
    (
        "CREATE STREAM p (a INT, WATERMARK FOR a AS a); INSERT INTO o SELECT a FROM p",
        "not TIMESTAMP",
        "WATERMARK FOR a AS a",
        "",
    ),
    ("CREATE STREAM p (a INT, WATERMARK FOR a AS b - 5 SECONDS)", "expected a", "b", ""),
    (
        "CREATE STREAM p (a TIMESTAMP, WATERMARK FOR a AS a IDLE AFTER '30' SECOND) "
        "WITH (connector = 'file', path = '/p'); INSERT INTO o SELECT a FROM p",
        "IDLE AFTER is for topics",
        "WATERMARK FOR a AS a IDLE AFTER '30' SECOND",
        "",
    ),
    ("CREATE STREAM p (a INT, WATERMARK FOR a AS a, WATERMARK FOR a AS a)", "one watermark", "WATERMARK", ""),
    ("CREATE STREAM p (a AS 1 + 1); INSERT INTO o SELECT * FROM p", "needs a type", "a AS 1 + 1", ""),
    (
        "CREATE STREAM p (a INT) WITH (connector = 'generator'); INSERT INTO o SELECT a FROM p",
        "are computed",
        "a INT",
        "a AS",
    ),
    (
        "CREATE STREAM p (a INT) WITH (schema = 'a INT'); INSERT INTO o SELECT a FROM p",
        "in the option 'schema'",
        "a INT",
        "",
    ),
    ("CREATE STREAM p (a INT) AS SELECT * FROM t", "come from the SELECT", "(", ""),
    # operator calls
    ("CREATE STREAM q AS SELECT * FROM filterr(TABLE t, condition => 'ok')", "unknown operator", "filterr", "filter"),
    (
        "CREATE STREAM q AS SELECT * FROM filter(TABLE t, condition => 'okk')",
        "unknown column 'okk'",
        "condition => 'okk'",
        "ok",
    ),
    (
        "CREATE STREAM q AS SELECT * FROM filter(TABLE t, cond => 'ok')",
        "unknown setting 'cond'",
        "cond => 'ok'",
        "condition",
    ),
    (
        "CREATE STREAM q AS SELECT alt FROM filter(TABLE t, condition => 'ok')",
        "stands alone",
        "filter(TABLE t, condition => 'ok')",
        "VIEW",
    ),
    (
        "CREATE STREAM q AS SELECT * FROM filter(TABLE t, condition => 'ok', condition => 'ok')",
        "given twice",
        "condition",
        "",
    ),
    ("CREATE STREAM q AS SELECT * FROM filter(condition => 'ok')", "'in' is not connected", "filter", ""),
]


@pytest.mark.parametrize(("sql", "message", "marked", "help_"), FAULTS, ids=lambda text: str(text)[:50])
def test_a_fault_is_told_with_its_place(read: Read, sql: str, message: str, marked: str, help_: str) -> None:
    with pytest.raises(InvalidSyntax) as caught:
        read(sql)
    error = caught.value
    assert message in error.message
    assert error.place is not None
    line = (error.place.text.splitlines()[error.place.line - 1] + " ")[error.place.column - 1 :]
    assert line[: error.place.length] == marked
    assert help_ in f"{error.hint} {' '.join(error.valid)}"


@pytest.mark.parametrize("sql", ["", "-- only a comment", ";;", "CREATE STREAM t (a INT)"])
def test_a_script_without_a_pipeline_is_refused(sql: str) -> None:
    with pytest.raises(InvalidSyntax, match="nothing to run"):
        parse(sql)


def test_a_script_has_a_limit() -> None:
    with pytest.raises(InvalidSyntax, match="at most 1000000"):
        parse(" " * 1_000_001)


def test_a_long_chain_of_operators_is_told_not_crashed(read: Read) -> None:
    with pytest.raises(InvalidSyntax):
        read(f"INSERT INTO o SELECT {'+'.join(['alt'] * 5_000)} AS x FROM t")


def test_the_message_shows_the_line_with_a_mark(read: Read) -> None:
    with pytest.raises(InvalidSyntax) as caught:
        read("INSERT INTO o\nSELECT drone FROM t\nWHERE altt > 1")
    assert str(caught.value) == (
        "unknown column 'altt' (line 7, column 7)\n"
        "WHERE altt > 1\n"
        "      ^^^^\n"
        "valid: drone, alt, ok, tags, ts\n"
        "hint: did you mean alt?"
    )
