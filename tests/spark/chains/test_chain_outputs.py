"""What follows a chain in its own tasks comes out just as through Spark's plan: rows, keys, partitions, counts."""

from __future__ import annotations

import json
import random
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from headrace.errors import JobFailed
from headrace.kafka import Reader, Record
from headrace.spark.jobs.failures import explain
from headrace.spark.planning import placement
from headrace.spark.planning.branches import OnlySpark
from headrace.spark.planning.placement import Placement

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

    from headrace.graph.document import Document

pytestmark = pytest.mark.spark

DEADLINE_S = 90.0

SCHEMA = "k STRING, n BIGINT, x DOUBLE, ok BOOLEAN, at TIMESTAMP, id BIGINT"
TOPICS = ("keyed", "large", "named", "avro", "by_two", "removed", "none", "arrow")
KEYS = ["a", 'say "b"', "tab\tc", "zürich", "back\\slash", "", None]
# One file for each delivery; the first of the second micro-batch fails when it is written already.
FAILING = """
import json
from pathlib import Path

def deliver(rows, delivery):
    path = Path({folder!r}) / (delivery.key.replace("/", "_") + ".json")
    again = path.exists()
    path.write_text(json.dumps(rows.to_pylist()))
    if delivery.batch == 1 and not again:
        raise ConnectionError("not now")
"""
LENGTH = 'length-window 3 keys=k aggregates=["sum(n) AS s", "avg(x) AS mean", "count(*) AS c"]'


def rows_of(seed: int) -> list[object]:
    chance = random.Random(seed)
    return [
        {
            "k": chance.choice(KEYS),
            "n": chance.randrange(-5, 5),
            "x": chance.choice([None, 0.5, -2.0, 1e9, 1e-5]),
            "ok": chance.choice([True, False, None]),
            "at": f"2026-01-01T00:00:{number % 60:02d}.{chance.randrange(1_000_000):06d}Z",
            "id": number,
        }
        for number in range(300)
    ]


def placed(stack: Stack, document: Document) -> Placement:
    found = stack.query(document).placement
    assert found is not None
    return found


def only_spark(*_: object, **__: object) -> None:
    raise OnlySpark("here")


def records(stack: Stack, topic: str) -> dict[int, list[tuple[bytes | None, object]]]:
    """Keys and values of each partition, in order; the rows of Arrow records one by one."""
    found: dict[int, list[tuple[bytes | None, object]]] = defaultdict(list)
    with Reader(stack.bootstrap, topic) as reader:
        for record in sorted(reader.records(), key=lambda record: (record.partition, record.offset)):
            found[record.partition] += [(record.key, value) for value in values_of(record)]
    return dict(found)


def values_of(record: Record) -> list[Any]:
    is_arrow = record.topic.startswith("arrow")
    return pa.ipc.open_stream(record.value or b"").read_all().to_pylist() if is_arrow else [record.value]


