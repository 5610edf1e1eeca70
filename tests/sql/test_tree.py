"""The whole language: whatever tree there is, it is printed, and reading that gives the same tree."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings

from headrace.errors import InvalidSyntax
from headrace.sql.language import print_entries, read_entries
from headrace.sql.language import statement_tree as statements
from headrace.sql.language.testing import entries

LANGUAGE = """
CREATE STREAM trades (symbol STRING, price DOUBLE, volume INT, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND IDLE AFTER '30' SECOND)
  WITH (topic='trades', format='json', 'late.policy'='dead_letter', 'dead_letter.topic'='trades.bad');
CREATE TABLE limits (symbol STRING PRIMARY KEY, maximum DOUBLE) WITH (topic='limits', format='json');
CREATE TABLE pairs (a STRING, b STRING, n INT, PRIMARY KEY (a, b));
CREATE STREAM big AS SELECT symbol, price FROM trades WHERE price > 100;
CREATE TABLE stats AS SELECT symbol, count(*) AS n FROM trades GROUP BY symbol EMIT CHANGES;
CREATE FUNCTION taxed AS 'shop.tax:taxed'; CREATE FUNCTION t AS 'tax.py:t' LANGUAGE PYTHON;
CREATE TRIGGER beat AT EVERY 5 SECONDS;
CREATE TRIGGER once AT START;
CREATE TRIGGER often AT CRON '*/5 * * * *';
INSERT INTO alerts SELECT * FROM big;
INSERT ALL EVENTS INTO alerts SELECT * FROM big WINDOW('time', 5 min);
INSERT EXPIRED EVENTS INTO alerts SELECT * FROM big WINDOW('length', 5) AS b WHERE b.price > 1;
UPDATE limits SET maximum = u.m FROM u WHERE limits.symbol = u.symbol;
DELETE FROM limits USING d WHERE limits.symbol = d.symbol;
UPSERT INTO limits SELECT symbol, m AS maximum FROM s ON limits.symbol = s.symbol;
UPDATE limits SET maximum = maximum * 2 WHERE symbol = 'a'; DELETE FROM limits WHERE maximum > 5;
INSERT INTO limits VALUES ('a', 1 + 1), ('b', NULL); INSERT INTO limits (maximum, symbol) VALUES (5, 'c');
PARTITION WITH (symbol OF a, symbol OF b) BEGIN
  INSERT INTO x SELECT CASE WHEN price > 1 THEN 1 ELSE 2 END AS c FROM a;
  INSERT INTO y SELECT * FROM b;
  END;
SHOW STREAMS; SHOW TABLES; SHOW TOPICS; SHOW FUNCTIONS; SHOW PIPELINES; SHOW PARTITIONS x; SHOW SCHEMA x;
DESCRIBE x; DROP TABLE x;
EXPLAIN SELECT * FROM t; EXPLAIN PLAN INSERT INTO a SELECT * FROM b; EXPLAIN CHANGE PIPELINE p;
START PIPELINE p; STOP PIPELINE p; PAUSE PIPELINE p; RESUME PIPELINE p; DEPLOY PIPELINE p VERSION 3;
DEPLOY PIPELINE p; ROLLBACK PIPELINE p; ROLLBACK PIPELINE p TO VERSION 2;
SELECT count(*) AS n FROM t GROUP BY k WINDOW SLIDING(ts, 10m, 2m) EMIT FINAL TIMEOUT 30 SECONDS;
SELECT count(*) AS n FROM t WINDOW SESSION(30s, key) OUTPUT FIRST EVERY 5 EVENTS;
SELECT count(*) AS n FROM t WINDOW HOPPING (SIZE 30 SECONDS, ADVANCE BY 10 SECONDS) OUTPUT SNAPSHOT EVERY 5 SECONDS;
SELECT count(*) AS n FROM HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND) GROUP BY window_start;
SELECT count(*) AS n FROM CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '2' MINUTE, INTERVAL '10' MINUTE) AS c;
SELECT count(*) AS n FROM SESSION(TABLE t PARTITION BY user, DESCRIPTOR(ts), INTERVAL '5' MINUTE);
SELECT avg(price) AS p FROM t WINDOW('sort', 10, price, 'desc');
SELECT avg(price) AS p FROM t WINDOW('externalTime', ts, 5 sec);
SELECT avg(price) AS p FROM t WINDOW('lossyFrequent', 0.1, 0.01, symbol);
SELECT avg(price) AS p FROM t WINDOW('lossyFrequent', 0.1, symbol, venue);
SELECT avg(price) AS p FROM t WINDOW('expression', 'count() <= 20');
SELECT avg(price) AS p FROM t WINDOW CRON('*/5 * * * *');
SELECT avg(price) OVER (PARTITION BY symbol ORDER BY ts ROWS BETWEEN 5 PRECEDING AND CURRENT ROW) AS p FROM t;
SELECT avg(price) OVER (ORDER BY ts RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW) AS p FROM t;
SELECT avg(price) OVER (ROWS WINDOW BUFFER 100 ROWS PARTITION BY s ORDER BY ts EXPIRE AFTER 1 MINUTE INACTIVITY)
  AS p FROM t;
