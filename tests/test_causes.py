"""Errors of the machine and of libraries get a name and a remedy wherever they end."""

from __future__ import annotations

import asyncio
import errno
import json
import sqlite3
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from py4j.protocol import Py4JNetworkError

from headrace.causes import known_cause
from headrace.cli.boundary import Invocation, report_errors
from headrace.errors import CorruptData, DiskFailure, EngineLost, ExternalFailure, HeadraceError
from headrace.server import problems

KNOWN = [
    (OSError(errno.ENOSPC, "No space left on device", "/data/x"), DiskFailure, "the disk is full (/data/x)"),
    (OSError(errno.EDQUOT, "Disk quota exceeded"), DiskFailure, "the disk is full"),
    (OSError(errno.EMFILE, "Too many open files"), ExternalFailure, "too many files open"),
    (
        OSError(errno.EIO, "Input/output error", "/data/x"),
        DiskFailure,
        "the disk refuses: Input/output error (/data/x)",
    ),
    (ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"), ExternalFailure, "Connection refused"),
    (TimeoutError("timed out"), ExternalFailure, "timed out"),
    (MemoryError(), ExternalFailure, "too little memory"),
    (sqlite3.OperationalError("database is locked"), DiskFailure, "database is locked"),
    (Py4JNetworkError("Answer from Java side is empty"), EngineLost, "Spark's Java process does not answer"),
]


@pytest.mark.parametrize(("error", "kind", "words"), KNOWN, ids=lambda value: type(value).__name__)
def test_what_the_machine_says_has_a_name(error: Exception, kind: type[HeadraceError], words: str) -> None:
    known = known_cause(error)
    assert type(known) is kind
    assert words in known.message
    assert known.hint


def test_a_broken_database_is_corrupt_and_one_that_cannot_grow_is_a_full_disk(tmp_path: Path) -> None:
    path = tmp_path / "broken.sqlite"
    path.write_bytes(b"this is no database" * 100)
    with sqlite3.connect(path) as connection, pytest.raises(sqlite3.DatabaseError) as broken:
        connection.execute("SELECT * FROM sqlite_master")
    assert isinstance(known_cause(broken.value), CorruptData)
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.execute("PRAGMA max_page_count = 2")
        with pytest.raises(sqlite3.OperationalError) as full:
            connection.execute("INSERT INTO t VALUES (zeroblob(100000))")
    known = known_cause(full.value)
    assert isinstance(known, DiskFailure)
    assert "full" in known.message


def test_a_defect_has_no_other_name() -> None:
    assert known_cause(KeyError("x")) is None
    assert known_cause(DiskFailure("full")) is not None


@pytest.mark.parametrize(("error", "kind", "words"), KNOWN, ids=lambda value: type(value).__name__)
def test_the_api_and_the_command_line_say_it(
    error: Exception, kind: type[HeadraceError], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    app = FastAPI()
    problems.install(app)

    @app.get("/")
    async def fail() -> None:
        raise error

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            return await client.get("/")

    answer = asyncio.run(ask())
    assert (answer.status_code, answer.json()["code"]) == (503, kind.code)
    assert words in answer.json()["message"]
    assert answer.json()["hint"]

    def run(prints: bool) -> None:
        raise error

    assert report_errors(Invocation(as_json=True, debug=False), run) == 1
    assert words in json.loads(capsys.readouterr().out)["error"]["message"]
