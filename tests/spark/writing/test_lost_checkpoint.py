"""Spark never syncs its checkpoint: after a power loss its newest files may be empty, torn or gone."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headrace.errors import NeedsBegin

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

pytestmark = pytest.mark.spark

CHUNK = 40
SCHEMA = 'schema="k STRING, n BIGINT, ts TIMESTAMP" event_time=ts'


def rows(first: int) -> list[dict[str, Any]]:
    return [
        {"k": f"d{n % 3}", "n": n, "ts": f"2026-01-01T{n // 60:02d}:{n % 60:02d}:00Z"}
        for n in range(first, first + CHUNK)
    ]


def newest(checkpoint: Path, kind: str) -> Path:
    return max((checkpoint / kind).glob("[0-9]*"), key=lambda path: int(path.name))


def damage(checkpoint: Path, how: str, seed: int) -> None:
    """What was not synced when the power went: the newest plan, the newest note of an end, the query's id."""
    which, state = how.split("-")
    for path in [newest(checkpoint, kind) for kind in ("offsets", "commits") if which in (kind, "both")]:
        if state == "gone":
            path.unlink()
        elif state == "empty":
            path.write_text("")
        else:
            content = path.read_bytes()
            path.write_bytes(content[: random.Random(seed).randrange(1, len(content))])
    (checkpoint / "metadata").write_text("")


@pytest.mark.parametrize("how", ["offsets-gone", "commits-empty", "both-gone", "both-empty", "both-torn"])
def test_nothing_is_lost_or_doubled(stack: Stack, how: str) -> None:
    source, copies, counts = stack.topic("in"), stack.name("copies"), stack.name("counts")
    window = 'tumbling-window "10 minutes" time=ts keys=["k"] aggregates=["count(1) AS n"] as win'
    document = stack.pipeline(
        f"topic {source} {SCHEMA} as src ! to-topic {copies}\n@src ! {window} ! to-topic {counts}"
    )
    for turn in range(3):
        stack.produce(source, rows(turn * CHUNK))
        stack.engine.start(document)
        stack.finish(document)
        for query in ("src", "win"):
            damage(stack.data / "jobs" / document.name / query / "checkpoint", how, seed=turn)
    # In every partition of the topic: the slowest one holds the watermark back.
    ends = [{"k": f"end{n}", "n": 3 * CHUNK + n, "ts": "2026-01-02T00:00:00Z"} for n in range(8)]
    stack.produce(source, ends)
    stack.run(document)
    assert sorted(row["n"] for row in stack.rows(copies)) == list(range(3 * CHUNK + len(ends)))
    assert sum(row["n"] for row in stack.rows(counts)) == 3 * CHUNK
    closed = [(row["_window_start"], row["k"]) for row in stack.rows(counts)]
    assert len(closed) == len(set(closed)) == 3 * (3 * CHUNK // 10)


def test_a_query_of_another_pipeline_is_never_taken_over(stack: Stack) -> None:
    """The same name, another source: what is stored does not fit, and that is said."""
    first, second = stack.topic("in", rows(0)), stack.topic("in", rows(0))
    name = stack.name("pipeline")
    stack.run(stack.pipeline(f"topic {first} {SCHEMA} as src ! preview", name))
    with pytest.raises(NeedsBegin, match="has committed as another one"):
        stack.engine.start(stack.pipeline(f"topic {second} {SCHEMA} as src ! preview", name))
