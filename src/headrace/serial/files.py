"""Where state files are kept. A file is written once, whole and durably, and never changed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from headrace.errors import Conflict, CorruptData, DiskFailure


class StateFiles(Protocol):
    """Names are relative, with `/` between folders."""

    def write(self, name: str, parts: Iterable[bytes | pa.Buffer]) -> None:
        """On disk, under its name, when this returns. Raises Conflict if the name is taken, DiskFailure."""

    def read(self, name: str) -> pa.Buffer:
        """The content, mapped where that can be. Raises CorruptData for a file that is gone."""

    def names(self) -> list[str]: ...

    def remove(self, name: str) -> None: ...


class LocalFiles:
    """A folder of a local or shared file system."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def write(self, name: str, parts: Iterable[bytes | pa.Buffer]) -> None:
        path = self.directory / name
        try:
            made = _make_folders(path.parent)
            # A file that a crash left half-written has the name of its own attempt: nobody reads it.
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                for part in parts:
                    _write_all(descriptor, memoryview(part))
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            for folder in (path.parent, *made):
                _sync_folder(folder)
        except FileExistsError as error:
            raise Conflict(f"the state file {path} exists already") from error
        except OSError as error:
            raise DiskFailure(f"the state file {path} cannot be written: {error.strerror}") from error

    def read(self, name: str) -> pa.Buffer:
        path = self.directory / name
        try:
            with pa.memory_map(str(path)) as file:
                return file.read_buffer()
        except OSError as error:
            raise CorruptData(f"the state file {path}, which was committed, cannot be read: {error}") from error

    def names(self) -> list[str]:
        return sorted(str(path.relative_to(self.directory)) for path in self.directory.glob("*/*/*") if path.is_file())

    def remove(self, name: str) -> None:
        (self.directory / name).unlink(missing_ok=True)

    def link_all(self, names: Iterable[tuple[str, str]]) -> None:
        """Files under second names (old, new), on disk when this returns; a crash on the way does no harm.

        Raises DiskFailure.
        """
        folders: dict[Path, None] = {}
        try:
            for old, new in names:
                path = self.directory / new
                folders |= dict.fromkeys((*_make_folders(path.parent), path.parent))
                path.unlink(missing_ok=True)
                os.link(self.directory / old, path)
            for folder in folders:
                _sync_folder(folder)
        except OSError as error:
            raise DiskFailure(f"state files in {self.directory} cannot be renamed: {error.strerror}") from error


def _make_folders(folder: Path) -> list[Path]:
    """Makes what is missing; returns the folders that got a new entry by that."""
    changed: list[Path] = []
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        changed.append(path.parent)
    return changed


def _write_all(descriptor: int, content: memoryview) -> None:
    while content:
        content = content[os.write(descriptor, content) :]


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
