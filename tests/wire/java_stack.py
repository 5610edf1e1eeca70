"""Programs of Kafka's Java world as child processes: what they print is read line by line, what they log is kept."""

from __future__ import annotations

import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue

import pytest
from tests.missing import skip_without

from headrace.bench.log_kafka import VERSION, kafka_classpath
from headrace.errors import ExternalFailure

CLIENTS = Path(__file__).parent / "clients"
DEADLINE_S = 120.0
POLL_S = 0.05
END_TIMEOUT_S = 30.0
# A JVM in a test shares two cores with others: the small compiler starts faster, and one collector thread is enough.
JAVA = ("java", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
ARTIFACTS = (
    *(
        f"org.apache.kafka:{name}:{VERSION}"
        for name in ("kafka-clients", "kafka-streams", "connect-runtime", "connect-file", "connect-mirror")
    ),
    "org.slf4j:slf4j-simple:1.7.36",
)


def stack_classpath(untested: str) -> str:
    """Jars of clients, Streams, Connect and MirrorMaker. Skips the test where they cannot be had."""
    if shutil.which("java") is None:
        skip_without("java is not installed", untested, "apt-get install default-jdk")
    try:
        return kafka_classpath(f"kafka-stack-{VERSION}", ARTIFACTS)
    except ExternalFailure as error:
        skip_without(error.message, untested, "apt-get install maven")


class JavaProgram:
    """A running program. Use it by `java_program`, which ends it."""

    def __init__(self, command: list[str], directory: Path, log: Path) -> None:
        self._log = log
        with log.open("wb") as errors:
            self._process = subprocess.Popen(
                command, cwd=directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        self._lines: Queue[str] = Queue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def send(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def expect(self, beginning: str) -> str:
        """The rest of the next line that begins so. Lines before it are passed over."""
        for _ in range(10_000):
            try:
                line = self._lines.get(timeout=DEADLINE_S)
            except Empty:
                break
            if line.startswith(beginning):
                return line.removeprefix(beginning).strip()
            if not line:
                break
        return self.fail(f"the program did not print {beginning!r}")

    def wait_for(self, condition: Callable[[], bool], what: str, deadline_s: float = DEADLINE_S) -> None:
        ends_at = time.monotonic() + deadline_s
        while time.monotonic() < ends_at:
            if condition():
                return
            if self._process.poll() is not None:
                self.fail(f"the program ended with code {self._process.returncode} before {what}")
            threading.Event().wait(POLL_S)
        self.fail(f"{what}: not within {deadline_s} s")

    def fail(self, why: str) -> str:
        pytest.fail(f"{why}\n{self.log[-6000:]}")

    def end(self) -> None:
        """It does not run afterwards."""
        self._process.terminate()
        try:
            self._process.wait(END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put("")


@contextmanager
def java_program(
    classpath: str, directory: Path, main: str, *arguments: str, properties: Mapping[str, str] | None = None
) -> Iterator[JavaProgram]:
    """`main` is a class of the jars, or a source file of `clients`."""
    directory.mkdir(parents=True, exist_ok=True)
    start = str(CLIENTS / main) if main.endswith(".java") else main
    # No more than that: a consumer whose broker is gone logs thousands of lines a second at "info".
    logging = {"org.slf4j.simpleLogger.defaultLogLevel": "warn"}
    given = [f"-D{name}={value}" for name, value in {**logging, **(properties or {})}.items()]
    command = [*JAVA, *given, "-cp", classpath, start, *arguments]
    program = JavaProgram(command, directory, directory / f"{Path(main).stem}.log")
    try:
        yield program
    finally:
        program.end()
