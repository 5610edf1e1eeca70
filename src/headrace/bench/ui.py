"""The suite `ui`: the editor in Chromium with a pipeline of 500 nodes, and live figures on each of its edges."""

from __future__ import annotations

import gzip
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headrace.bench.peers import Say
from headrace.bench.report import Report, Result
from headrace.bench.ui_browser import measure_editor
from headrace.bench.ui_server import serve_editor
from headrace.errors import InvalidInput, NotFound, did_you_mean
from headrace.server.editor import STATIC

BUNDLE: Final = "bundle-kb"
OPEN: Final = "open-500"
DRAG: Final = "drag-fps-500"
ITEMS: Final = (DRAG, OPEN, BUNDLE)

# What the editor must keep on a machine that does nothing else.
BUDGETS: Final = {DRAG: 30.0, BUNDLE: 700.0}
BUNDLED: Final = frozenset({".js", ".css"})


@dataclass(frozen=True, slots=True)
class UiSettings:
    """Raises InvalidInput for an item that does not exist."""

    items: tuple[str, ...] = ITEMS

    def __post_init__(self) -> None:
        for item in self.items:
            if item not in ITEMS:
                raise InvalidInput(f"no item {item!r}", valid=ITEMS, hint=did_you_mean(item, ITEMS))


def run_ui(settings: UiSettings, say: Say) -> Report:
    """Everything it starts has ended afterwards. Raises NotFound without the built editor, or without Chromium."""
    results = {BUNDLE: Result(BUNDLE, "kB", bundle_kb(STATIC), note=f"at most {BUDGETS[BUNDLE]:g}")}
    if settings.items != (BUNDLE,):
        with tempfile.TemporaryDirectory(prefix="headrace-bench-") as directory, serve_editor(Path(directory)) as url:
            say("opening and dragging 500 nodes in Chromium")
            measured = measure_editor(url)
        results[OPEN] = Result(OPEN, "ms", measured.open_ms)
        note = f"at least {BUDGETS[DRAG]:g}; the slowest twentieth of frames took {measured.slow_frame_ms:.0f} ms"
        results[DRAG] = Result(DRAG, "frames/s", measured.frames_per_second, note=note)
    return Report("ui", tuple(results[item] for item in ITEMS if item in settings.items))


def bundle_kb(static: Path) -> float:
    """All scripts and styles of the editor, compressed: more than any one page loads. Raises NotFound."""
    files = [path for path in static.rglob("*") if path.suffix in BUNDLED]
    if not files:
        raise NotFound("the editor is not built", hint="run `make setup`, or install a wheel")
    return sum(len(gzip.compress(path.read_bytes())) for path in files) / 1000
