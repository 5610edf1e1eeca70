"""Which pipelines are wanted to run, and at which version: what a restarted server starts again."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Final

from headrace.errors import CorruptData
from headrace.process import write_atomically

WANTED_FORMAT: Final = 1


class WantedState:
    """A small file that is replaced whole. Each change is on disk when its call returns."""

    def __init__(self, path: Path) -> None:
        """Raises CorruptData for a file that cannot be read."""
        self._path = path
        self._lock = threading.Lock()
        self._versions = _read(path)

    @property
    def versions(self) -> dict[str, int]:
        """Pipeline name → version number."""
        with self._lock:
            return dict(self._versions)

    def want(self, pipeline: str, version: int) -> None:
        with self._lock:
            self._write({**self._versions, pipeline: version})

    def forget(self, pipeline: str) -> None:
        with self._lock:
            if pipeline in self._versions:
                self._write({name: number for name, number in self._versions.items() if name != pipeline})

    def _write(self, versions: dict[str, int]) -> None:
        write_atomically(
            self._path, json.dumps({"format": WANTED_FORMAT, "pipelines": versions}, sort_keys=True) + "\n"
        )
        self._versions = versions


def _read(path: Path) -> dict[str, int]:
    try:
        content = json.loads(path.read_text())
        if content["format"] != WANTED_FORMAT:
            raise CorruptData(f"{path} has format {content['format']}; this version reads {WANTED_FORMAT}")
        return {str(name): int(number) for name, number in content["pipelines"].items()}
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        hint = "remove it: pipelines then have to be started by hand"
        raise CorruptData(f"{path} cannot be read: {error!r}", hint=hint) from error
