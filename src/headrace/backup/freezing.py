"""The files beside the log as they were at the moment of a backup, though jobs go on and remove what they need no more.

The last commit record below the cut names state files. A job keeps those for two more micro-batches, and no file is
ever written again under its name: a second name for each, made right after the cut, keeps its content for as long as it
takes to send it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headrace.log.holds import HOLDS_DIRECTORY
from headrace.wire.security.registry import SECURITY_FILE

LOG_DIRECTORY: Final = "log"
# Copies of tables may be ahead of the cut, and are made from their topics.
TABLE_COPIES: Final = "tables.sqlite"
# What belongs to the processes that run, or is made anew by them.
LEFT_OUT: Final = frozenset({LOG_DIRECTORY, "logs", "spark", "lock", "run.json", "token", TABLE_COPIES})
# Of the log's directory, where everything else is topics: users with their rights, and what jobs hold.
KEPT_OF_LOG: Final = (SECURITY_FILE, HOLDS_DIRECTORY)
DATABASE_SUFFIX: Final = ".sqlite"
_PREFIX: Final = "backup-"


@dataclass(frozen=True, slots=True)
class FrozenFile:
    """A file's path in the data directory, and where its content is while the backup runs."""

    path: str
    content: Path


@contextmanager
def frozen_files(data_directory: Path) -> Iterator[list[FrozenFile]]:
    """Every file beside the log, as it is now; valid inside. Databases stay in their place: they have their own way."""
    with tempfile.TemporaryDirectory(prefix=_PREFIX, dir=data_directory) as place:
        yield list(_frozen(data_directory, Path(place)))


def _frozen(data_directory: Path, place: Path) -> Iterator[FrozenFile]:
    for number, path in enumerate(_files(data_directory)):
        relative = str(path.relative_to(data_directory))
        if path.suffix == DATABASE_SUFFIX:
            yield FrozenFile(relative, path)
            continue
        # A job may remove files of its own that it no longer needs.
        with suppress(FileNotFoundError):
            os.link(path, place / str(number))
            yield FrozenFile(relative, place / str(number))


def _files(data_directory: Path) -> Iterator[Path]:
    for entry in [*sorted(data_directory.iterdir()), *(data_directory / LOG_DIRECTORY / name for name in KEPT_OF_LOG)]:
        passing = entry.name.endswith(("-wal", "-shm", "-journal", ".tmp")) or entry.name.startswith(_PREFIX)
        if (entry.name in LEFT_OUT and entry.parent == data_directory) or passing:
            continue
        for path in sorted(entry.rglob("*")) if entry.is_dir() else [entry]:
            if path.is_file():
                yield path
