"""An environment for peers that are no part of an installation: made once, kept for the next run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

from headrace.bench import table_peer
from headrace.bench.peers import Peer, spark_peer
from headrace.errors import ExternalFailure

VERSIONS: Final = {"duckdb": "2.0.0", "polars": "2.1.0"}
PEERS: Final = (*VERSIONS, "pyspark")
INSTALL_TIMEOUT_S: Final = 300
HOME: Final = Path.home() / ".cache" / "headrace-bench"


def start_peer(name: str, directory: Path) -> Peer:
    """Raises ExternalFailure where it cannot be installed."""
    if name not in VERSIONS:
        return spark_peer(name, directory)
    return Peer(name, [str(_python(name)), str(Path(table_peer.__file__)), name], directory)


def _python(name: str) -> Path:
    home = HOME / f"{name}-{VERSIONS[name]}"
    python = home / "bin" / "python"
    if (home / "ready").exists():
        return python
    _run([sys.executable, "-m", "venv", str(home)], name)
    _run([str(python), "-m", "pip", "install", "--quiet", f"{name}=={VERSIONS[name]}"], name)
    (home / "ready").touch()
    return python


def _run(command: list[str], name: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ExternalFailure(f"{type(error).__name__} while {name} was installed") from error
    if done.returncode:
        raise ExternalFailure(f"{name} cannot be installed: {done.stderr.strip()[-200:]}")
