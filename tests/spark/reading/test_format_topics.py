"""Every format through a real topic: written by one streaming query, read by one batch run."""

from __future__ import annotations

import json
from io import BytesIO
from typing import TYPE_CHECKING, Any

import fastavro
import pytest

from headrace.formats.framing import prefix
from headrace.registry import Schema

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

pytestmark = pytest.mark.spark

COLUMNS = "k STRING, n BIGINT, price DECIMAL(9,2), ts TIMESTAMP, tags ARRAY<STRING>, at STRUCT<x:DOUBLE,y:DOUBLE>"
PLAIN = "k STRING, n BIGINT, price DECIMAL(9,2), ts TIMESTAMP"
PROTO = (
    "syntax = 'proto3'; import 'google/protobuf/timestamp.proto'; message Other { bool no = 1; } "
    "message Mine { int64 n = 4; string k = 2; google.protobuf.Timestamp ts = 7; }"
)
PLAIN_NAMES = ("csv", "avro", "protobuf", "mine", "raw")
REGISTERED = ("avro-id", "protobuf-id", "json-id")


def value_of_another_version(stack: Stack, subject: str) -> bytes:
    """Written by somebody whose schema has one field that ours has, and one that it has not."""
    fields = [{"name": "n", "type": "int"}, {"name": "more", "type": "string"}]
    schema = {"type": "record", "name": "Row", "fields": fields}
    stack.engine.registry.set_level(subject, "NONE")
    entry = stack.engine.registry.register(subject, Schema("AVRO", json.dumps(schema)))
    stream = BytesIO(prefix(entry.id))
    stream.seek(0, 2)
    fastavro.schemaless_writer(stream, fastavro.parse_schema(schema, named_schemas={}), {"n": 99, "more": "x"})
    return stream.getvalue()


def test_rows_come_back_from_every_format_and_bad_records_are_kept(stack: Stack) -> None:
    rows: list[dict[str, Any]] = [
        {
            **{"k": f"k{n % 3}", "n": n, "price": n / 4, "ts": f"2026-01-01T00:00:{n:02d}.5Z"},
            **{"tags": ["a", str(n)] if n % 2 else None, "at": {"x": n + 0.5, "y": None} if n % 4 else None},
        }
        for n in range(40)
    ]
    source = stack.topic("formats", rows)
    names = {format_: stack.name(format_) for format_ in (*PLAIN_NAMES, *REGISTERED)}
    given = f"value_schema={json.dumps(PROTO)}"
    stack.run(
        stack.pipeline(
            f"""topic {source} schema="{COLUMNS}" as src ! to-topic {names["avro"]} format=avro key=k
            @src ! to-topic {names["protobuf"]} format=protobuf
            @src ! select k n price ts ! to-topic {names["csv"]} format=csv delimiter=";" key=k
            @src ! select k n ts ! to-topic {names["mine"]} format=protobuf value_message=Mine {given}
            @src ! filter "n < 3" ! select k ! to-topic {names["raw"]} format=raw
            @src ! to-topic {names["avro-id"]} format=avro key=k schema_registry=embedded
            @src ! to-topic {names["protobuf-id"]} format=protobuf schema_registry=embedded
            @src ! select k n ! to-topic {names["json-id"]} format=json schema_registry=embedded"""
        )
    )
    stack.produce(names["avro-id"], [value_of_another_version(stack, f"{names['avro-id']}-value"), b"\0\0\0\x7f\7"])
    assert sorted(stack.values(names["raw"])) == [b"k0", b"k1", b"k2"]
    for format_ in ("csv", "avro", "mine"):
        stack.produce(names[format_], [b"\xff\xff\xff"])

    read = {format_: stack.name(f"{format_}-read") for format_ in names}
    stack.engine.run_batch(
        stack.pipeline(
            f"""topic {names["avro"]} schema="{COLUMNS}" format=avro ! to-topic {read["avro"]}
            topic {names["protobuf"]} schema="{COLUMNS}" format=protobuf ! to-topic {read["protobuf"]}
            topic {names["csv"]} schema="{PLAIN}" format=csv delimiter=";" bad_rows=dead_letter dead_letter={source}-bad
             ! select n ts price ! to-topic {read["csv"]}
            topic {names["mine"]} schema="n BIGINT, ts TIMESTAMP" format=protobuf value_message=Mine {given}
             ! select n ts ! to-topic {read["mine"]}
            topic {names["raw"]} schema="value STRING" format=raw ! select "_offset AS at" ! to-topic {read["raw"]}
            topic {names["avro-id"]} schema="n BIGINT, k STRING" format=avro schema_registry=embedded
             ! to-topic {read["avro-id"]}
            topic {names["protobuf-id"]} schema="n BIGINT, at STRUCT<x:DOUBLE>" format=protobuf schema_registry=embedded
             ! to-topic {read["protobuf-id"]}
            topic {names["json-id"]} schema="n BIGINT, k STRING" format=json schema_registry=embedded
             ! to-topic {read["json-id"]}"""
        )
    )

    def found(format_: str) -> list[dict[str, object]]:
        return sorted(stack.rows(read[format_]), key=lambda row: int(row["n"]))

    expected = [{**row, "ts": f"2026-01-01T00:00:{row['n']:02d}.500Z"} for row in rows]
    assert found("avro") == expected
    # Protobuf has no null list.
    assert found("protobuf") == [{**row, "tags": row["tags"] or []} for row in expected]
    assert found("csv") == [{name: row[name] for name in ("n", "ts", "price")} for row in expected]
    assert found("mine") == [{name: row[name] for name in ("n", "ts")} for row in expected]
    assert sorted(row["at"] for row in stack.rows(read["raw"])) == [0, 1, 2]
    keyed = [{"n": row["n"], "k": row["k"]} for row in rows]
    assert found("json-id") == keyed
    assert found("avro-id") == [*keyed, {"n": 99, "k": None}]
    assert found("protobuf-id") == [
        {"n": row["n"], "at": None if row["at"] is None else {"x": row["at"]["x"]}} for row in rows
    ]
    assert stack.engine.registry.versions(f"{names['avro-id']}-value") == [1, 2]
    (letter,) = stack.rows(f"{source}-bad")
    assert letter["topic"] == names["csv"]
    assert letter["reason"]
