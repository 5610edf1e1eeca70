from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headrace.process.python import IMPORT_VARIABLE, SAFE_PATH_VARIABLE, python_module, safe_python

LOOK = """
import sys
from headrace.process.python import look_where_the_driver_does
look_where_the_driver_does()
import queue, beside
print(queue.__file__, beside.__file__)
"""


def test_a_module_of_ours_runs_without_the_working_folder(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('imported')")
    command = python_module("headrace.wire", "--help")
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 0


def test_a_child_finds_the_drivers_modules_behind_pythons_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "script"
    folder.mkdir()
    for name in ("queue.py", "beside.py"):
        (folder / name).touch()
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    with safe_python():
        done = subprocess.run([sys.executable, "-c", LOOK], cwd=tmp_path, capture_output=True, text=True, check=True)
    queue, beside = done.stdout.split()
    assert Path(queue).parent != folder
    assert Path(beside) == folder / "beside.py"


def test_the_environment_of_the_script_stays_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SAFE_PATH_VARIABLE, "")
    monkeypatch.delenv(IMPORT_VARIABLE, raising=False)
    with safe_python():
        assert os.environ[SAFE_PATH_VARIABLE] == "1"
    assert os.environ[SAFE_PATH_VARIABLE] == ""
    assert IMPORT_VARIABLE not in os.environ


def test_python_m_headrace_leaves_the_working_folder_out(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('imported')")
    (tmp_path / "queue.py").write_text("raise SystemExit('imported')")
    command = [sys.executable, "-m", "headrace", "operators", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
