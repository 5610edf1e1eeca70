"""Opening the editor in the user's browser, where there is one to open."""

from __future__ import annotations

import os
import sys
import webbrowser


def open_editor(url: str) -> bool:
    """Whether a browser was started. Never one inside the terminal: that is the live view's."""
    has_screen = sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    return has_screen and sys.stdout.isatty() and webbrowser.open(url)
