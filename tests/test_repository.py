"""What is checked in runs on every machine: no file names a folder of one machine, or where packages come from."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILE_BYTES_MAX = 1_000_000

MACHINE_FOLDER = re.compile(rb"(?<![\w.~$}])/(?:work|root|home|Users)/")
PACKAGE_SOURCE = re.compile(
    rb"(?:pypi|pythonhosted|npmjs|yarnpkg|anaconda|conda|maven(?:\.apache)?)\.(?:org|com)\b"
    rb"|https?://[^\s/]*(?:registry|artifactory|nexus|mirror)"
    rb"|--(?:(?:extra-)?index-url|find-links)",
    re.IGNORECASE,
)


@pytest.fixture(scope="module")
def tracked() -> list[Path]:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, timeout=60).stdout
    paths = [ROOT / name.decode() for name in listed.split(b"\0") if name]
    return [path for path in paths if path.is_file()]


def found(pattern: re.Pattern[bytes], paths: list[Path]) -> Iterator[str]:
    for path in paths:
        for number, line in enumerate(path.read_bytes().splitlines(), 1):
            if match := pattern.search(line):
                yield f"{path.relative_to(ROOT)}:{number}: {match[0].decode()}"


def test_no_file_names_a_folder_of_one_machine(tracked: list[Path]) -> None:
    assert list(found(MACHINE_FOLDER, tracked)) == []


def test_no_file_names_a_source_of_packages(tracked: list[Path]) -> None:
    assert list(found(PACKAGE_SOURCE, tracked)) == []


def test_a_lock_names_packages_and_no_address(tracked: list[Path]) -> None:
    locks = [path for path in tracked if path.name == "package-lock.json" or path.parent.name == "requirements"]
    assert len(locks) > 3
    assert list(found(re.compile(rb"https?://"), locks)) == []


def test_no_large_file_is_checked_in(tracked: list[Path]) -> None:
    assert len(tracked) > 100
    assert [path for path in tracked if path.stat().st_size > FILE_BYTES_MAX] == []


@pytest.mark.parametrize("line", ["see {}work/x", "open('{}home/me/file')", "={}root/.cache"])
def test_a_machine_folder_is_seen(line: str) -> None:
    assert MACHINE_FOLDER.search(line.format("/").encode())


@pytest.mark.parametrize("host", ["pypi", "files.pythonhosted", "registry.npmjs", "repo1.maven", "repo.maven.apache"])
def test_a_source_of_packages_is_seen(host: str) -> None:
    assert PACKAGE_SOURCE.search(f"from https://{host}.org/simple".encode())
