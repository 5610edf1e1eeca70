"""What people write who come from Flink, ksqlDB, Spark or PostgreSQL, and what stands for it here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_LATE = (
    "how late rows may be stands in CREATE STREAM: WATERMARK FOR ts AS ts - INTERVAL '10' SECOND; "
    "'late.policy' says what becomes of later ones"
)
_ROW_COUNT = "a stream has no end; SELECT … LIMIT 5 on its own shows the first rows, ROW_NUMBER() keeps the top ones"
_REGULAR = "write text RLIKE 'expression', or text LIKE 'a%'"
_KEY = "write PRIMARY KEY behind the type of the column"
_TIME = "a TIMESTAMP has microseconds, in UTC: write TIMESTAMP without brackets and zone"
_LATERAL = "write explode(array) in the SELECT list, or a Python function: CREATE FUNCTION f AS 'module:name'"

# First words of statements.
STATEMENTS: Final = {
    "ALTER": "change the script and save it: each save is a version; `headrace pipeline` shows and starts them",
    "BEGIN": "leave it out: all statements of one script are one pipeline",
    "EXECUTE": "leave it out: all statements of one script are one pipeline",
    "MERGE": "write UPSERT INTO table SELECT … ON table.key = source.key, and DELETE FROM table USING source WHERE …",
    "PRINT": "write SELECT * FROM name, or `headrace consume TOPIC --follow`",
    "SET": "options stand in WITH (…) of CREATE STREAM; where a query begins says `--from earliest` or `--begin`",
    "TERMINATE": "write STOP PIPELINE name",
    "TRUNCATE": "`headrace sql --run --reset --truncate` empties the topics that a pipeline writes",
    "USE": "leave it out: there is one catalogue, and pipelines have names: -- @name orders",
}
# Words behind CREATE.
CREATED: Final = {
    "CATALOG": "leave it out: a stream or a table names its topic in WITH (topic = '…')",
    "DATABASE": "leave it out: a stream or a table names its topic in WITH (topic = '…')",
    "INDEX": "leave it out: a table is kept by its PRIMARY KEY",
    "MATERIALIZED": "write CREATE TABLE name AS SELECT key PRIMARY KEY, … GROUP BY key EMIT CHANGES",
    "SINK": "write CREATE STREAM name WITH (topic = '…') AS SELECT …",
    "SOURCE": "write CREATE STREAM name (columns) WITH (topic = '…')",
    "TEMP": "write CREATE VIEW: a view is a part of its script",
    "TEMPORARY": "write CREATE VIEW: a view is a part of its script",
}
# Words around the place where a statement cannot be read on; the one at fault is among them.
_WORDS: Final[dict[tuple[str, ...], str]] = {
    ("!~",): _REGULAR,
    ("@>",): "write array_contains(array, value)",
    ("DEFAULT",): "write coalesce(column, value) in the SELECT list",
    ("FETCH", "FIRST"): _ROW_COUNT,
    ("FETCH", "NEXT"): _ROW_COUNT,
    ("GRACE", "PERIOD"): _LATE,
    (",", "GRACE"): _LATE,
    ("INSERT", "OVERWRITE"): "write INSERT INTO; `--reset --truncate` empties the topic before a start",
    ("LATERAL",): _LATERAL,
    ("METADATA",): "records' own columns need no definition: _timestamp _key _partition _offset _headers",
    ("NOT", "ENFORCED"): "leave NOT ENFORCED out",
    ("OFFSET",): _ROW_COUNT,
    (",", "RETENTION"): "leave it out: state is kept until the watermark passes the end of its window",
    ("RETURNING",): "leave it out; SELECT … FROM the table shows its rows",
    ("VALUES",): "VALUES stands in INSERT INTO a table, on its own",
    ("~",): _REGULAR,
    ("~", "*"): "write lower(text) RLIKE 'expression'",
}
# What is written for a type; the first that is found in it.
_TYPES: Final = (
    (re.compile(r"\bTIMESTAMP(_LTZ|_NTZ)?\s*\(|\bTIMESTAMP_LTZ\b|\bTIME ZONE\b", re.IGNORECASE), _TIME),
    (re.compile(r"\bMETADATA\b", re.IGNORECASE), "leave it out: every stream has _timestamp _key _partition _offset"),
    (re.compile(r"\bKEY\b", re.IGNORECASE), _KEY),
    (re.compile(r"\bNOT NULL\b", re.IGNORECASE), "leave NOT NULL out; WHERE column IS NOT NULL keeps such rows"),
    (re.compile(r"\bHEADERS?\b", re.IGNORECASE), "headers need no definition: HEADER('name'), or _headers"),
    (re.compile(r"\bDEFAULT\b", re.IGNORECASE), "leave it out; coalesce(column, value) in the SELECT list"),
    (re.compile(r"^ROW\b", re.IGNORECASE), "write STRUCT<name TYPE, …>"),
    (
        re.compile(r"^JSONB?\b", re.IGNORECASE),
        "write STRING and get_json_object(text, '$.field'), or STRUCT<field TYPE>",
    ),
    (re.compile(r"^UUID\b", re.IGNORECASE), "write STRING"),
    (re.compile(r"^(SMALL|BIG)?SERIAL\b", re.IGNORECASE), "write BIGINT; the place of a record is _partition, _offset"),
)
# Options of WITH, in lower case.
OPTIONS: Final = {
    "kafka_topic": "write topic = '…'",
    "value_format": "write format = 'json'",
    "value.format": "write format = 'json'",
    "key_format": "leave it out: a key is text; PRIMARY KEY or key = 'column' names its column",
    "key.format": "leave it out: a key is text; PRIMARY KEY or key = 'column' names its column",
    "value_avro_schema_full_name": "write 'value.schema'",
    "timestamp": "write WATERMARK FOR ts AS ts - INTERVAL '5' SECOND among the columns",
    "timestamp_format": "write 'event.time.format'",
    "replicas": "leave it out: the broker is one; a Kafka cluster decides by itself",
    "properties.bootstrap.servers": "leave it out: `headrace up --broker kafka://host:port` names the cluster",
    "properties.group.id": "leave it out: offsets are kept by the pipeline's own commits",
    "scan.startup.mode": "leave it out: `--from earliest`, and `--begin latest` at a deploy, say where to begin",
    "connector": "leave it out: a table is a topic",
}


def pointer(before: Sequence[str], found: Sequence[str]) -> tuple[str, str] | None:
    """What is not known here and what to write instead, by the word before the place at fault and those behind it.

    Words are upper case.
    """
    here, at = [*before[-1:], *found], len(before[-1:])
    for start, end in ((at - 1, at + 1), (at, at + 2), (at, at + 1), (at - 1, at)):
        words = tuple(here[start:end]) if start >= 0 else ()
        if words in _WORDS:
            return " ".join(words).strip(", "), _WORDS[words]
    return None


def type_pointer(written: str) -> str | None:
    """What to write instead of a type that does not exist here."""
    return next((hint for pattern, hint in _TYPES if pattern.search(written)), None)
