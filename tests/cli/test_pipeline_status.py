"""What `headrace pipeline status` prints of a job, without a server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from typer.testing import CliRunner

from headrace.cli import pipeline

NODE = {"rows_out_total": 5, "copies_total": 0, "copied_bytes_total": 0, "state_bytes": None}
QUERY = {
    "name": "q",
    "batch": 7,
    "batch_ms": 12.4,
    "rows_per_second": 1_500.0,
    "lag": {"t-0": 3, "t-1": 4},
    "signals": {},
}
NODES = [
    {"node": "trades", "bad_total": 2, "late_total": 0, **NODE},
    {"node": "window", "bad_total": 0, "late_total": 1, **NODE},
]
JOB: dict[str, Any] = {
    "pipeline": "p",
    "state": "running",
    "paused_by": None,
    "error": None,
    "waits_for": None,
    "parameters": {},
    "newer_code": None,
    "restarts": 0,
    "queries": [{**QUERY, "nodes": NODES}],
}


class Server:
    def __init__(self, job: dict[str, Any]) -> None:
        self._job = job

    def jobs(self) -> list[dict[str, Any]]:
        return [self._job]


def printed(job: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> str:
    @contextmanager
    def server_of(_: object) -> Iterator[Server]:
        yield Server(job)

    monkeypatch.setattr(pipeline, "server_of", server_of)
    return CliRunner().invoke(pipeline.app, ["status"], catch_exceptions=False).output


def test_bad_and_late_rows_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    head, row, *rest = [line for line in printed(JOB, monkeypatch).splitlines() if line.strip()]
    assert head.split() == " ".join(pipeline.STATUS_COLUMNS).split()
    assert row.split() == ["p", "running", "q", "7", "12", "1,500", "7", "2", "1", "0"]
    assert rest == ["p: 2 bad rows at trades since the job started"]


def test_a_job_without_bad_rows_says_nothing_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    good = {**QUERY, "nodes": [{**NODES[0], "bad_total": 0}]}
    assert "bad rows" not in printed({**JOB, "queries": [good]}, monkeypatch)


def test_what_it_waits_for_is_shown_once(monkeypatch: pytest.MonkeyPatch) -> None:
    away = "the schema registry at r does not answer"
    error = {"code": "job_failed", "message": away}
    assert printed({**JOB, "waits_for": away, "error": error}, monkeypatch).count(f"p: waits: {away}") == 1
    assert printed({**JOB, "waits_for": away, "error": error}, monkeypatch).count(away) == 1
    assert "p: it broke" in printed({**JOB, "error": {**error, "message": "it broke"}}, monkeypatch)


def test_files_that_were_changed_after_the_start_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = printed({**JOB, "newer_code": "the plugin files were changed"}, monkeypatch)
    assert "p: the plugin files were changed" in shown
