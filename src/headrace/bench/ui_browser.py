"""What the editor feels like: how long it takes to open, and how many frames a second it draws under the mouse."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from headrace.bench.ui_graph import COLUMNS, NAME, ROWS
from headrace.errors import NotFound

if TYPE_CHECKING:
    from playwright.sync_api import Page

BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")
WINDOW: Final = {"width": 1440, "height": 900}
OPEN_TIMEOUT_MS: Final = 120_000
DRAG_MOVES: Final = 180
# In the middle, where every move passes over other nodes.
DRAGGED: Final = f"n{ROWS // 2}_{COLUMNS // 2}"

# Stands in for the server's stream: two ticks a second with a new figure for every node and edge, as text, so that the
# editor parses and draws them as it would the real ones.
FEED: Final = """
(() => {
  const [name, rows, columns] = [%NAME%, %ROWS%, %COLUMNS%];
  let count = 0;
  function tick() {
    count += 1;
    const nodes = {}, edges = [];
    for (let row = 0; row < rows; row += 1) {
      for (let column = 0; column < columns; column += 1) {
        const rate = (count * (row + 1) * (column + 3)) % 9000;
        const node = `n${row}_${column}`;
        nodes[node] = { rows_in: count * 50, rows_out: count * 50, rows_bad: 0, rows_late: 0, rate,
                        state_bytes: null };
        if (column + 1 < columns) {
          edges.push({ source: node, target: `n${row}_${column + 1}`, source_port: "out", target_port: "in",
                       rows: count * 50, rate, lag: rate % 700 });
        }
      }
    }
    const job = { state: "running", paused_by: null, error: null, nodes, edges };
    const batches = { count, last_ms: 100 + (count % 50), rows_per_second: 1000 };
    return JSON.stringify({ time_ms: Date.now(), jobs: { [name]: { ...job, batches } } });
  }
  window.EventSource = class extends EventTarget {
    static CLOSED = 2;
    readyState = 1;
    constructor() {
      super();
      this.timer = setInterval(() => this.dispatchEvent(new MessageEvent("metrics", { data: tick() })), 500);
    }
    close() { clearInterval(this.timer); }
  };
})();
"""

# Frame times from the first call on; the second call gives them.
COUNT_FRAMES: Final = """
() => {
  window.frames_ms = [];
  let last = performance.now();
  const step = (now) => { window.frames_ms.push(now - last); last = now; requestAnimationFrame(step); };
  requestAnimationFrame(step);
}
"""


@dataclass(frozen=True, slots=True)
class Measured:
    open_ms: float
    frames_per_second: float
    slow_frame_ms: float


def measure_editor(url: str) -> Measured:
    """Raises NotFound where Playwright or a Chromium is missing."""
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        raise NotFound("no Chromium on this machine", valid=BROWSERS, hint="apt-get install chromium")
    with _playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            # Waiting for a condition runs text as code, which the editor itself forbids.
            page = browser.new_page(viewport=WINDOW, bypass_csp=True)
            page.set_default_timeout(OPEN_TIMEOUT_MS)
            return _measure(page, url)
        finally:
            browser.close()


def _playwright() -> Any:
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only this suite needs it
    except ModuleNotFoundError:
        raise NotFound("the package playwright is not installed", hint="pip install playwright") from None
    return sync_playwright()


def _measure(page: Page, url: str) -> Measured:
    feed = FEED.replace("%NAME%", f"'{NAME}'").replace("%ROWS%", str(ROWS)).replace("%COLUMNS%", str(COLUMNS))
    page.add_init_script(feed)
    # The first visit fills the browser's cache and takes the token out of the address.
    page.goto(url)
    page.goto(f"{page.url}#/pipelines/{NAME}")
    page.reload()
    drawn = f"document.querySelectorAll('.react-flow__node').length === {ROWS * COLUMNS}"
    open_ms = float(page.wait_for_function(f"{drawn} && performance.now()").json_value())
    return Measured(open_ms, *_drag(page))


def _drag(page: Page) -> tuple[float, float]:
    """Frames a second while a node is dragged in circles, and the time of the slowest twentieth of frames."""
    box = page.locator(f'.react-flow__node[data-id="{DRAGGED}"]').bounding_box()
    if box is None:
        raise NotFound(f"the node {DRAGGED} is not on the canvas")
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 10, y + 10)
    page.evaluate(COUNT_FRAMES)
    for move in range(DRAG_MOVES):
        page.mouse.move(x + (move * 7) % 200, y + (move * 5) % 120)
    frames_ms = sorted(page.evaluate("window.frames_ms"))
    page.mouse.up()
    return len(frames_ms) * 1000 / sum(frames_ms), frames_ms[int(len(frames_ms) * 0.95)]
