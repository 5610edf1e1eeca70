"""One child process: started tethered to this one, ready when it says so in JSON, stopped with its own children."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from headrace.errors import DiskFailure, ExternalFailure, HeadraceError, InvalidInput
from headrace.process.private import PRIVATE_DIRECTORY, PRIVATE_UMASK, child_environment
from headrace.process.python import python_module

STOP_WAIT_S: Final = 20.0
POLL_S: Final = 0.02
# Its last words are in the pipe; only a process that outlived the group could hold it open.
LISTENER_WAIT_S: Final = 2.0
LOG_BYTES_MAX: Final = 16 * 1024 * 1024
LINE_BYTES_MAX: Final = 64 * 1024
# Sentences of a child that nobody has read yet.
NOTICES_MAX: Final = 100

# A child's exit code that means: trying again would not help.
REFUSED: Final = 2
WORDS_BYTES_MAX: Final = 4096

NOTICE: Final = "notice"

Answer = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Command:
    """`module` prints one JSON object on standard output when it is ready, and later `{"notice": "…"}` for whatever its
    parent is to say. When it cannot start it says why on standard error, with a `hint: …` line if there is one, and
    exits with REFUSED."""

    name: str
    module: str
    arguments: tuple[str, ...]
    log_path: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    inherited: tuple[int, ...] = ()


class Child:
    """Runs in a session of its own, so that Ctrl-C in a terminal reaches only the parent, which stops it in order."""

    def __init__(self, command: Command) -> None:
        self.command = command
        self._answer: Answer | None = None
        self._notices: deque[str] = deque(maxlen=NOTICES_MAX)
        log = _open_log(command.log_path)
        self._log_start = os.fstat(log).st_size
        try:
            self._process = subprocess.Popen(
                python_module("headrace.process.tether", command.module, *command.arguments),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, **child_environment(), **command.environment},
                umask=PRIVATE_UMASK,
                pass_fds=command.inherited,
                start_new_session=True,
            )
        finally:
            os.close(log)
        self._listener = threading.Thread(target=self._listen, name=f"{command.name}-output", daemon=True)
        self._listener.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def answer(self) -> Answer | None:
        """The ready object; None until it came."""
        return self._answer

    def notices(self) -> list[str]:
        """What it said since the last call."""
        return [self._notices.popleft() for _ in range(len(self._notices))]

    def poll(self) -> int | None:
        """Its exit code, or None while it runs. Once it has ended, so have the processes that it started."""
        if self._process.returncode is None and _has_ended(self.pid):
            self._kill_group()
            self._reap()
        return self._process.returncode

    def wait_ready(self, timeout_s: float) -> Answer:
        """Raises ChildRefused with the child's own words, ExternalFailure when it ended or gave no answer in time."""
        deadline_s = time.monotonic() + timeout_s
        while time.monotonic() < deadline_s:
            ended = self.poll() is not None
            if self._answer is not None:
                return self._answer
            if ended:
                raise self.failure()
            time.sleep(POLL_S)
        self.stop(wait_s=0)
        raise ExternalFailure(f"the {self.command.name} did not start within {timeout_s:.0f} s", hint=self._log_hint())

    def failure(self) -> HeadraceError:
        """Why it ended: its own words if it refused to run, else its exit code and where its log is."""
        code = self.poll()
        if code == REFUSED:
            words, _, hint = self._last_words().partition("\nhint: ")
            return ChildRefused(words or f"the {self.command.name} refused to start", hint=hint or self._log_hint())
        ending = f"was killed by signal {-code}" if code is not None and code < 0 else f"ended with code {code}"
        return ExternalFailure(f"the {self.command.name} {ending}", hint=self._log_hint())

    def stop(self, wait_s: float = STOP_WAIT_S) -> None:
        """Asks it to stop; what has not stopped after `wait_s` is killed. May be called again."""
        deadline_s = time.monotonic() + wait_s
        if wait_s > 0 and self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGTERM)
            while self.poll() is None and time.monotonic() < deadline_s:
                time.sleep(POLL_S)
        if self._process.returncode is None:
            self._kill_group()
            self._reap()

    def _kill_group(self) -> None:
        """Only before the process is reaped: until then its number, which names the group, is not given to another."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def _reap(self) -> None:
        self._process.wait()
        self._listener.join(LISTENER_WAIT_S)
        if self._process.stdin is not None:
            self._process.stdin.close()

    def _listen(self) -> None:
        """Reads the output to its end, so that the child never waits for a reader."""
        output = self._process.stdout
        if output is None:
            return
        with output:
            while line := output.readline(LINE_BYTES_MAX):
                said = _json_object(line)
                if said is not None and NOTICE in said:
                    self._notices.append(str(said[NOTICE]))
                elif self._answer is None:
                    self._answer = said

    def _last_words(self) -> str:
        """What it wrote to its log after the last empty line and is no log line."""
        with self.command.log_path.open("rb") as log:
            end = log.seek(0, os.SEEK_END)
            log.seek(max(self._log_start, end - WORDS_BYTES_MAX))
            written = log.read().decode(errors="replace").rstrip()
        lines = written.rpartition("\n\n")[2].splitlines()
        return "\n".join(line for line in lines if not line.startswith("{"))

    def _log_hint(self) -> str:
        return f"its log is {self.command.log_path}"


def tell_parent(sentence: str) -> None:
    """Called in a child: its parent says the sentence."""
    with contextlib.suppress(OSError):  # nobody listens any more
        os.write(1, json.dumps({NOTICE: sentence}).encode() + b"\n")


class ChildRefused(InvalidInput):
    """A child said clearly why it cannot run; trying again would not help."""

    code = "refused"


def _json_object(line: bytes) -> Answer | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _has_ended(pid: int) -> bool:
    """Without reaping it."""
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def _open_log(path: Path) -> int:
    """Appends; a log that grew large becomes the one older log that is kept. Raises DiskFailure."""
    try:
        path.parent.mkdir(PRIVATE_DIRECTORY, parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size > LOG_BYTES_MAX:
            path.replace(path.with_suffix(".1.log"))
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError as error:
        raise DiskFailure(f"{path} cannot be written: {error.strerror}") from error
