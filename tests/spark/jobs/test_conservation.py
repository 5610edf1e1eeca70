"""No row vanishes uncounted: what goes in comes out, or is counted as left out by a filter, bad, late, or without a
time."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from headrace.graph.validation import validate
from headrace.spark.planning.queries import plan_queries
from headrace.sql import parse

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

    from headrace.graph.document import Document

START = datetime(2026, 1, 1, tzinfo=UTC)
ROWS_EACH = 60


def row(key: str, second: float | None) -> dict[str, Any]:
    return {"k": key, "ts": None if second is None else (START + timedelta(seconds=second)).isoformat()}


def waves(chance: random.Random) -> list[list[Any]]:
    """What arrives, in three waves. The rows of each are late where those of the wave before have passed them."""

    def one(from_s: int) -> Any:
        kind = chance.choices(["good", "bad", "timeless", "ruled out", "early"], [8, 1, 1, 2, 3])[0]
        if kind == "bad":
            return chance.choice([b"no json", b'{"k": "a", "ts": "yesterday"}', b"[1]"])
        key = "out" if kind == "ruled out" else chance.choice("abc")
        second = None if kind == "timeless" else chance.uniform(0, 20) + (0 if kind == "early" else from_s)
        return row(key, second)

    return [[one(100 * wave) for _ in range(ROWS_EACH)] for wave in range(3)]


def runs_in_chain(stack: Stack, document: Document) -> bool:
    plans = plan_queries(validate(document, stack.engine.catalogue), stack.engine.catalogue)
    return any(plan.in_chain for plan in plans)


WINDOWS = {
    "tumbling": "GROUP BY k WINDOW TUMBLING(10s)",
    "session": "GROUP BY k WINDOW SESSION(5s)",
}


@pytest.mark.spark
@pytest.mark.parametrize(
    ("window", "policy"),
    [
        ("tumbling", "dead_letter"),
        pytest.param("session", "drop", marks=pytest.mark.slow),
        pytest.param("session", "dead_letter", marks=pytest.mark.slow),
        pytest.param("tumbling", "drop", marks=pytest.mark.slow),
    ],
)
def test_rows_in_are_rows_out_and_those_that_are_counted(stack: Stack, window: str, policy: str) -> None:
    arriving = waves(random.Random(f"{window} {policy}"))
    source, target, letters = stack.topic("in", partitions=1), stack.name("out"), stack.name("late")
    late = f", 'late.policy' = 'dead_letter', 'dead_letter.topic' = '{letters}'" if policy == "dead_letter" else ""
    document = parse(
        f"CREATE STREAM t (k STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (topic = '{source}'{late});"
        f"CREATE STREAM s WITH (topic = '{target}') AS SELECT k, count(*) AS n FROM t WHERE k <> 'out'"
        f" {WINDOWS[window]};",
        stack.name("pipeline"),
    )
    stack.engine.start(document)
    for wave in [*arriving, [row("out", 86_400)]]:
        stack.produce(source, wave)
        assert stack.engine.wait_idle(document.name, 120)
    stack.engine.stop(document.name)
    (query,) = stack.engine.status(document.name).queries
    counts = {count.node: count for count in query.nodes}
    sent = [one for wave in arriving for one in wave]
    kinds = Counter(
        "bad" if isinstance(one, bytes) else "out" if one["k"] == "out" else "timeless" if one["ts"] is None else "row"
        for one in sent
    )
    assert counts["t"].bad_total == kinds["bad"]
    assert counts["t"].rows_out_total == len(sent) + 1 - kinds["bad"]
    assert counts["s_filter"].rows_out_total == kinds["row"] + kinds["timeless"]
    counted = sum(found["n"] for found in stack.rows(target))
    lost = counts["s_window"].late_total
    assert lost > 0
    if window == "tumbling" and policy == "drop" and not runs_in_chain(stack, document):
        # Spark sums up the rows of a task first, and counts what is left of those that are late.
        assert counted + lost <= kinds["row"]
    else:
        assert counted + lost == kinds["row"]
    if late:
        assert len(stack.rows(letters)) == lost
