"""Looks at the free space of the data directory, and says so when it becomes too little and when it is enough again."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from typing import Final

from headrace.process.disk import DiskSpace
from headrace.spark.jobs.notices import Notices

LOOK_S: Final = 2.0
NOTICE_DISK: Final = "disk"
HINT: Final = "free some space: writes are refused when it is full; what waits for it goes on by itself"


class DiskCheck:
    """Looks every LOOK_S between `start` and `stop`."""

    def __init__(self, directory: Path, notices: Notices) -> None:
        self._directory = directory
        self._notices = notices
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="disk-check", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def look(self) -> DiskSpace:
        """Raises OSError for a directory that is gone."""
        found = DiskSpace.of(self._directory)
        if found.is_nearly_full:
            self._notices.begin(NOTICE_DISK, str(found), HINT)
        elif found.has_enough:
            self._notices.end(NOTICE_DISK, f"the disk of {found.path} has space again")
        return found

    def _run(self) -> None:
        while True:
            with contextlib.suppress(OSError):
                self.look()
            if self._stopping.wait(LOOK_S):
                return