SELECT * FROM PATTERN (EVERY e1=tx[amount > 100] -> e2=tx[card = e1.card AND amount > e1.amount]{2,5}
  -> NOT refund[card = e1.card] FOR 10 SECONDS) WITHIN 10 MINUTES PARTITION BY card;
SELECT e1[0].price, e2[last].price, count(e2.x) AS n FROM SEQUENCE (e1=a -> e2=b+ -> e3=c?);
SELECT e1.x FROM PATTERN (EVERY (e1=a AND e2=b) -> (e3=c OR e4=d));
SELECT * FROM ticker MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES A.price AS a, LAST(B.price) AS b
  ONE ROW PER MATCH AFTER MATCH SKIP TO NEXT ROW PATTERN (A B+? (C|D) {-E-} F??) WITHIN INTERVAL '1' HOUR
  DEFINE B AS B.price < PREV(B.price), C AS C.price > 1) AS m WHERE m.a > 1;
SELECT * FROM t MATCH_RECOGNIZE (ALL ROWS PER MATCH PATTERN (^ PERMUTE(A, B) $) SUBSET U = (A, B));
SELECT * FROM a JOIN b ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '5' MINUTE;
SELECT * FROM a LEFT JOIN b WITHIN 5 MINUTES ON a.k = b.k;
SELECT * FROM a FULL OUTER JOIN b USING (k) WITHIN (5 minutes, 10 minutes);
SELECT * FROM a WINDOW TUMBLING(1m) JOIN b WINDOW TUMBLING(1m) ON a.k = b.k;
SELECT * FROM a JOIN b ON a.k = b.k RETENTION 7 DAYS;
SELECT * FROM o JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.c = r.c;
SELECT * FROM a ASOF LEFT JOIN b ON a.k = b.k AND a.ts >= b.ts;
SELECT * FROM a, b CROSS JOIN c;
PARTITION WITH (k OF a) BEGIN DEPLOY PIPELINE p VERSION 3 BEGIN LATEST; SELECT CASE WHEN x THEN 1 END AS y FROM a; END;
WITH x AS (SELECT * FROM a), y AS (SELECT * FROM x WHERE k > 1) SELECT * FROM x UNION ALL SELECT * FROM y
  UNION SELECT * FROM a  ORDER BY k DESC NULLS LAST LIMIT 10 EMIT CHANGES;
