"""Another account of the same machine: it may write to the folder that Headrace is started in, read files that the
owner did not close, and connect to every port. Nothing that it leaves is run, read or answered."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from headrace.bench import processes
from headrace.errors import NotFound
from headrace.kafka import Sender
from headrace.process import RunInfo
from headrace.process.secrets import set_secret
from headrace.server.client import ServerClient
from headrace.spark.session.session import SparkSettings, session_conf
from headrace.wire.client import LATEST, Client

# Starting the whole of it takes a while on a busy machine.
pytestmark = pytest.mark.timeout(600)

DEADLINE_S = 120
PASSWORD = "correct/horse@battery"
FUNCTION = """
from dataclasses import dataclass
from headrace.serial import per_row

@dataclass
class Row:
    n: int

@per_row
def even(row: Row) -> Row | None:
    return row if row.n % 2 == 0 else None
"""
# A reader, a stage behind a shuffle and a function of the user: every kind of Python process takes part.
PIPELINES = {
    "even": 'topic numbers schema="n BIGINT" ! python shop:even ! to-topic even',
    "once": 'topic numbers schema="n BIGINT" ! deduplicate n ! to-topic once',
}


@dataclass(frozen=True)
class Shared:
    """`headrace up`, started by its console script in a folder that a stranger may write to."""

    folder: Path
    data: Path
    pid: int
    info: RunInfo

    @property
    def is_running(self) -> bool:
        """Its pipelines go on as if nothing had happened."""
        before = end_of(self.info.bootstrap, "once")
        send_numbers(self.info, range(before * 1000, before * 1000 + 10))
        return bool(until(lambda: end_of(self.info.bootstrap, "once") > before, "rows come out"))

    @property
    def imported(self) -> set[str]:
        """The files of the folder that some process has run."""
        return set((self.folder / "imported").read_text().split())


def leave_files(folder: Path) -> None:
    """One for each module of Python and for each installed package."""
    names = {*sys.stdlib_module_names, *packages_distributions(), "sitecustomize", "usercustomize"}
    (folder / "imported").touch()
    for name in names:
        (folder / f"{name}.py").write_text(f"open({str(folder / 'imported')!r}, 'a').write('{name} ')\n")


def until(found: Callable[[], Any], what: str) -> Any:
    deadline_s = time.monotonic() + DEADLINE_S
    while not (value := found()):
        assert time.monotonic() < deadline_s, what
        time.sleep(0.1)
    return value


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    folder, data, plugins = (tmp_path_factory.mktemp(name) for name in ("shared", "data", "plugins"))
    leave_files(folder)
    (plugins / "shop.py").write_text(FUNCTION)
    program = str(Path(sys.executable).parent / "headrace")
    process = subprocess.Popen(
        [program, "up", "--data-dir", str(data), "--port", "0", "--http-port", "0", "--json"],
        cwd=folder,
        env={**os.environ, "HEADRACE_PLUGINS": str(plugins)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["ready"] is True
        info = RunInfo.read(data)
        run_pipelines(info)
        yield Shared(folder, data, process.pid, info)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


def run_pipelines(info: RunInfo) -> None:
    with Client(info.bootstrap) as client:
        client.create_topics({"numbers": 2, "even": 1, "once": 1})
    with ServerClient(info) as server:
        for name, text in PIPELINES.items():
            server.save({"text": text, "name": name})
            server.start(name)
    send_numbers(info, range(100))
    for name in PIPELINES:
        until(partial(end_of, info.bootstrap, name), "rows come out")


def send_numbers(info: RunInfo, numbers: range) -> None:
    sender = Sender(info.bootstrap, client_id="test")
    for n in numbers:
        sender.send("numbers", json.dumps({"n": n}).encode(), None)
    sender.flush()


def end_of(bootstrap: str, topic: str) -> int:
    with Client(bootstrap) as client:
        return client.list_offsets(topic, {0: LATEST}, committed=True)[0].offset


def test_no_file_of_the_working_folder_is_imported(shared: Shared) -> None:
    assert shared.imported == set()


def test_no_file_can_be_read_by_others(shared: Shared) -> None:
    found = [shared.data, *shared.data.rglob("*")]
    assert len(found) > 50
    assert [path for path in found if not path.is_symlink() and path.lstat().st_mode & 0o077] == []


class Guarded(BaseHTTPRequestHandler):
    """Lets in who knows the password."""

    def do_GET(self) -> None:
        wanted = "Basic " + b64encode(f"user:{PASSWORD}".encode()).decode()
        self.send_response(200 if self.headers["Authorization"] == wanted else 401)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_: object) -> None:
        pass


def test_a_secret_is_used_and_kept_nowhere(shared: Shared) -> None:
    service = ThreadingHTTPServer(("127.0.0.1", 0), Guarded)
    threading.Thread(target=service.serve_forever, daemon=True).start()
    place = f"http://user:${{secret:PW}}@127.0.0.1:{service.server_address[1]}"
    text = f'topic numbers schema="n BIGINT" ! http-lookup "{place}/{{n}}" into=answer ! to-topic asked'
    with ServerClient(shared.info) as server:
        server.save({"text": text, "name": "asking"})
        with pytest.raises(NotFound, match="secret 'PW' is not set"):
            server.start("asking")
        set_secret(shared.data, "PW", PASSWORD)
        server.start("asking")
        until(partial(end_of, shared.info.bootstrap, "asked"), "rows come out")
        shown = json.dumps([server.show("asking"), server.job("asking")])
        server.stop("asking")
    service.shutdown()
    service.server_close()
    assert "${secret:PW}" in shown
    for written in (PASSWORD, quote(PASSWORD, safe="")):
        assert written not in shown
        holders = [path for path in shared.data.rglob("*") if path.is_file() and written.encode() in path.read_bytes()]
        assert holders in ([], [shared.data / "secrets" / "PW"])


def test_files_that_a_pipeline_writes_elsewhere_are_the_users_own(shared: Shared, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with ServerClient(shared.info) as server:
        server.save({"text": f'topic numbers schema="n BIGINT" ! to-file "{out}"', "name": "files"})
        server.start("files")
        until(lambda: list(out.glob("*.json")), "a file is written")
        server.stop("files")
    mask = int(
        next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if "Umask" in line), 8
    )
    assert out.stat().st_mode & 0o777 == 0o777 & ~mask
    assert {path.stat().st_mode & 0o777 for path in out.glob("*.json")} == {0o666 & ~mask}


# A call into the driver, a call into the JVM, and the wrong token first.
PY4J = (
    b"g\np0\ne\n",
    b"c\np0\nonQueryStarted\ne\n",
    b"r\nu\njava.lang.Runtime\nrj\ne\n",
    b"c\nz:java.lang.System\nlineSeparator\ne\n",
    b"A\nwrong\ne\nc\nz:java.lang.System\nlineSeparator\ne\n",
)
PY4J_SUCCESS = b"!y"


def listening(pid: int) -> tuple[set[int], set[str]]:
    """The ports and the sockets in the file system that a process and its children listen on."""
    held = set()
    for process in processes.tree(pid):
        for descriptor in Path(f"/proc/{process}/fd").glob("*"):
            with suppress(OSError):
                held.add(os.readlink(descriptor).removeprefix("socket:[").rstrip("]"))
    tcp = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    unix = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()[1:]]
    ports = {int(fields[1].rpartition(":")[2], 16) for fields in tcp if fields[3] == "0A" and fields[9] in held}
    return ports, {fields[7] for fields in unix if len(fields) > 7 and fields[3] == "00010000" and fields[6] in held}


def answer(port: int, sent: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        try:
            connection.sendall(sent)
            return connection.recv(4_096)
        except OSError:
            return b""


def test_no_port_of_spark_does_what_a_stranger_says(shared: Shared) -> None:
    ports, sockets = listening(shared.pid)
    public = {shared.info.http_port, int(shared.info.bootstrap.rpartition(":")[2])}
    assert len(ports - public) >= 3, "the gateway, the callbacks and Spark's own"
    tried = [(port, sent) for port in ports - public for sent in PY4J]
    with ThreadPoolExecutor(len(tried)) as pool:  # Spark's own ports are silent: all are waited for at once
        answers = pool.map(lambda one: answer(*one), tried)
    assert [one for one, got in zip(tried, answers, strict=True) if got.startswith(PY4J_SUCCESS)] == []
    assert sockets
    for path in filter(Path.exists, map(Path, sockets)):  # Spark removes those that it has connected to
        assert path.stat().st_mode & 0o022 == 0 or path.parent.stat().st_mode & 0o077 == 0, path
    assert shared.is_running


def test_spark_asks_its_own_processes_for_a_secret(tmp_path: Path) -> None:
    local = session_conf(SparkSettings(tmp_path), tmp_path / "log4j")
    assert (local["spark.authenticate"], local["spark.ui.enabled"]) == ("true", "false")
    elsewhere = session_conf(SparkSettings(tmp_path, master="spark://host:7077"), tmp_path / "log4j")
    assert "spark.authenticate" not in elsewhere, "a cluster has a secret of its own"
