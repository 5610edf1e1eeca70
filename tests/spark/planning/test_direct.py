"""Rows that never pass through Spark's plan come out just as those that do."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headrace.errors import JobFailed
from headrace.graph.text import parse_text
from headrace.graph.validation import validate
from headrace.operators import Catalogue
from headrace.spark.compiling import compilation as compiling
from headrace.spark.jobs.failures import explain
from headrace.spark.planning.direct import direct_query
from headrace.spark.planning.queries import plan_queries

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

SCHEMA = "k STRING, n BIGINT, x DOUBLE, ok BOOLEAN, at TIMESTAMP"

COMPUTED = (
    "id", '"n * 0.908 AS part"', '"part * 2 AS twice"', '"7 - n AS left"', '"x / 3 AS third"',
    "\"CASE WHEN ok THEN upper(k) ELSE k || '-' END AS named\"", "\"date_format(at, 'yyyy-MM-dd HH:mm') AS minute\"",
    "\"get(split(concat(k, '/', k), '/'), 1) AS second\"",
)  # fmt: skip


def is_direct(text: str) -> bool:
    catalogue = Catalogue()
    validated = validate(parse_text(f'topic t schema="{SCHEMA}" {text}', catalogue, name="p"), catalogue)
    (plan,) = plan_queries(validated, catalogue)
    return direct_query(plan, validated.schemas[plan.source.id], None, catalogue) is not None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("! to-topic out key=k", True),
        ('! filter "n < 3 AND (ok OR x IS NULL)" ! to-topic out', True),
        ('! filter "n < 3" ! select "x AS y" n ! filter "y > 1" ! preview', True),
        ("! to-topic out format=arrow", True),
        ("! to-topic out format=avro key=n", True),
        ("! filter \"upper(k) = 'A'\" ! preview", True),
        ('! filter "n < 3 AND length(k) = 1" ! preview', True),
        ('! select "n + 1 AS m" "m * 0.5 AS half" ! filter "half > 1" ! preview', True),
        ('! select "split(k, \'/\') AS parts" ! select "parts[0] AS first" ! to-topic out key=first', True),
        ("! select \"split(k, '/') AS parts\" ! to-topic out format=arrow", False),
        ('! select "initcap(k) AS m" ! preview', False),
        ('! filter "n < 3 AND initcap(k) = k" ! preview', False),
        ('! select "NULL AS m" ! preview', False),
        ("! to-topic out key=x", False),
        ('! to-table out key="k, n"', True),
        ("! to-table out key=k mode=delete", True),
        ('! filter "_headers IS NULL" ! to-topic out', False),
    ],
)
def test_only_what_arrow_does_as_spark_does_is_direct(text: str, expected: bool) -> None:
    assert is_direct(text) is expected


def rows_of(seed: int) -> list[object]:
    random_ = random.Random(seed)
    rows: list[object] = []
    for number in range(400):
        row: dict[str, Any] = {"k": f"k{number % 7}", "n": random_.randrange(-5, 5), "id": number}
        row |= {"x": random_.choice([None, 0.5, -2.0, 1e9])} if number % 3 else {}
        row |= {"ok": random_.choice([True, False, None]), "at": f"2026-01-01T00:00:{number % 60:02d}.5Z"}
        rows.append(b"not json" if number % 50 == 49 else row)
    return rows


@pytest.mark.spark
def test_both_ways_give_the_same(stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seed = random.randrange(1 << 32)
    source = stack.topic("both", rows_of(seed))
    found: dict[str, Any] = {}
    for way in ("direct", "spark"):
        if way == "spark":
            monkeypatch.setattr(compiling, "direct_query", lambda *_: None)
        names = {kind: stack.name(f"{way}-{kind}") for kind in ("a", "b", "c", "d", "letters")}
        settings = f'schema="{SCHEMA}, id BIGINT" max_rows_per_batch=90'
        settings += f" bad_rows=dead_letter dead_letter={names['letters']}"
        document = stack.pipeline(
            f"""topic {source} {settings} as src ! filter "n < 3 AND (ok OR x IS NULL)" as few
            ! select id k "x AS y" at "_offset AS place" ! to-topic {names["a"]} key=k
            @src ! filter "x > 0.5" as large ! to-topic {names["b"]}
            @src ! filter "n < 5 AND length(k) = 2" ! select {" ".join(COMPUTED)} on_error=fail
            ! filter "left > 3 OR third < 0" as last ! to-topic {names["c"]} key=named
            @last ! filter "part > 1" ! select part "9223372036854775800 + left AS large" on_error=fail
            ! to-topic {names["d"]} format=avro
            @few ! to-file {tmp_path / way} format=json
            @src ! preview rows=7 as seen"""
        )
        stack.run(document)
        (query,) = stack.engine.status(document.name).queries
        letters = [{**letter, "topic": ""} for letter in stack.rows(names["letters"])]
        files = [json.loads(line) for file in (tmp_path / way).glob("*.json") for line in file.read_text().splitlines()]
        found[way] = {
            "a": sorted(stack.values(names["a"])),
            **{name: sorted(stack.values(names[name])) for name in ("b", "c", "d")},
            "letters": sorted(letters, key=lambda letter: (letter["partition"], letter["offset"])),
            "files": sorted(files, key=lambda row: row["id"]),
            "counts": {count.node: (count.rows_out_total, count.bad_total) for count in query.nodes},
            "positions": [end for _, end in sorted(query.positions.items())],
        }
        assert len(stack.engine.preview(document.name, "seen")) == 7
        batch = stack.engine.run_batch(document)
        # In a batch run Spark does not say what it read of a source.
        found[way]["batch"] = ({node: rows for node, rows in batch.rows.items() if node != "src"}, batch.bad)
    assert found["direct"] == found["spark"], seed
    assert len(found["direct"]["letters"]) == 8
    assert found["direct"]["c"]
    assert found["direct"]["d"]


@pytest.mark.spark
def test_a_value_that_cannot_be_computed_ends_the_job_and_names_the_node(stack: Stack) -> None:
    source = stack.topic("large", [{"n": 1, "k": "a"}, {"n": (1 << 63) - 1, "k": "b"}])
    fine = stack.pipeline(
        f"""topic {source} schema="n BIGINT, k STRING" ! filter "k = 'a' AND length(k) = 1"
        ! select "n + 1 AS m" as more ! to-topic {stack.name("fine")}"""
    )
    stack.run(fine)
    target = stack.name("failing")
    failing = stack.pipeline(
        f'topic {source} schema="n BIGINT, k STRING" ! select "n + 1 AS m" as more ! to-topic {target}'
    )
    with pytest.raises(JobFailed, match="does not fit") as failure:
        stack.engine.run_batch(failing)
    assert failure.value.node == "more"
    cause = failure.value.__cause__
    assert cause is not None
    assert explain(cause)[1] is False, "running it again does not help"
