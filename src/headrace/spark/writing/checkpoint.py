"""Spark's checkpoint of one query, kept true to the commit record.

Spark never syncs these files. So before a batch is committed, what only they hold (state, file lists) is synced here;
and before a query starts, the files that say how far it came are written anew from the record.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from pathlib import Path

from headrace.errors import CorruptData
from headrace.spark.writing.commit import OPENED, CommitRecord

# Files written this long before the last commit may still have been in flight then (snapshots upload later).
_SYNC_SLACK_S = 120.0


class Checkpoint:
    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def offsets(self, batch: int) -> str | None:
        """What Spark planned for a batch: its write-ahead file, word for word."""
        return _text(self.directory / "offsets" / str(batch))

    def commit(self, batch: int) -> str | None:
        return _text(self.directory / "commits" / str(batch))

    def sync(self, since_ms: int) -> None:
        """After this, the state and the file lists written since then survive a power loss."""
        oldest_s = since_ms / 1000 - _SYNC_SLACK_S
        for name in ("state", "sources"):
            for folder, _, files in os.walk(self.directory / name):
                fresh = [path for file in files if _modified_s(path := os.path.join(folder, file)) >= oldest_s]
                for path in [*fresh, folder] if fresh else []:
                    _fsync(path)

    def rebuild(self, last: CommitRecord, *, again: bool = False) -> None:
        """Makes the checkpoint say exactly what the record says. Spark then plans the batch after it, or, where it had
        not yet noted the end of that batch or is to report it `again`, runs it once more; the sink knows it and writes
        nothing twice."""
        if last.batch == OPENED:
            shutil.rmtree(self.directory, ignore_errors=True)
            return
        if last.offsets is None:
            raise CorruptData(f"the commit record of batch {last.batch} has no offsets")
        self._write("offsets", last.batch, last.offsets)
        if last.batch > 0:
            self._write("offsets", last.batch - 1, last.previous_offsets)
            self._write("commits", last.batch - 1, last.previous_commit)
        self._drop_after("offsets", last.batch)
        self._drop_after("commits", last.batch)
        noted = self.directory / "commits" / str(last.batch)
        if again or not _is_whole(noted):
            noted.unlink(missing_ok=True)
        # Spark refuses a checkpoint without its id; nothing else depends on which one it is.
        if not _is_whole(self.directory / "metadata"):
            (self.directory / "metadata").write_text(json.dumps({"id": str(uuid.uuid4())}))

    def _write(self, kind: str, batch: int, text: str | None) -> None:
        path = self.directory / kind / str(batch)
        if text is None or _text(path) == text:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def _drop_after(self, kind: str, batch: int) -> None:
        for path in (self.directory / kind).glob("*"):
            if not path.name.isdigit() or int(path.name) > batch:
                path.unlink()


def _is_whole(path: Path) -> bool:
    """Whether the file is there and ends with a whole JSON object."""
    try:
        json.loads((_text(path) or "").splitlines()[-1])
    except (IndexError, ValueError):
        return False
    return True


def _text(path: Path) -> str | None:
    try:
        return path.read_text()
    except (FileNotFoundError, UnicodeDecodeError):
        return None


def _modified_s(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except FileNotFoundError:
        return 0.0


def _fsync(path: str) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
