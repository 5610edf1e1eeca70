"""Small files that are replaced whole: a reader, and a crash, see the old content or the new one."""

from __future__ import annotations

import os
from pathlib import Path

from headrace.errors import DiskFailure

PRIVATE = 0o600


def write_atomically(path: Path, text: str, *, mode: int = PRIVATE) -> None:
    """On disk when this returns. Raises DiskFailure; then the old content stands."""
    try:
        _write(path, text.encode(), mode)
    except OSError as error:
        raise DiskFailure(f"{path} cannot be written: {error.strerror}") from error


def _write(path: Path, content: bytes, mode: int) -> None:
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    try:
        os.fchmod(descriptor, mode)  # an older file of this name keeps its mode otherwise
        _write_all(descriptor, content)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    fresh.replace(path)
    _sync_directory(path.parent)


def _write_all(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
