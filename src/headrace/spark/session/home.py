"""A Spark home without the zipped copy of pyspark.

Spark puts that zip first on the path of every Python worker, and Python compiles what it imports from a zip anew each
time: 0.7 s of every start of a worker. Without it workers import the installed package.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from headrace.errors import ExternalFailure

_VARIABLE: Final = "SPARK_HOME"
# What Spark's scripts and the JVM look for in its home.
_PARTS: Final = ("bin", "jars")


@contextmanager
def spark_home(directory: Path) -> Iterator[None]:
    """While it lasts, a Spark that is started finds its home below `directory`; one that the user names stays."""
    if _VARIABLE in os.environ:
        yield
        return
    os.environ[_VARIABLE] = str(_linked(directory / "home"))
    try:
        yield
    finally:
        del os.environ[_VARIABLE]


def _linked(home: Path) -> Path:
    home.mkdir(parents=True, exist_ok=True)
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        raise ExternalFailure("pyspark is not installed", hint="pip install headrace brings it")
    package = Path(found.origin).parent
    for part in _PARTS:
        link = home / part
        # Renamed into place: several processes may start at once.
        fresh = link.with_suffix(f".{os.getpid()}")
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(package / part)
        fresh.replace(link)
    return home
