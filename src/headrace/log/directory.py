"""The data directory as a whole: one owner at a time, and a format version."""

from __future__ import annotations

import fcntl
import json
import os
import weakref
from pathlib import Path

from headrace.errors import Conflict, CorruptData
from headrace.log.storage import Storage, read_whole, replace_atomically

# 2: members of groups are kept in __consumer_offsets, which an older broker cannot read.
FORMAT_VERSION = 2
FORMAT_FILE = "format.json"
LOCK_FILE = "lock"


class DirectoryLock:
    """Held from construction to `release`, or as long as anything refers to it: to the end of the process at most."""

    def __init__(self, directory: Path) -> None:
        """Raises Conflict that names the process which holds it."""
        self._descriptor = os.open(directory / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(self._descriptor, 32, 0).decode(errors="replace").strip() or "unknown"
            os.close(self._descriptor)
            raise Conflict(
                f"data directory {directory} is in use by process {owner}",
                hint="stop that process, or choose another data directory",
            ) from None
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)
        self._close = weakref.finalize(self, os.close, self._descriptor)

    def release(self) -> None:
        """Called once, or again: then nothing happens."""
        self._close()


def check_format(storage: Storage, directory: Path) -> None:
    """Accept a directory of this format or an older one, and mark it with this one: older brokers refuse it then.

    Raises Conflict for a newer format and for a directory that holds something else, CorruptData for a broken mark.
    """
    content = read_whole(storage, directory / FORMAT_FILE)
    if content is None:
        strangers = [n for n in storage.list_directory(directory) if n not in (LOCK_FILE, f"{FORMAT_FILE}.tmp")]
        if strangers:
            raise Conflict(
                f"{directory} holds {strangers[0]!r} and no {FORMAT_FILE}: it is no data directory of Headrace",
                hint="choose an empty directory",
            )
        mark_format(storage, directory)
        return
    version = _version(content)
    if version > FORMAT_VERSION:
        raise Conflict(
            f"{directory} has format version {version}; this Headrace knows versions up to {FORMAT_VERSION}",
            hint="use the newer Headrace that wrote it",
        )
    if version < FORMAT_VERSION:
        mark_format(storage, directory)


def mark_format(storage: Storage, directory: Path) -> None:
    """The directory has this format from now on."""
    replace_atomically(storage, directory / FORMAT_FILE, json.dumps({"format_version": FORMAT_VERSION}).encode())


def _version(content: bytes) -> int:
    try:
        return int(json.loads(content)["format_version"])
    except (ValueError, KeyError, TypeError) as error:
        raise CorruptData(f"{FORMAT_FILE} cannot be read: {error}", hint="restore it from a backup") from error
