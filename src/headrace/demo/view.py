"""The demo as a live picture in the terminal."""

from __future__ import annotations

import time
from collections import deque
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from headrace.demo.pipelines import AVERAGES, HIGH_ALTITUDE, LOW_BATTERY, TELEMETRY
from headrace.demo.run import Demo

ROWS_SHOWN: Final = 8
RATE_SPAN_S: Final = 3.0
FIGURES: Final = frozenset(
    {"records", "per second", "batch", "batch ms", "rows/s", "lag", "restarts", "battery", "altitude", "reports"}
)


class Rate:
    """Per second, over the last few seconds."""

    def __init__(self) -> None:
        self._points: deque[tuple[float, int]] = deque(maxlen=100)

    def update(self, total: int) -> float:
        now_s = time.monotonic()
        self._points.append((now_s, total))
        while len(self._points) > 2 and now_s - self._points[0][0] > RATE_SPAN_S:
            self._points.popleft()
        first_s, first = self._points[0]
        return (total - first) / (now_s - first_s) if now_s > first_s else 0.0


class View:
    """`picture` is called a few times a second."""

    def __init__(self, demo: Demo) -> None:
        self._demo = demo
        self._rates = {topic: Rate() for topic in (TELEMETRY, LOW_BATTERY, AVERAGES, HIGH_ALTITUDE)}

    def picture(self, jobs: list[dict[str, Any]]) -> RenderableType:
        demo = self._demo
        title = Text.assemble(
            ("Headrace demo", "bold"), f"  {demo.settings.drone_count} drones, seed {demo.settings.seed}, ",
            f"{demo.seconds:.0f} s", ("   Ctrl-C ends it", "dim"),
        )  # fmt: skip
        address = Text(f"broker {demo.info.bootstrap}   server {demo.info.url_with_token}", style="dim", no_wrap=True)
        newest = Table.grid(expand=True, padding=(0, 1))
        newest.add_column(ratio=1)
        newest.add_column(ratio=1)
        newest.add_row(self._alerts(), self._averages())
        return Group(title, address, self._topics(), self._jobs(jobs), newest)

    def _topics(self) -> Table:
        table = _table("topic", "", "records", "per second")
        rows = [(TELEMETRY, "in, by a Kafka client", self._demo.feed.acked)]
        meanings = {LOW_BATTERY: "out, alerts", AVERAGES: "out, closed windows", HIGH_ALTITUDE: "out, too high"}
        rows += [(topic, meaning, self._demo.tails[topic].row_count) for topic, meaning in meanings.items()]
        for topic, meaning, total in rows:
            table.add_row(topic, Text(meaning, style="dim"), f"{total:,}", f"{self._rates[topic].update(total):,.0f}")
        return table

    @staticmethod
    def _jobs(jobs: list[dict[str, Any]]) -> RenderableType:
        if not jobs:
            return Text("the server is away; it is started again", style="yellow")
        table = _table("pipeline", "query", "batch", "batch ms", "rows/s", "lag", "restarts")
        for job in jobs:
            for query in job["queries"]:
                figures = (round(query["batch_ms"]), f"{query['rows_per_second']:,.0f}", sum(query["lag"].values()))
                batch = "first" if query["batch"] < 0 else query["batch"]
                cells = (job["pipeline"], query["name"], batch, *figures, job["restarts"])
                table.add_row(*(str(cell) for cell in cells))
        return table

    def _alerts(self) -> Panel:
        table = _table("drone", "battery", "measured at")
        for row in _newest(self._demo.tails[LOW_BATTERY].newest):
            table.add_row(str(row.get("drone")), Text(f"{row.get('battery')} %", "red"), _clock(row.get("ts")))
        return Panel(table, title="newest alerts", border_style="red", title_align="left")

    def _averages(self) -> Panel:
        table = _table("drone", "window", "reports", "altitude", "battery")
        for row in _newest(self._demo.tails[AVERAGES].newest):
            altitude, battery = f"{row.get('altitude', 0):.1f} m", f"{row.get('battery', 0):.1f} %"
            table.add_row(
                str(row.get("drone")), _clock(row.get("window_start")), str(row.get("reports")), altitude, battery
            )
        return Panel(table, title="newest averages", border_style="green", title_align="left")


def _table(*columns: str) -> Table:
    """Figures stand to the right."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(column, justify="right" if column in FIGURES else "left")
    return table


def _newest(rows: deque[dict[str, Any]]) -> list[dict[str, Any]]:
    return list(rows)[: -ROWS_SHOWN - 1 : -1]


def _clock(moment: object) -> str:
    """The time of day of an ISO 8601 moment."""
    return str(moment).partition("T")[2][:8] or str(moment)
