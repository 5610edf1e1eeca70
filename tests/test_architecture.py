"""The map of the code leads somewhere: each file and folder that it names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "headrace"
MAP = (ROOT / "ARCHITECTURE.md").read_text()
# Made by a build.
MADE = {"server/static/"}
LINE_CHARACTERS_MAX = 125


def is_there(name: str) -> bool:
    """From the root, or anywhere in the source: what stands in a folder's own line is named without it."""
    found = [ROOT / name, *SOURCE.rglob(name.rstrip("/"))]
    return any(path.is_dir() if name.endswith("/") else path.is_file() for path in found)


def names_in(text: str) -> set[str]:
    return set(re.findall(r"`([\w/]+(?:\.py|/))`", text))


def test_every_file_and_folder_that_it_names_is_there() -> None:
    named = names_in(MAP)
    assert len(named) > 50
    assert sorted(name for name in named - MADE if not is_there(name)) == []


def test_every_file_that_the_source_names_is_there() -> None:
    for path in (SOURCE / "spark").rglob("*.py"):
        named = {name for name in names_in(path.read_text()) if name.startswith("spark/")}
        assert sorted(name for name in named if not is_there(name)) == [], path


def test_its_lines_fit() -> None:
    is_drawn = False
    for line in MAP.splitlines():
        is_drawn ^= line.startswith("```")
        if not is_drawn and not line.startswith("|"):
            assert len(line) <= LINE_CHARACTERS_MAX, line


@pytest.mark.parametrize("name", ["spark/nowhere.py", "nowhere/", "log/nowhere.py"])
def test_what_is_not_there_is_seen(name: str) -> None:
    assert not is_there(name)
