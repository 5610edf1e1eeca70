"""What `make audit` says of the reports of pip-audit and npm: nothing is called compared that was not."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

AUDIT: dict[str, Any] = runpy.run_path(str(Path(__file__).parents[1] / "requirements" / "audit.py"))
FINE: dict[str, Any] = {"name": "six", "version": "1.17.0", "vulns": []}
SKIPPED = {"name": "h11", "skip_reason": "Dependency not found on PyPI"}
FLAW = {**FINE, "vulns": [{"id": "PYSEC-1", "fix_versions": ["1.18"]}]}
NPM_FINE: dict[str, Any] = {"vulnerabilities": {}, "metadata": {"dependencies": {"total": 3}}}
NPM_FLAW = {**NPM_FINE, "vulnerabilities": {"dagre": {"range": "<2", "severity": "high"}}}


@pytest.mark.parametrize(
    ("parts", "code", "line"),
    [
        ([FINE], 0, "1 parts compared, 0 with"),
        ([FINE, SKIPPED], 2, "1 parts could not be compared: Dependency not found on PyPI"),
        ([FLAW, SKIPPED], 1, "six 1.17.0: PYSEC-1, mended in 1.18"),
    ],
)
def test_parts_that_no_service_knows_are_not_called_fine(parts: list[Any], code: int, line: str) -> None:
    result = AUDIT["python_result"](json.dumps({"dependencies": parts}), "")
    assert result.code == code
    assert line in "\n".join(result.lines("Python"))


@pytest.mark.parametrize(
    ("report", "code", "line"),
    [
        (json.dumps(NPM_FINE), 0, "3 parts compared, 0 with"),
        ("added 9 packages\n" + json.dumps(NPM_FLAW), 1, "dagre <2: high"),
        (json.dumps({"message": "405 Method Not Allowed"}), 2, "could not be compared: 405 Method Not Allowed"),
        ("", 2, "could not be compared: Name or service not known"),
    ],
)
def test_npm_that_gets_no_answer_is_said(report: str, code: int, line: str) -> None:
    result = AUDIT["npm_result"](report, "Name or service not known\n")
    assert result.code == code
    assert line in "\n".join(result.lines("npm"))
