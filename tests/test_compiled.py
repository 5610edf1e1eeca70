"""Compiled code is kept in files, and not longer than it is that of its source."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from headrace.compiled import is_kept

PACKAGE = """
from headrace.compiled import forget_outdated
forget_outdated(__name__)
from {name}.doubling import twice
"""
DOUBLING = """
from headrace.compiled import compiled
from {name}.factor import times
@compiled
def twice(number):
    return times(number)
"""
FACTOR = """
from headrace.compiled import compiled
@compiled
def times(number):
    return number * {factor}
"""


def called(folder: Path, name: str) -> str:
    """In a process of its own: what is kept in memory does not count."""
    code = f"import {name}; print({name}.twice(21))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}
    run = [sys.executable, "-c", code]
    return subprocess.run(run, env=environment, capture_output=True, text=True, check=True, timeout=120).stdout.strip()


def test_a_change_in_a_file_that_others_call_is_seen(tmp_path: Path) -> None:
    name = "compiled_in_parts"
    package = tmp_path / name
    package.mkdir()
    (package / "__init__.py").write_text(PACKAGE.format(name=name))
    (package / "doubling.py").write_text(DOUBLING.format(name=name))
    (package / "factor.py").write_text(FACTOR.format(factor=2))
    assert called(tmp_path, name) == "42"
    kept = list((package / "__pycache__").glob("doubling.twice-*.nbi"))
    assert len(kept) == 1
    (package / "factor.py").write_text(FACTOR.format(factor=3))
    # Whatever the clock of the files tells apart.
    later_s = kept[0].stat().st_mtime + 5
    os.utime(package / "factor.py", (later_s, later_s))
    assert called(tmp_path, name) == "63"


def test_what_was_never_compiled_is_not_kept() -> None:
    assert not is_kept("headrace.errors", "anything")
    assert not is_kept("headrace_of_nowhere", "anything")


def test_what_was_touched_and_not_changed_can_be_prepared_again(tmp_path: Path) -> None:
    """Numba uses it still, by the content of its source; whether it is kept is told by the time."""
    source = tmp_path / "compiled_alone.py"
    source.write_text(
        "from headrace.compiled import compiled, is_kept\n"
        "@compiled\ndef twice(number):\n    return number * 2\n"
        "def prepare(): twice(1)\n"
        "def is_prepared(): return is_kept(__name__, 'twice')\n"
    )
    code = (
        "import compiled_alone; from headrace.spark.session import prepare as at_set_up\n"
        "at_set_up._PREPARED = (compiled_alone,); was = compiled_alone.is_prepared()\n"
        "at_set_up.prepare(); print(was, compiled_alone.is_prepared())"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    run = [sys.executable, "-c", code]

    def told() -> str:
        done = subprocess.run(run, env=environment, capture_output=True, text=True, check=True, timeout=120)
        return done.stdout.strip()

    assert [told(), told()] == ["False True", "True True"]
    (kept,) = (tmp_path / "__pycache__").glob("compiled_alone.twice-*.nbi")
    before_s = source.stat().st_mtime - 5
    os.utime(kept, (before_s, before_s))
    assert told() == "False True"
