"""What OVER gives in a chain is what Spark's batch gives, to the last bit."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any

import pytest
from tests.operators.serial_cases import Case, Row, at, ordered

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headrace.graph import Json

pytestmark = pytest.mark.spark

AGGREGATES = [
    "count(*)", "count(x)", "sum(n)", "sum(x)", "avg(n)", "avg(x)", "min(n)", "max(n)", "min(x)", "max(x)",
    "min(ts)",
]  # fmt: skip
PICKS = ["first_value(x)", "last_value(n)", "first_value(n) IGNORE NULLS", "last_value(x) IGNORE NULLS"]
LAGS = ["lag(x)", "lag(n, 3)", "lag(x, 2, 7)", "lag(k, 1, 'none')", "row_number()"]
RANKS = ["rank()", "dense_rank()"]
SPECIAL = (math.nan, math.inf, -math.inf, -0.0, 0.0)

# The operator, its settings, the frame in SQL, the functions, and whether rows of a key may have the same time.
FRAMES: list[tuple[str, dict[str, Json], str, list[str], bool]] = [
    ("over-window", {"rows": 3}, "ROWS BETWEEN 3 PRECEDING AND CURRENT ROW", AGGREGATES + PICKS, False),
    ("over-window", {"within": "5s"}, "RANGE BETWEEN INTERVAL 5 SECONDS PRECEDING AND CURRENT ROW", AGGREGATES, True),
    ("over-running", {"frame": "rows"}, "ROWS UNBOUNDED PRECEDING", AGGREGATES + PICKS, False),
    ("over-running", {}, "", AGGREGATES, True),
    ("over-running", {}, "", LAGS, False),
    ("over-running", {}, "", RANKS, True),
]


def made(count: int, *, has_ties: bool) -> list[Row]:
    chance = random.Random(count)
    seconds = dict.fromkeys("abc", 100)
    rows: list[Row] = []
    for _ in range(count):
        key = chance.choice("abc")
        seconds[key] += chance.randint(0 if has_ties else 1, 3)
        value = chance.choice([None, chance.choice(SPECIAL), *(chance.uniform(-1e3, 1e3) for _ in range(8))])
        rows.append((key, chance.choice([None, *range(-5, 6)]), value, seconds[key]))
    return sorted(rows, key=lambda row: row[3])


def told(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Equal exactly if the bits are: what is no number is equal to itself, and zeros have a sign."""
    return ordered([tuple(value.hex() if isinstance(value, float) else value for value in row) for row in rows])


@pytest.mark.parametrize(("operator", "settings", "frame", "functions", "has_ties"), FRAMES)
def test_a_chain_gives_what_spark_gives(
    spark: SparkSession, operator: str, settings: dict[str, Json], frame: str, functions: list[str], has_ties: bool
) -> None:
    rows = made(200, has_ties=has_ties)
    names: list[Json] = [f"{function} AS f{index}" for index, function in enumerate(functions)]
    config: dict[str, Json] = {"time": "ts", "keys": ["k"], **settings}
    config["functions" if operator == "over-running" else "aggregates"] = names
    found = Case(operator, config).stream(rows, [(60, ""), (61, ""), (150, "commit")])

    frame_of_all = spark.createDataFrame(
        [(*row[:3], at(row[3])) for row in rows], "k STRING, n BIGINT, x DOUBLE, ts TIMESTAMP"
    )
    over = f"OVER (PARTITION BY k ORDER BY ts {frame})"
    items = [f"{function} {over} AS f{index}" for index, function in enumerate(functions)]
    expected = frame_of_all.selectExpr("k", "n", "x", "unix_micros(ts) AS ts", *items).collect()
    plain = [(*row[:3], round(row[3].timestamp() * 1e6), *map(_plain, row[4:])) for row in found]
    assert told(plain) == told([(*row[:4], *map(_plain, row[4:])) for row in expected])


def _plain(value: Any) -> Any:
    return value.timestamp() if hasattr(value, "timestamp") else value
