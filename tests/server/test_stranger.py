"""Another account of the same machine: it may write to the folder that Headrace is started in, read files that the
owner did not close, and connect to every port. Nothing that it leaves is run, read or answered."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

from headrace.kafka import Sender
from headrace.process import RunInfo
from headrace.server.client import ServerClient
from headrace.wire.client import LATEST, Client

DEADLINE_S = 120
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
    sender = Sender(info.bootstrap, client_id="test")
    for n in range(100):
        sender.send("numbers", json.dumps({"n": n}).encode(), None)
    sender.flush()
    for name in PIPELINES:
        until(partial(end_of, info.bootstrap, name), "rows come out")


def end_of(bootstrap: str, topic: str) -> int:
    with Client(bootstrap) as client:
        return client.list_offsets(topic, {0: LATEST}, committed=True)[0].offset


def test_no_file_of_the_working_folder_is_imported(shared: Shared) -> None:
    assert shared.imported == set()