SELECT DISTINCT k FROM (SELECT * FROM a) AS d WHERE k IN (SELECT k FROM b) AND EXISTS (SELECT 1 FROM c)
  AND v > (SELECT max(v) FROM c WINDOW TUMBLING(1m));
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS r FROM a) WHERE r = 1;
SELECT k PRIMARY KEY, v AS w, HEADER('trace') AS trace, _offset FROM t QUALIFY row_number() OVER (ORDER BY v) <= 3;
"""


@given(entries)
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_tree_survives(entry: statements.Entry) -> None:
    printed = print_entries([entry])
    assert read_entries(printed)[1] == (entry,), printed


@pytest.mark.parametrize("text", re.split(r";\n(?=\S)", LANGUAGE.strip()))
def test_the_language(text: str) -> None:
    _, read = read_entries(text)
    printed = print_entries(read)
    assert read_entries(printed)[1] == read
    assert print_entries(read_entries(printed)[1]) == printed
    assert len(read) >= 1


def test_annotations_stand_above_their_statement() -> None:
    text = "-- @name a\n-- @metric rows counter\nSELECT * FROM t; -- @lost x\n-- @metric b\nSELECT * FROM u"
    _, (first, second) = read_entries(text)
    assert first.annotations == (statements.Annotation("name", "a"), statements.Annotation("metric", "rows counter"))
    assert second.annotations == (statements.Annotation("metric", "b"),)


FAULTS = [
    ("CREATE FUNCTION f AS 5", "where the function is, in quotes", "5"),
    ("CREATE FUNCTION f AS 'a:b' LANGUAGE JAVA", "expected PYTHON", "JAVA"),
    ("CREATE TRIGGER x AT TIMES", "expected EVERY or CRON or START", "TIMES"),
    ("CREATE TRIGGER x AT CRON 5", "a schedule in quotes", "5"),
    ("CREATE TABLE x (a INT, PRIMARY KEY (b))", "unknown column 'b'", "b"),
    ("INSERT SOME EVENTS INTO x SELECT * FROM t", "expected INTO", "SOME"),
    ("UPDATE x SET a 1", "expected =", "1"),
    ("UPDATE x SET a = 1 FROM b", "expected WHERE", " "),
    ("DELETE FROM x USING a", "expected WHERE", " "),
    ("PARTITION WITH (a OF b) BEGIN SELECT * FROM t;", "expected END", " "),
    ("PARTITION WITH (a OF b) BEGIN PARTITION WITH (c OF d) BEGIN END; END", "cannot stand in another", "PARTITION"),
    ("SHOW STREAM", "SHOW does not know 'STREAM'", "STREAM"),
    ("SHOW SCHEMA", "expected a name", " "),
    ("EXPLAIN", "expected a statement or PIPELINE", " "),
    ("START p", "expected PIPELINE", "p"),
    ("ROLLBACK PIPELINE p TO 3", "expected VERSION", "3"),
    ("START PIPELINE p VERSION 3", "expected ;", "VERSION"),
    ("SELECT * FROM a JOIN b", "expected ON or USING", " "),
    ("SELECT * FROM a NATURAL JOIN b", "NATURAL joins", "NATURAL"),
    ("SELECT * FROM (a JOIN b ON true)", "expected SELECT or WITH", "a"),
    ("SELECT * FROM (SELECT * FROM a", "never closed", "("),
    ("SELECT * FROM a EXCEPT SELECT * FROM b", "EXCEPT", "EXCEPT"),
    ("WITH RECURSIVE x AS (SELECT * FROM a) SELECT * FROM x", "RECURSIVE", "RECURSIVE"),
    ("SELECT * FROM a LIMIT many", "expected a number of rows", "many"),
    ("SELECT * FROM a WINDOW w AS (PARTITION BY x)", "named windows", "AS"),
    ("SELECT * FROM a WINDOW SLIDING(10m)", "the slide of the window", ")"),
    ("SELECT * FROM a WINDOW LENGTH(x)", "expected a number of rows", "x"),
    ("SELECT * FROM a WINDOW('externalTime', 5 sec)", "a time column", "5"),
    ("SELECT * FROM a WINDOW LEGNTH(5)", "unknown kind of window 'LEGNTH'", "LEGNTH"),
    ("SELECT * FROM PATTERN (a -> )", "an event such as e1=stream", ")"),
    ("SELECT * FROM PATTERN (a AND b OR c)", "AND and OR stand mixed", "OR"),
    ("SELECT * FROM PATTERN (a{5,2})", "wrong way round", "{"),
    ("SELECT * FROM PATTERN (a b)", "expected -> or AND or OR", "b"),
    ("SELECT * FROM PATTERN (a[x >])", "cannot be read on", "]"),
    ("SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A) DEFINE A price > 1)", "expected AS", "price"),
    ("SELECT * FROM t MATCH_RECOGNIZE (MEASURES A.x PATTERN (A))", "expected AS", "PATTERN"),
    ("SELECT avg(x) OVER (SORT BY y) AS z FROM t", "expected PARTITION BY or ORDER BY", "SORT BY"),
    ("SELECT avg(x) OVER (ROWS 5 BEFORE) AS z FROM t", "expected PRECEDING or FOLLOWING", "BEFORE"),
    ("SELECT * FROM t OUTPUT RARELY", "expected ALL or FIRST", "RARELY"),
    ("SELECT * FROM t OUTPUT FIRST 5 EVENTS", "expected EVERY", "5"),
    ("SELECT * FROM t EMIT FINAL TIMEOUT soon", "expected a duration", "soon"),
    ("SELECT * FROM t WHERE x IN (SELECT FROM b)", "expected an expression but found 'FROM'", "FROM"),
    ("DROP STREAM x", "DROP is for tables", "STREAM"),
    ("DROP TABLE", "expected the name of a table", " "),
    ("CREAT STREAM x", "unknown statement CREAT", "CREAT"),
]


@pytest.mark.parametrize(("sql", "message", "marked"), FAULTS, ids=lambda text: str(text)[:50])
def test_what_cannot_be_read_is_told_with_its_place(sql: str, message: str, marked: str) -> None:
    with pytest.raises(InvalidSyntax) as caught:
        read_entries(sql)
    error = caught.value
    assert message in error.message
    assert error.place is not None
    line = (error.place.text.splitlines()[error.place.line - 1] + " ")[error.place.column - 1 :]
    assert line[: error.place.length] == marked
