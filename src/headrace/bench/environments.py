"""Environments for peers that are no part of an installation: made once, kept for the next run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

from headrace.errors import ExternalFailure

INSTALL_TIMEOUT_S: Final = 900
HOME: Final = Path.home() / ".cache" / "headrace-bench"


def python_with(package: str, version: str) -> Path:
    """An interpreter that has the package, and nothing of ours. Raises ExternalFailure where it cannot be installed."""
    home = HOME / f"{package}-{version}"
    python = home / "bin" / "python"
    if (home / "ready").exists():
        return python
    _run([sys.executable, "-m", "venv", "--clear", str(home)], package)
    _run([str(python), "-m", "pip", "install", "--quiet", f"{package}=={version}"], package)
    (home / "ready").touch()
    return python


def _run(command: list[str], package: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ExternalFailure(f"{type(error).__name__} while {package} was installed") from error
    if done.returncode:
        raise ExternalFailure(f"{package} cannot be installed: {done.stderr.strip()[-200:]}")
