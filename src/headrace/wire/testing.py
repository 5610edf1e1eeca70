"""Real broker processes for tests: started, killed without warning, started again."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

from headrace.errors import Conflict, ExternalFailure

END_TIMEOUT_S: Final = 30.0


class BrokerProcess:
    """A broker with its own data directory. Started again, it keeps its port, so that clients find it."""

    def __init__(self, data_dir: Path, *arguments: str) -> None:
        self.data_dir = data_dir
        self.port = 0
        self._arguments = arguments
        self._process: subprocess.Popen[bytes] | None = None
        self._log_path = data_dir.with_name(data_dir.name + ".log")

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        return self._running().pid

    @property
    def log(self) -> str:
        """Everything it said on stderr since the first start."""
        return self._log_path.read_text()

    def start(self) -> None:
        """Ready to serve when it returns. Raises ExternalFailure with what the broker said when it is not."""
        command = [sys.executable, "-m", "headrace.wire", "--data-dir", str(self.data_dir), "--port", str(self.port)]
        with self._log_path.open("ab") as log:
            self._process = subprocess.Popen([*command, *self._arguments], stdout=subprocess.PIPE, stderr=log)
        line = self._process.stdout.readline() if self._process.stdout else b""
        if not line:
            self._end(signal.SIGKILL)
            raise ExternalFailure(f"the broker did not start: {self.log}")
        self.port = json.loads(line)["port"]

    def kill(self) -> None:
        """No warning, no clean-up."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """The exit code of a clean stop; 0 when it does not run."""
        return self._end(signal.SIGTERM)

    def _end(self, number: signal.Signals) -> int:
        if self._process is None:
            return 0
        process, self._process = self._process, None
        process.send_signal(number)
        code = process.wait(END_TIMEOUT_S)
        if process.stdout:
            process.stdout.close()
        return code

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise Conflict("the broker is not running")
        return self._process

    def restart(self) -> None:
        """As after a crash: killed, then started on the same data."""
        self.kill()
        self.start()
