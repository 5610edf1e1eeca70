"""The editor is opened in the browser that the user has, and only where there is a screen to see it on."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

URL = "http://127.0.0.1:8484/?token=secret#/pipelines/drones"
CODE = f"from headrace.cli.browser import open_editor; raise SystemExit(not open_editor({URL!r}))"


@pytest.fixture
def browser(tmp_path: Path) -> Path:
    """A browser that only writes down what it was to open."""
    path = tmp_path / "browser"
    path.write_text(f'#!/bin/sh\nprintf "%s" "$1" > "{tmp_path}/opened"\n')
    path.chmod(0o700)
    return path


def opened(browser: Path, variables: dict[str, str], *, is_terminal: bool) -> str | None:
    known = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    ours, theirs = pty.openpty()
    try:
        output = theirs if is_terminal else subprocess.DEVNULL
        environment = {**known, "BROWSER": f"{browser} %s", **variables}
        done = subprocess.run([sys.executable, "-c", CODE], env=environment, stdout=output, timeout=60, check=False)
    finally:
        os.close(ours)
        os.close(theirs)
    file = browser.parent / "opened"
    assert file.exists() == (done.returncode == 0)
    return file.read_text() if file.exists() else None


def test_the_whole_address_is_opened(browser: Path) -> None:
    assert opened(browser, {"DISPLAY": ":0"}, is_terminal=True) == URL


def test_nothing_is_opened_without_a_screen_or_a_terminal(browser: Path) -> None:
    assert opened(browser, {}, is_terminal=True) is None
    assert opened(browser, {"DISPLAY": ":0"}, is_terminal=False) is None
