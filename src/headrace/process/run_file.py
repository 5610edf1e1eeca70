"""`run.json`: what runs on a data directory, and how to reach it. For the owner's eyes only, for it holds the token."""

from __future__ import annotations

import dataclasses
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headrace.errors import CorruptData, NotFound
from headrace.process.files import PRIVATE, write_atomically
from headrace.process.ports import LOOPBACK

RUN_FILE: Final = "run.json"
_HINT: Final = "start it with `headrace up`, or name its data directory with --data-dir"


@dataclass(frozen=True, slots=True)
class RunInfo:
    """A number of 0: the part is just being started again, or the broker is a cluster elsewhere."""

    pid: int
    broker_pid: int
    server_pid: int
    bootstrap: str
    http_port: int
    token: str
    # The file with the broker's credential; empty for a cluster elsewhere.
    credential: str = ""
    # Where others reach the broker, if that is another address; and whether they have to authenticate there.
    public: str = ""
    authenticated: bool = False

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.http_port}"

    @property
    def url_with_token(self) -> str:
        return f"{self.url}/?token={self.token}"

    def write(self, data_directory: Path) -> None:
        write_atomically(data_directory / RUN_FILE, json.dumps(dataclasses.asdict(self)) + "\n", mode=PRIVATE)

    @classmethod
    def read(cls, data_directory: Path) -> RunInfo:
        """Raises NotFound when nothing runs there, CorruptData for a file that is not ours."""
        path = data_directory / RUN_FILE
        try:
            info = cls(**json.loads(path.read_text()))
        except FileNotFoundError:
            raise NotFound(f"no Headrace runs on {data_directory.absolute()}", hint=_HINT) from None
        except (ValueError, TypeError) as error:
            raise CorruptData(f"{path} cannot be read: {error}") from error
        if not _lives(info.pid):
            raise NotFound(f"the Headrace that ran on {data_directory.absolute()} is gone", hint=_HINT)
        return info

    @staticmethod
    def remove(data_directory: Path) -> None:
        (data_directory / RUN_FILE).unlink(missing_ok=True)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
