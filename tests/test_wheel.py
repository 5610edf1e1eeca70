"""The wheel, built, installed into a clean environment outside the checkout, and its demo run there."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
INSTALL_TIMEOUT_S = 1_500
RUN_TIMEOUT_S = 550
EDITOR = "headrace/server/static/"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(INSTALL_TIMEOUT_S + RUN_TIMEOUT_S)]


@dataclass(frozen=True)
class Installed:
    """A clean environment in which only the wheel and the locked runtime parts are."""

    home: Path

    def __call__(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run(program, *arguments, timeout_s=RUN_TIMEOUT_S)

    def pip(self, *arguments: str) -> None:
        # pyspark unpacks to more than a small temporary file system holds.
        scratch = self.home / "tmp"
        scratch.mkdir(exist_ok=True)
        done = self.run("python", "-m", "pip", *arguments, timeout_s=INSTALL_TIMEOUT_S, TMPDIR=str(scratch))
        assert done.returncode == 0, done.stdout + done.stderr

    def run(
        self, program: str, *arguments: str, timeout_s: int, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.home / "bin" / program, *arguments],
            cwd=self.home,
            env={**clean_environment(), **environment},
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )


def clean_environment() -> Mapping[str, str]:
    """Nothing in it leads back to the environment of the tests."""
    strangers = ("PYTHON", "PYSPARK", "SPARK", "VIRTUAL_ENV", "HEADRACE")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(strangers)}
    own = str(Path(sys.executable).parent)
    folders = [folder for folder in inherited["PATH"].split(os.pathsep) if folder != own]
    return {**inherited, "PATH": os.pathsep.join(folders)}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("headrace-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    home = tmp_path_factory.mktemp("clean")
    try:
        venv.create(home, with_pip=True)
        environment = Installed(home)
        requirements = ROOT / "requirements"
        environment.pip("install", "--require-hashes", "-r", str(requirements / "build.txt"))
        environment.pip("install", "--require-hashes", "--no-build-isolation", "-r", str(requirements / "runtime.txt"))
        environment.pip("install", "--no-deps", str(wheel))
        yield environment
    finally:
        shutil.rmtree(home, ignore_errors=True)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def last_object(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_it_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {"headrace/py.typed", "headrace/__main__.py", "headrace/cli/__init__.py"} <= set(names)
    metadata = {name.split("/", 1)[0] for name in names} - {"headrace"}
    assert [name.rsplit(".", 1)[1] for name in metadata] == ["dist-info"]
    package = [name for name in names if name.startswith("headrace/") and not name.startswith(EDITOR)]
    assert {Path(name).suffix for name in package} <= {".py", ".typed", ".json", ".sql"}
    assert not [name for name in names if "test_" in name or "conftest" in name]
    licences = {Path(name).name for name in names if "/licenses/" in name}
    assert licences == {"LICENSE", "THIRD_PARTY_LICENSES.md"}


def test_it_holds_the_built_editor(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith(EDITOR)}
    page = zipfile.ZipFile(wheel).read(f"{EDITOR}index.html").decode()
    loaded = re.findall(r'(?:src|href)="/(assets/[^"]+)"', page)
    assert loaded
    assert {f"{EDITOR}{path}" for path in loaded} <= names


def test_it_holds_its_bill_of_materials(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/sboms/headrace.cdx.json"))
    bill = json.loads(archive.read(name))
    assert (bill["bomFormat"], bill["metadata"]["component"]["name"]) == ("CycloneDX", "headrace")
    components = {component["purl"]: component for component in bill["components"]}
    assert len(components) == len(bill["components"])
    locked = re.findall(r"^([a-z0-9][\w.-]*)==([^\s;]+)", (ROOT / "requirements" / "runtime.txt").read_text(), re.M)
    assert {f"pkg:pypi/{part}@{version}" for part, version in locked} <= set(components)
    assert all(components[f"pkg:pypi/{part}@{version}"]["hashes"] for part, version in locked)
    assert any(purl.startswith("pkg:npm/react@") for purl in components), "the editor's parts are in it too"


def test_every_part_it_asks_for_is_locked(installed: Installed) -> None:
    done = installed("python", "-m", "pip", "check")
    assert done.returncode == 0, done.stdout


def test_it_runs_from_where_it_was_installed(installed: Installed) -> None:
    done = installed("python", "-c", "import headrace; print(headrace.__file__)")
    assert Path(done.stdout.strip()).is_relative_to(installed.home), done.stderr


def test_the_doctor_finds_nothing_missing(installed: Installed) -> None:
    ports = ("--port", str(free_port()), "--http-port", str(free_port()))
    report = last_object(installed("headrace", "doctor", "--json", *ports))
    assert report["healthy"] is True
    assert "Java" in {check["name"] for check in report["checks"]}


def test_the_demo_loses_and_doubles_nothing(installed: Installed) -> None:
    result = last_object(installed("headrace", "demo", "--headless", "--until-events", "2000", "--json"))
    assert (result["lost"], result["duplicated"], result["events_in"]) == (0, 0, 2000)
    assert result["events_out"] > 0
