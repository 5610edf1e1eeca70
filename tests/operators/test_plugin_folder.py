"""Operators from a folder: the template runs as it is, broken files and other API versions are reported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from headrace.errors import InvalidInput
from headrace.operators import WatchedCatalogue, load_catalogue
from headrace.operators.plugin_folder import FOLDER_VARIABLE, folder_signature
from headrace.operators.template import operator_template
from headrace.serial import API_VERSION


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    return tmp_path


def write(folder: Path, name: str, api_version: int = API_VERSION, *, keyed: bool = False) -> None:
    for file, content in operator_template(name, api_version, keyed=keyed).items():
        (folder / file).write_text(content)


@pytest.mark.parametrize("keyed", [False, True], ids=["batches", "keyed"])
def test_the_template_is_found_and_its_test_passes(folder: Path, keyed: bool) -> None:
    write(folder, "row-counter", keyed=keyed)
    catalogue = load_catalogue(())
    assert catalogue.plugin_problems == ()
    assert catalogue.get("row-counter").spec.title == "Row counter"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder), str(folder)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert "2 passed" in done.stdout, done.stdout + done.stderr


def test_a_broken_file_and_another_api_version_are_reported(folder: Path) -> None:
    write(folder, "good")
    write(folder, "later", API_VERSION + 1)
    write(folder, "later-keyed", API_VERSION + 1, keyed=True)
    (folder / "broken.py").write_text("raise OSError('no')")
    catalogue = load_catalogue(())
    assert "good" in catalogue
    assert "later" not in catalogue
    broken, later, keyed = catalogue.plugin_problems
    assert broken == "plugin 'broken.py': OSError: no"
    for problem in (later, keyed):
        assert f"version {API_VERSION + 1} of the operator API" in problem


def test_a_file_that_changed_is_loaded_anew(folder: Path) -> None:
    write(folder, "counter")
    load_catalogue(())
    before = folder_signature()
    path = folder / "counter.py"
    path.write_text(path.read_text().replace("Numbers the rows", "Counts the rows"))
    assert load_catalogue(()).get("counter").spec.summary == "Counts the rows of each partition."
    path.touch()
    assert folder_signature() != before


def test_a_folder_is_watched(folder: Path) -> None:
    catalogue = WatchedCatalogue(look_again_s=0)
    assert "late" not in catalogue
    write(folder, "late")
    assert catalogue.get("late").spec.title == "Late"
    assert "late" in catalogue.names
    (folder / "late.py").write_text("raise OSError('no')")
    assert ("late" in catalogue, catalogue.plugin_problems) == (False, ("plugin 'late.py': OSError: no",))
    (folder / "late.py").unlink()
    assert catalogue.plugin_problems == ()
    assert "filter" in catalogue


@pytest.mark.parametrize("name", ["Window", "my_window", "-x", "x-", ""])
def test_names_that_no_operator_can_have(name: str) -> None:
    with pytest.raises(InvalidInput):
        operator_template(name, API_VERSION)
