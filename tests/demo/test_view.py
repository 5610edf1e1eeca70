from __future__ import annotations

import io
from collections import deque
from types import SimpleNamespace
from typing import Any, cast

from rich.console import Console

from headrace.demo.pipelines import AVERAGES, HIGH_ALTITUDE, LOW_BATTERY
from headrace.demo.run import Demo, DemoSettings
from headrace.demo.view import Rate, View

JOB: dict[str, Any] = {
    "pipeline": "drones",
    "restarts": 2,
    "queries": [
        {"name": "alerts", "batch": 7, "batch_ms": 81.6, "rows_per_second": 1234.0, "lag": {"t-0": 3, "t-1": 4}}
    ],
}
ALERT = {"drone": "drone-007", "battery": 12.25, "ts": "2026-01-01T00:01:02.000Z"}
AVERAGE = {
    "drone": "drone-008",
    "window_start": "2026-01-01T00:00:10.000Z",
    "reports": 10,
    "altitude": 55.125,
    "battery": 80.5,
}


def drawn(jobs: list[dict[str, Any]]) -> str:
    """The picture of a run that stands still."""
    tails = {
        LOW_BATTERY: SimpleNamespace(row_count=1, newest=deque([ALERT])),
        AVERAGES: SimpleNamespace(row_count=2, newest=deque([AVERAGE])),
        HIGH_ALTITUDE: SimpleNamespace(row_count=3, newest=deque()),
    }
    info = SimpleNamespace(bootstrap="127.0.0.1:9092", url_with_token="http://127.0.0.1:8484/?token=t")
    feed = SimpleNamespace(acked=12_345)
    demo = SimpleNamespace(settings=DemoSettings(seed=9), seconds=4.2, info=info, feed=feed, tails=tails)
    console = Console(width=120, file=io.StringIO())
    with console.capture() as captured:
        console.print(View(cast(Demo, demo)).picture(jobs))
    return captured.get()


def test_picture_has_what_people_look_for() -> None:
    text = drawn([JOB])
    for wanted in ("12,345", "127.0.0.1:9092", "seed 9", "drone-007", "12.25 %", "00:01:02", "55.1 m", "00:00:10"):
        assert wanted in text
    (line,) = [line for line in text.splitlines() if line.startswith("drones")]
    assert line.split() == ["drones", "alerts", "7", "82", "1,234", "7", "2"]


def test_picture_while_the_server_is_away() -> None:
    assert "the server is away" in drawn([])


def test_rate_is_per_second_and_starts_at_nothing() -> None:
    rate = Rate()
    assert rate.update(5) == 0.0
    assert rate.update(5) == 0.0
    assert rate.update(1_000) > 0.0
