"""Golden cases: a script, the document that it means, and the same script as it is printed.

After a change on purpose, `UPDATE_CASES=1 pytest tests/sql/test_cases.py` writes the expected files anew.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from headrace.sql import parse, print_sql

CASES = Path(__file__).parent / "cases"
SCRIPTS = sorted(CASES.glob("*.sql"))


def expected(path: Path, actual: str) -> str:
    if os.environ.get("UPDATE_CASES"):
        path.write_text(actual)
    return path.read_text()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script_means_its_document(script: Path) -> None:
    document = parse(script.read_text())
    written = json.dumps(document.to_dict(), indent=2, ensure_ascii=False) + "\n"
    assert written == expected(script.with_suffix(".json"), written)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script_is_printed_readably_and_means_the_same(script: Path) -> None:
    document = parse(script.read_text())
    printed = print_sql(document)
    assert printed == expected(script.with_suffix(".printed"), printed)
    assert parse(printed) == document
    assert print_sql(parse(printed)) == printed


def test_there_are_cases() -> None:
    assert len(SCRIPTS) >= 7
