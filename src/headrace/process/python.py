"""How a Python process of ours is started: nothing that lies in the working folder is imported by it.

Python puts the working folder first on the path of `python -m`. A file `queue.py` there, left by anyone who may write
to the folder, would run with the rights of whoever started Headrace.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

SAFE_PATH_VARIABLE: Final = "PYTHONSAFEPATH"
# The folders that the driver imports from. Its children look there last, so that no file there hides one of Python's.
IMPORT_VARIABLE: Final = "HEADRACE_IMPORT_PATH"


def python_module(module: str, *arguments: str) -> list[str]:
    """The command that runs a module in a process of its own."""
    return [sys.executable, "-P", "-m", module, *arguments]


@contextmanager
def safe_python() -> Iterator[None]:
    """A program that is started meanwhile starts its own Python processes without the working folder on their path.

    They find modules of this process by `look_where_the_driver_does`.
    """
    given = {SAFE_PATH_VARIABLE: "1", IMPORT_VARIABLE: os.pathsep.join(map(os.path.abspath, sys.path))}
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def look_where_the_driver_does() -> None:
    """Called first in a Python process that Spark started: a script's own modules are found in the script's folder."""
    for folder in os.environ.get(IMPORT_VARIABLE, "").split(os.pathsep):
        look_in(folder)


def look_in(folder: str) -> None:
    """Behind everything else: an absolute folder that modules are imported from."""
    if os.path.isabs(folder) and folder not in sys.path:
        sys.path.append(folder)
