"""Starts Java for Spark at once: by the command that Spark's own scripts came to the last time.

These scripts run a Java program to find out how to run the other, which takes about as long as the start of a broker.
And they can only be run once pyspark is imported. With the command kept, a process can start Java first of all and
import what it needs meanwhile.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

from headrace.process.files import write_atomically

MAIN_CLASS: Final = "org.apache.spark.deploy.SparkSubmit"
COMMAND_FILE: Final = "java-command.json"
START_TIMEOUT_S: Final = 120.0
_POLL_S: Final = 0.02
# Ctrl-C in a terminal is for the process that starts Java.
_WITHOUT_INTERRUPT: Final = ("/bin/sh", "-c", 'trap "" INT; exec "$@"', "sh")
# By these pyspark finds a Java that runs already.
_PORT, _SECRET = "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"
_INFO: Final = "_PYSPARK_DRIVER_CONN_INFO_PATH"
# What Spark's scripts look at.
_LOOKED_AT: Final = (
    "JAVA_HOME",
    "SPARK_CONF_DIR",
    "SPARK_DIST_CLASSPATH",
    "SPARK_DRIVER_MEMORY",
    "SPARK_HOME",
    "SPARK_LAUNCHER_OPTS",
    "SPARK_MEM",
    "SPARK_SUBMIT_OPTS",
)
# Settings of the user's own for these scripts.
_ARGUMENTS: Final = "PYSPARK_SUBMIT_ARGS"


@dataclass(slots=True)
class Launch:
    """A Java that starts; it ends when its standard input does."""

    process: subprocess.Popen[bytes]
    place: Path

    def connection(self) -> tuple[int, str] | None:
        """Its port and its secret, once they are there; None when it ended, or took too long."""
        deadline_s = time.monotonic() + START_TIMEOUT_S
        info = self.place / "info"
        try:
            while not info.exists():
                if self.process.poll() is not None or time.monotonic() > deadline_s:
                    self.process.kill()
                    return None
                time.sleep(_POLL_S)
            content = info.read_bytes()
        finally:
            shutil.rmtree(self.place, ignore_errors=True)
        length = int.from_bytes(content[4:8], "big")
        return int.from_bytes(content[:4], "big"), content[8 : 8 + length].decode()

    def kill(self) -> None:
        self.process.kill()
        shutil.rmtree(self.place, ignore_errors=True)


def launch(directory: Path, conf: Mapping[str, str]) -> Launch | None:
    """None where the command is not known: then Spark's scripts are the way."""
    known = _kept(directory, conf)
    if known is None or _ARGUMENTS in os.environ:
        return None
    place = Path(tempfile.mkdtemp(prefix="headrace-java-"))
    settings = [part for name, value in conf.items() for part in ("--conf", f"{name}={value}")]
    # As pyspark starts it.
    environment = {**os.environ, _INFO: str(place / "info"), "SPARK_CONNECT_MODE": "0", "PYTHONHASHSEED": "0"}
    try:
        process = subprocess.Popen(
            [*_WITHOUT_INTERRUPT, *known, *settings, "pyspark-shell"], stdin=subprocess.PIPE, env=environment
        )
    except OSError:
        shutil.rmtree(place, ignore_errors=True)
        return None
    return Launch(process, place)


@contextmanager
def found_by_pyspark(port: int, secret: str) -> Iterator[None]:
    """While it lasts, pyspark takes the Java that runs there."""
    os.environ[_PORT], os.environ[_SECRET] = str(port), secret
    try:
        yield
    finally:
        del os.environ[_PORT], os.environ[_SECRET]


def keep_command(directory: Path, conf: Mapping[str, str], pid: int) -> None:
    """Notes how Spark's scripts started that process. Without the settings: they are given anew each time."""
    with contextlib.suppress(OSError, ValueError):  # without it the next start takes longer, no more
        command = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
        options = command[: command.index(MAIN_CLASS) + 1]
        kept = {"key": _key(conf), "command": options}
        write_atomically(directory / COMMAND_FILE, json.dumps(kept) + "\n")


def forget_command(directory: Path) -> None:
    (directory / COMMAND_FILE).unlink(missing_ok=True)


def _kept(directory: Path, conf: Mapping[str, str]) -> list[str] | None:
    try:
        kept = json.loads((directory / COMMAND_FILE).read_text())
        return [str(part) for part in kept["command"]] if kept["key"] == _key(conf) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _key(conf: Mapping[str, str]) -> str:
    """All that the command follows from."""
    java = shutil.which("java")
    home = os.environ.get("JAVA_HOME")
    given = {
        "conf": {name: value for name, value in conf.items() if name.startswith("spark.driver.")},
        "environment": {name: os.environ.get(name) for name in _LOOKED_AT},
        "spark": version("pyspark"),
        "java": [_stamp(java), _stamp(None if home is None else f"{home}/bin/java")],
    }
    return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()


def _stamp(executable: str | None) -> list[object]:
    try:
        path = Path(executable or "").resolve(strict=True)
        return [str(path), path.stat().st_mtime_ns]
    except OSError:
        return []
