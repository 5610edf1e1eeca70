"""Copies of the plugin folder, by content: a pipeline that runs keeps the code that it was started with.

`<data directory>/code/<hash>/` has the Python files of the folder and of its packages, links to all else in it, and
the functions that were given by value. Nothing changes such a copy; which one a pipeline has stands in
`jobs/<pipeline>/code.json`.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from headrace.operators.folder_modules import ORIGIN_FILE, code_files, is_kept, is_package
from headrace.operators.plugin_folder import plugin_folder
from headrace.operators.session_values import VALUES_FOLDER
from headrace.process.private import PRIVATE_DIRECTORY

KEPT_FOLDER: Final = "code"
CODE_FILE: Final = "code.json"
_UNFINISHED: Final = ".unfinished-"


def keep_code(root: Path, values: Mapping[str, bytes]) -> str | None:
    """The copy of the plugin folder as it is now, with these values; None where there is nothing to copy.

    Raises OSError.
    """
    live, content = _live()
    content |= {f"{VALUES_FOLDER}/{name}": value for name, value in values.items() if value}
    if not content:
        return None
    kept = root / KEPT_FOLDER / _hash(live, content)
    if not kept.is_dir():
        _write(kept, live, content)
    return str(kept.absolute())


def code_name() -> str | None:
    """How a copy of the folder as it is now is called, without values; None where there is nothing to copy."""
    live, content = _live()
    return _hash(live, content) if content else None


def _live() -> tuple[Path | None, dict[str, bytes]]:
    folder = plugin_folder()
    live = Path(os.path.abspath(folder)) if folder and os.path.isdir(folder) else None
    return live, {} if live is None else {str(path.relative_to(live)): _read(path) for path in code_files(str(live))}


def note_code(jobs: Path, pipeline: str, folder: str | None) -> None:
    """The pipeline has this copy from now on. Raises OSError."""
    path = jobs / pipeline / CODE_FILE
    if folder is None:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{_UNFINISHED}{CODE_FILE}")
    new.write_text(json.dumps({"code": Path(folder).name}))
    new.replace(path)


def noted_code(root: Path, jobs: Path, pipeline: str) -> str | None:
    """The copy that the pipeline has; None where it has none, or where it is gone."""
    try:
        kept = root / KEPT_FOLDER / str(json.loads((jobs / pipeline / CODE_FILE).read_text())["code"])
    except (OSError, ValueError, KeyError):
        return None
    return str(kept.absolute()) if kept.parent == root / KEPT_FOLDER and kept.is_dir() else None


def sweep_code(root: Path, jobs: Path, used: Iterable[str | None] = ()) -> None:
    """Removes copies that no pipeline has any more."""
    noted = {noted_code(root, jobs, path.parent.name) for path in jobs.glob(f"*/{CODE_FILE}")} | set(used)
    for path in (root / KEPT_FOLDER).glob("*"):
        is_ours = is_kept(str(path)) or path.name.startswith(_UNFINISHED)
        if is_ours and str(path.absolute()) not in noted:
            shutil.rmtree(path, ignore_errors=True)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:  # removed since the folder was listed
        return b""


def _hash(live: Path | None, content: Mapping[str, bytes]) -> str:
    """Two folders never share a copy: it has links into the one that it was made of."""
    digest = hashlib.sha256(str(live).encode())
    for name, data in sorted(content.items()):
        digest.update(f"\0{name}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()[:24]


def _write(kept: Path, live: Path | None, content: Mapping[str, bytes]) -> None:
    """There with all its files, or not at all: another thread may make the same copy."""
    kept.parent.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=kept.parent))
    try:
        for name, data in content.items():
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            (new / name).write_bytes(data)
        (new / ORIGIN_FILE).write_text("" if live is None else str(live))
        if live is not None:
            _link_others(live, new)
        new.rename(kept)
    except OSError:
        shutil.rmtree(new, ignore_errors=True)
        if not kept.is_dir():
            raise


def _link_others(live: Path, new: Path) -> None:
    """What code finds beside itself: models, tables, folders that are no packages."""
    for path in live.iterdir():
        if path.name.startswith((".", "__pycache__")) or (new / path.name).is_file():
            continue
        if not is_package(path):
            (new / path.name).symlink_to(path)
            continue
        for inner in path.rglob("*"):
            place = new / inner.relative_to(live)
            if inner.is_file() and inner.parent.name != "__pycache__" and not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                place.symlink_to(inner)
