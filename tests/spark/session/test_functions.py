"""Python functions in a streaming query: by name and by place, in a filter, in a select behind it, in a window."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headrace.operators.plugin_folder import FOLDER_VARIABLE

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

pytestmark = pytest.mark.spark

CODE = """
from headrace.serial import sql_aggregate, sql_function

@sql_function
def inverse(n: int) -> float:
    return 1 / n

@sql_aggregate
def spread(values: list[float]) -> float | None:
    return max(values) - min(values)
"""


def test_functions_run_behind_filters_and_over_windows(
    stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.py").write_text(CODE)
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    rows: list[dict[str, Any]] = [{"n": n, "ts": f"2026-01-01T00:00:{n:02d}Z"} for n in range(20)]
    source = stack.topic("functions", [*rows, {"n": 1, "ts": "2026-01-01T00:05:00Z"}])
    inverted, spreads = stack.name("inverted"), stack.name("spreads")
    stack.run(
        stack.pipeline(
            f"""topic {source} schema="n BIGINT, ts TIMESTAMP" event_time=ts watermark="1 second" as src
            @src ! filter "n != 0" ! filter "inverse(n) < 0.1" ! select n "`m.py:inverse`(n) AS i" ! to-topic {inverted}
            @src ! tumbling-window "10 seconds" time=ts aggregates=["`m.py:spread`(n) AS s"] ! to-topic {spreads}"""
        )
    )
    # Zero never reached the function: it would have failed.
    assert sorted(row["n"] for row in stack.rows(inverted)) == list(range(11, 20))
    assert all(row["i"] == 1 / row["n"] for row in stack.rows(inverted))
    assert sorted((row["_window_start"][17:19], row["s"]) for row in stack.rows(spreads)) == [("00", 9.0), ("10", 9.0)]
