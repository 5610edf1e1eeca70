"""What a broker's process writes to stderr: one JSON object a line, with what happened and to what."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

SCRIPT = """
import logging
from headrace.wire.event_log import EventLog, log_to_stderr
log_to_stderr()
log = EventLog()
log.info("transaction timed out", transactional_id="tx")
log.warning("connection closed", client="127.0.0.1", reason=ValueError("two\\nlines"))
try:
    1 / 0
except ZeroDivisionError as error:
    log.error("request failed", error=error, version=3)
    log.exception("tick failed")
logging.getLogger("asyncio").error("%s was never retrieved", "it")
logging.getLogger("asyncio").debug("nobody asked")
"""


def said(script: str) -> list[dict[str, Any]]:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    return [json.loads(line) for line in done.stderr.splitlines()]


def test_events_are_json_lines_with_their_fields() -> None:
    lines = said(SCRIPT)
    assert [(line["event"], line["level"]) for line in lines] == [
        ("transaction timed out", "info"),
        ("connection closed", "warning"),
        ("request failed", "error"),
        ("tick failed", "error"),
        ("it was never retrieved", "error"),
    ]
    assert all(line["timestamp"].endswith("Z") for line in lines)
    assert lines[0]["transactional_id"] == "tx"
    assert (lines[1]["client"], lines[1]["reason"]) == ("127.0.0.1", "two\nlines")
    assert lines[2]["version"] == 3
    for line in lines[2:4]:
        assert "ZeroDivisionError" in line["exception"]
    assert "exception" not in lines[4]


def test_without_a_process_of_its_own_an_event_is_a_line_of_text() -> None:
    script = "from headrace.wire.event_log import EventLog; EventLog().error('sync failed', topic='t', partition=0)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr.strip() == "sync failed topic=t partition=0"
