"""Where an installation keeps what makes its next start quicker: Java's command, the archive of its classes."""

from __future__ import annotations

import os
from pathlib import Path

from headrace.process.private import PRIVATE_DIRECTORY


def kept_directory() -> Path:
    """Beside this code, as trusted as it is; in the user's cache where that is somebody else's. Raises OSError."""
    beside = Path(__file__).parent / "__pycache__"
    is_ours = os.access(beside if beside.exists() else beside.parent, os.W_OK)
    kept = beside if is_ours else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headrace"
    kept.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
    return kept