@pytest.mark.parametrize(
    ("before", "window", "way_in"),
    [
        ("", f"{LENGTH} partitioned=as_topic", "reader"),
        ('! filter "n > -5"', LENGTH, "packets"),
        ('! filter "sqrt(n * n) < 5"', LENGTH, "rows"),
    ],
)
def test_both_ways_give_the_same(
    stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str, window: str, way_in: str
) -> None:
    seed = random.randrange(1 << 32)
    source = stack.topic("source", rows_of(seed))
    found: dict[str, Any] = {}
    for way_out in ("writer", "rows"):
        if way_out == "rows":
            monkeypatch.setattr(placement, "shaped", only_spark)
        names = {kind: stack.name(kind) for kind in TOPICS}
        document = stack.pipeline(
            f"""topic {source} schema="{SCHEMA}" max_rows_per_batch=90 as src {before} ! {window} as window
            ! filter "n < 3 AND (ok OR x IS NULL)" as few ! select id k "x AS y" at s mean as smaller
            @smaller ! to-topic {names["keyed"]} key=k partitions=3
            @window ! filter "x > 0.5 AND k IS NOT NULL" as large ! to-topic {names["large"]} partitions=2
            @window ! select id "n * 2 AS twice" "concat(k, '/') AS named" mean ! filter "twice > 3" as last
            ! to-topic {names["named"]} key=named
            @last ! select twice "9223372036854775799 + twice AS most" ! to-topic {names["avro"]} format=avro
            @few ! filter "k IS NOT NULL" ! to-table {names["by_two"]} key="k, id" partitions=2
            @large ! to-table {names["removed"]} key=k mode=delete partitions=2
            @window ! filter "n > 1000" as nothing ! to-topic {names["none"]}
            @window ! to-topic {names["arrow"]} format=arrow as arrow
            @few ! to-file {tmp_path / way_out} format=json
            @window ! preview rows=7 as seen"""
        )
        assert (placed(stack, document).way_in, placed(stack, document).way_out) == (way_in, way_out)
        stack.run(document)
        (query,) = stack.engine.status(document.name).queries
        preview = stack.engine.preview(document.name, "seen")
        batch = stack.engine.run_batch(document)
        found[way_out] = {
            **{kind: records(stack, name) for kind, name in names.items()},
            "files": sorted(file.read_text() for file in (tmp_path / way_out).glob("*.json")),
            "counts": {count.node: (count.rows_out_total, count.bad_total) for count in query.nodes},
            "preview": preview,
            # In a batch run Spark does not say what it read of a source.
            "batch": {node: rows for node, rows in batch.rows.items() if node != "src"},
        }
    assert found["writer"] == found["rows"], seed
    counts = found["writer"]["counts"]
    assert (counts["nothing"], counts["arrow"]) == ((0, 0), counts["window"])
    assert all(found["writer"][kind] for kind in TOPICS if kind != "none")


def test_a_sink_in_python_that_fails_gets_the_same_rows_of_a_chain_again(stack: Stack, tmp_path: Path) -> None:
    """Its state goes on from the last commit: no sum has a row twice."""
    module, folder, target = f"{stack.name('sink').replace('-', '_')}", tmp_path / "delivered", stack.name("sums")
    folder.mkdir()
    (tmp_path / f"{module}.py").write_text(FAILING.format(folder=str(folder)))
    assert stack.engine._spark is not None
    stack.engine._spark.sparkContext.addPyFile(str(tmp_path / f"{module}.py"))
    source = stack.topic("numbers", [{"k": "a", "n": number} for number in range(100)], partitions=1)
    document = stack.pipeline(
        f"""topic {source} schema="k STRING, n BIGINT" max_rows_per_batch=30
        ! length-window 1000 keys=k aggregates=["sum(n) AS s"] as window ! to-python {module}:deliver
        @window ! filter "n > 90" ! to-topic {target}"""
    )
    assert placed(stack, document).way_out == "writer"
    stack.engine.start(document, until_end=True)
    deadline_s = time.monotonic() + DEADLINE_S
    while stack.engine.status(document.name).state != "stopped":
        assert time.monotonic() < deadline_s, stack.engine.status(document.name)
        time.sleep(0.1)
    sums = {number: number * (number + 1) // 2 for number in range(100)}
    delivered = [row for path in folder.glob("*.json") for row in json.loads(path.read_text())]
    assert len(delivered) == len(sums)
    assert {row["n"]: row["s"] for row in delivered} == sums
    assert {row["n"]: row["s"] for row in stack.rows(target)} == {n: s for n, s in sums.items() if n > 90}


def test_a_value_that_cannot_be_computed_behind_a_chain_names_the_node(stack: Stack) -> None:
    source = stack.topic("large", [{"n": 1}, {"n": (1 << 63) - 1}])
    document = stack.pipeline(
        f"""topic {source} schema="n BIGINT" ! python headrace.operators.samples:unchanged
        ! select "n + 1 AS m" as more ! to-topic {stack.name("failing")}"""
    )
    with pytest.raises(JobFailed, match="does not fit") as failure:
        stack.engine.run_batch(document)
    assert failure.value.node == "more"
    cause = failure.value.__cause__
    assert cause is not None
    assert explain(cause)[1] is False, "running it again does not help"
