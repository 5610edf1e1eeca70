"""A keyed class on Spark: the same rows as a stream, through restarts with other lanes, and as a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

pytestmark = pytest.mark.spark

SCHEMA = 'schema="k STRING, n BIGINT, ts TIMESTAMP, unused DOUBLE"'


def row_at(key: str, number: int, second: int) -> dict[str, Any]:
    return {"k": key, "n": number, "ts": f"2026-01-01T{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}Z"}


# Each key is silent now and then; neighbours are out of order.
SECONDS = [i + (100 * (i // 50)) + (3 if i % 2 else 0) for i in range(300)]
ROWS = [row_at(f"d{i % 5}", i, second) for i, second in enumerate(SECONDS)]
CLOSING = [row_at(f"end{i}", 0, 80_000) for i in range(20)]


def reports(rows: list[dict[str, Any]]) -> list[tuple[str, str, int, int]]:
    found = ((row["k"], row["at"], row["numbers"], row["total"]) for row in rows)
    return sorted(one for one in found if not one[0].startswith("end"))


def expected() -> list[tuple[str, int, int]]:
    made: list[tuple[str, int, int]] = []
    for key in sorted({row["k"] for row in ROWS}):
        mine = sorted((second, i) for i, second in enumerate(SECONDS) if f"d{i % 5}" == key)
        numbers: list[int] = []
        for place, (second, number) in enumerate(mine):
            numbers.append(number)
            if place + 1 == len(mine) or mine[place + 1][0] > second + 60:
                made.append((key, len(numbers), sum(numbers)))
                numbers = []
    return made


def test_a_keyed_class_gives_the_same_rows_as_stream_and_as_batch(stack: Stack) -> None:
    source, streamed, batched = stack.topic("in"), stack.name("streamed"), stack.name("batched")
    text = (
        f"topic {source} {SCHEMA} event_time=ts watermark=10s max_rows_per_batch=70 ! silence silence=60s ! to-topic "
    )
    stack.run_in_pieces(stack.pipeline(text + streamed), source, [*ROWS, *CLOSING])
    stack.engine.run_batch(stack.pipeline(text + batched))
    found = reports(stack.rows(streamed))
    assert [(key, numbers, total) for key, _, numbers, total in found] == expected()
    assert found == reports(stack.rows(batched))
