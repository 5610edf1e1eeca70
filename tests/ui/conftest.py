"""`headrace up` for all tests of the editor, and a real Chromium that looks at it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright
from tests.missing import skip_without

from headrace.errors import NotFound
from headrace.process import RunInfo

STOP_TIMEOUT_S = 60
START_TIMEOUT_S = 180
STEP_TIMEOUT_MS = 20_000
POLL_S = 0.1

expect.set_options(timeout=STEP_TIMEOUT_MS)


def wait_until(condition: Callable[[], Any], what: str, timeout_s: float = START_TIMEOUT_S) -> Any:
    """What the condition returned, once it is true. Fails after the timeout."""
    deadline_s = time.monotonic() + timeout_s
    while not (found := condition()):
        assert time.monotonic() < deadline_s, f"{what}: not within {timeout_s:.0f} s"
        time.sleep(POLL_S)
    return found


@dataclass(frozen=True)
class Up:
    """A running `headrace up`."""

    process: subprocess.Popen[str]
    data: Path

    @property
    def info(self) -> RunInfo:
        return RunInfo.read(self.data)

    @property
    def url(self) -> str:
        return self.info.url_with_token

    def api(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.info.token}"}
        return httpx.Client(base_url=self.info.url, headers=headers, trust_env=False, timeout=120)

    @contextmanager
    def server_killed(self) -> Iterator[None]:
        """kill -9. The supervisor is held still meanwhile, and starts the server again afterwards."""
        self.process.send_signal(signal.SIGSTOP)
        try:
            os.kill(self.info.server_pid, signal.SIGKILL)
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def wait_ready(self) -> None:
        wait_until(self._is_ready, "the server is ready")

    def _is_ready(self) -> bool:
        try:
            with self.api() as client:
                return client.get("/ready").status_code == 200
        except (httpx.TransportError, NotFound):
            return False

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=STOP_TIMEOUT_S)


def start_headrace(data: Path) -> Up:
    command = [sys.executable, "-m", "headrace", "up", "--port", "0", "--http-port", "0", "--json"]
    process = subprocess.Popen(
        [*command, "--data-dir", str(data)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.communicate()[1]
    assert json.loads(line)["ready"] is True
    return Up(process, data)


_running: list[Up] = []


@pytest.fixture
def up(tmp_path_factory: pytest.TempPathFactory) -> Up:
    """One for all tests of this folder."""
    if not _running:
        _running.append(start_headrace(tmp_path_factory.mktemp("ui") / "data"))
    return _running[0]


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Tests of other folders have the machine to themselves."""
    here = Path(__file__).parent
    if nextitem is None or here not in nextitem.path.parents:
        while _running:
            _running.pop().stop()


@pytest.fixture
def api(up: Up) -> Iterator[httpx.Client]:
    with up.api() as client:
        yield client


def chromium_path() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        skip_without("Chromium is not installed", "the editor in a browser is", "apt-get install chromium")
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """For a module only: while Playwright runs, its thread has an event loop, which other tests want to have."""
    path = chromium_path()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


class Complaints(list[str]):
    """Errors of the editor's code, and what it wrote to the console as one. Refusals by the server are no errors."""

    def watch(self, page: Page) -> None:
        page.on("pageerror", lambda error: self.append(str(error)))
        page.on("console", self._note)

    def _note(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            self.append(message.text)


@pytest.fixture
def complaints() -> Complaints:
    return Complaints()


@pytest.fixture
def open_page(browser: Browser, up: Up, complaints: Complaints) -> Iterator[Callable[..., Page]]:
    """Opens a tab of its own session, at a path behind the #. Fails in the end if its console holds errors."""
    contexts = []

    def open_one(path: str = "/", *, dark: bool = False, width: int = 1280, height: int = 800) -> Page:
        context = browser.new_context(
            reduced_motion="reduce",  # colours that fade in have no contrast yet
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
        )
        context.set_default_timeout(STEP_TIMEOUT_MS)
        contexts.append(context)
        page = context.new_page()
        complaints.watch(page)
        page.goto(up.url)
        page.evaluate("path => { window.location.hash = path }", path)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert complaints == []
