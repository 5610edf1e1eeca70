"""Makes the pictures of the README from the running demo: `python docs/capture.py`. Needs Chromium and playwright.

`editor.png` is the editor with the demo's pipeline while it runs. `editor.webp` moves: rows flow, one looks at them on
an edge, and at the charts.
"""

from __future__ import annotations

import base64
import shutil
import struct
import time
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import CDPSession, Page, ViewportSize, expect, sync_playwright

from headrace.demo.pipelines import DRONES
from headrace.demo.run import Demo, DemoSettings

HERE = Path(__file__).parent
WINDOW: ViewportSize = {"width": 1280, "height": 720}
FRAME_MS = 500
WEBP_QUALITY = 45
FIRST_ROWS_TIMEOUT_MS = 180_000
SCENE_FRAMES = 8


def main() -> None:
    settings = DemoSettings(seed=7, rate_per_s=400)
    with Demo(settings, print) as demo, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport=WINDOW, color_scheme="light")
        page.goto(demo.info.url_with_token)
        page.goto(f"{demo.info.url}/#/pipelines/{DRONES}")
        expect(page.get_by_test_id("edge-figures").first).to_contain_text("k", timeout=FIRST_ROWS_TIMEOUT_MS)
        frames = list(_scenes(page))
        browser.close()
    (HERE / "editor.webp").write_bytes(animated_webp(frames, FRAME_MS, WINDOW["width"], WINDOW["height"]))


def _scenes(page: Page) -> Iterator[bytes]:
    session = page.context.new_cdp_session(page)
    page.keyboard.press("Shift+Alt+T")
    page.wait_for_timeout(1_000)
    page.keyboard.press("1")
    yield from _frames(session, SCENE_FRAMES)
    page.locator('.react-flow__node[data-id="telemetry"]').click()
    page.keyboard.press("o")
    expect(page.get_by_role("row").nth(3)).to_be_visible(timeout=FIRST_ROWS_TIMEOUT_MS)
    yield from _frames(session, SCENE_FRAMES)
    page.get_by_role("tab", name="Charts").click()
    expect(page.get_by_role("figure").first).to_be_visible(timeout=FIRST_ROWS_TIMEOUT_MS)
    page.screenshot(path=HERE / "editor.png")
    yield from _frames(session, SCENE_FRAMES)


def _frames(session: CDPSession, count: int) -> Iterator[bytes]:
    for _ in range(count):
        began_s = time.monotonic()
        taken = session.send("Page.captureScreenshot", {"format": "webp", "quality": WEBP_QUALITY})
        yield base64.b64decode(taken["data"])
        time.sleep(max(0.0, FRAME_MS / 1000 - (time.monotonic() - began_s)))


def animated_webp(frames: list[bytes], frame_ms: int, width: int, height: int) -> bytes:
    """Stills put into one container, after Google's WebP container specification; it repeats without end."""
    size = _three_bytes(width - 1) + _three_bytes(height - 1)
    header = _chunk(b"VP8X", bytes([0x02, 0, 0, 0]) + size) + _chunk(b"ANIM", bytes(4) + struct.pack("<H", 0))
    place = bytes(6) + size + _three_bytes(frame_ms) + b"\x02"
    body = b"".join(_chunk(b"ANMF", place + _image_chunks(frame)) for frame in frames)
    content = b"WEBP" + header + body
    return b"RIFF" + struct.pack("<I", len(content)) + content


def _image_chunks(still: bytes) -> bytes:
    """Only what draws: no header of its own, no colour profile."""
    kept, position = b"", 12
    while position < len(still):
        name, length = still[position : position + 4], struct.unpack_from("<I", still, position + 4)[0]
        end = position + 8 + length + length % 2
        if name in (b"ALPH", b"VP8 ", b"VP8L"):
            kept += still[position:end]
        position = end
    return kept


def _chunk(name: bytes, content: bytes) -> bytes:
    return name + struct.pack("<I", len(content)) + content + b"\0" * (len(content) % 2)


def _three_bytes(number: int) -> bytes:
    return number.to_bytes(3, "little")


if __name__ == "__main__":
    main()
