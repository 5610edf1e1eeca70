"""Starts Java for Spark at once: by the command that Spark's own scripts came to the last time.

These scripts run a Java program to find out how to run the other, which takes about as long as the start of a broker.
And they can only be run once pyspark is imported. With the command kept, once for an installation, a process can start
Java first of all and import what it needs meanwhile.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
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

from headrace.errors import DiskFailure
from headrace.process.files import write_atomically
from headrace.spark.session.archive import archive_options, class_path
from headrace.spark.session.kept import kept_directory

MAIN_CLASS: Final = "org.apache.spark.deploy.SparkSubmit"
# Of one for each set of settings; older ones make room.
COMMANDS_MAX: Final = 16
_PREFIX: Final = "java-command-"
# What differs from one data directory to the next is put in at the start.
_HERE, _JARS = "{directory}/", "{jars}"
# Of a Spark home that is ours; with one of the user's own, or settings in files, the class path is the user's.
_OWN_CLASS_PATH: Final = re.compile(r"{directory}/home/conf/?(:{directory}/home/jars/[^:]+)+")
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
    with contextlib.suppress(OSError, ValueError, DiskFailure):  # without it the next start takes longer, no more
        command = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
        options = [_anywhere(part, directory) for part in command[: command.index(MAIN_CLASS) + 1]]
        kept = [_JARS if _OWN_CLASS_PATH.fullmatch(part) else part for part in options]
        write_atomically(_command_file(directory, conf), json.dumps(kept) + "\n")
        _make_room()


def forget_command(directory: Path, conf: Mapping[str, str]) -> None:
    with contextlib.suppress(OSError):
        _command_file(directory, conf).unlink(missing_ok=True)


def _kept(directory: Path, conf: Mapping[str, str]) -> list[str] | None:
    try:
        kept = [str(part) for part in json.loads(_command_file(directory, conf).read_text())]
        java, *options = (part.replace(_HERE, f"{directory}/") for part in kept)
        if _JARS not in options:
            return [java, *options]
        jars = os.pathsep.join(map(str, class_path()))
        return [java, *archive_options(java), *(jars if option == _JARS else option for option in options)]
    except (OSError, ValueError, TypeError, IndexError):
        return None


def _make_room() -> None:
    files = sorted(kept_directory().glob(f"{_PREFIX}*.json"), key=lambda file: file.stat().st_mtime)
    for file in files[:-COMMANDS_MAX]:
        file.unlink(missing_ok=True)


def _command_file(directory: Path, conf: Mapping[str, str]) -> Path:
    return kept_directory() / f"{_PREFIX}{_key(directory, conf)[:16]}.json"


def _key(directory: Path, conf: Mapping[str, str]) -> str:
    """All that the command follows from, wherever the directory is."""
    java = shutil.which("java")
    home = os.environ.get("JAVA_HOME")
    given = {
        "conf": {name: value for name, value in conf.items() if name.startswith("spark.driver.")},
        "environment": {name: os.environ.get(name) for name in _LOOKED_AT},
        "spark": version("pyspark"),
        "java": [_stamp(java), _stamp(None if home is None else f"{home}/bin/java")],
    }
    text = _anywhere(json.dumps(given, sort_keys=True, ensure_ascii=False), directory)
    return hashlib.sha256(text.encode()).hexdigest()


def _anywhere(text: str, directory: Path) -> str:
    return text.replace(f"{directory}/", _HERE) if directory.is_absolute() else text


def _stamp(executable: str | None) -> list[object]:
    try:
        path = Path(executable or "").resolve(strict=True)
        return [str(path), path.stat().st_mtime_ns]
    except OSError:
        return []
