"""How often faults are tried: a little in CI; for hours in `make campaign`, which keeps what came of it in `bench/`."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

IS_CAMPAIGN = bool(os.environ.get("HEADRACE_CAMPAIGN"))
RESULT = Path(__file__).parent.parent / "bench" / "campaign.json"


def often(in_ci: int, in_a_campaign: int) -> int:
    return in_a_campaign if IS_CAMPAIGN else in_ci


def keep_result(reports: Iterable[pytest.TestReport]) -> None:
    """What was tried, how it ended and how long it took."""
    tried = [
        {"test": report.nodeid, "outcome": report.outcome, "seconds": round(report.duration)} for report in reports
    ]
    machine = {"cores": os.cpu_count(), "python": platform.python_version(), "kernel": platform.release()}
    result = {"ended": time.strftime("%Y-%m-%d"), "machine": machine, "tried": tried}
    RESULT.write_text(json.dumps(result, indent=2) + "\n")
