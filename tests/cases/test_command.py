"""`headrace test` as a user runs it: one Spark for all files, each case by itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from headrace.cli import app
from headrace.cli.boundary import Invocation, report_errors

HEAD = "CREATE STREAM t (a STRING, b INT);\n-- @input t\n-- | a | b |\n-- | x | 1 |\n-- | y | 0 |\n"
FAULTS = f"""{HEAD}
-- @case as expected
CREATE STREAM s AS SELECT a FROM t WHERE b > 0;
-- @expect s
-- | a |
-- | x |

-- @case another value
CREATE STREAM s AS SELECT a, b + 1 AS c FROM t;
-- @expect s
-- | a | c |
-- | x | 2 |
-- | y | 5 |

-- @case a row that Spark cannot compute
CREATE STREAM s AS SELECT raise_error(a) AS c FROM t;
-- @expect s
-- | c |

-- @case a function that fails
CREATE FUNCTION broken AS 'faults.py:broken';
CREATE STREAM s AS SELECT broken(b) AS c FROM t;
-- @expect s
-- | c |

-- @case a stream that is not there
CREATE STREAM s AS SELECT a FROM t;
-- @input tt
-- | a |
-- @expect s
-- | a |
"""
ALSO = f"""{HEAD}
-- @case in the second file
CREATE STREAM s AS SELECT a FROM t;
-- @expect s
-- | a |
-- | y |
-- | x |
"""
FUNCTION = "def broken(b: int) -> int:\n    return 1 // b\n"
REFUSED = "CREATE STREAM t (a STRING);\n-- @case refused\nCREATE STREAM s AS SELECT b FROM t;\n-- @expect s\n-- | a |\n"


def run(*arguments: str) -> int | str | None:
    """In this process: Spark is started by none of these."""
    try:
        return report_errors(
            Invocation(as_json=False, debug=False),
            lambda standalone: app(["test", *arguments], prog_name="headrace", standalone_mode=standalone),
        )
    except SystemExit as exit_:
        return exit_.code


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "faults.sql").write_text(FAULTS)
    (tmp_path / "more.sql").write_text(ALSO)
    (tmp_path / "faults.py").write_text(FUNCTION)
    return tmp_path


@pytest.mark.spark
def test_each_case_is_told_by_itself(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "headrace", "test", ".", "--mode", "batch", "--junit", "results.xml", "--json"],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "HEADRACE_PLUGINS": str(folder)},
        timeout=280,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    runs = {one["case"]: one for one in json.loads(done.stdout)["runs"]}
    assert [(one["file"], one["passed"]) for one in runs.values()] == [
        *(("faults.sql", is_passed) for is_passed in (True, False, False, False, False)),
        ("more.sql", True),
    ]
    assert "- | y | 5 |\n+ | y | 1 |\n        ^" in runs["another value"]["failures"][0]
    assert runs["a row that Spark cannot compute"]["failures"] == [
        "node 's': x\nhint: the pipeline raises this error itself"
    ]
    assert "the function 'broken' failed" in runs["a function that fails"]["failures"][0]
    assert "'tt' is read by nothing" in runs["a stream that is not there"]["failures"][0]
    assert all(one["seconds"] > 0 for one in runs.values())
    suites = ElementTree.parse(folder / "results.xml").getroot()
    assert (suites.get("tests"), suites.get("failures")) == ("6", "4")


def test_what_is_refused_needs_no_spark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "refused.sql").write_text(REFUSED)
    assert run("refused.sql") == 1
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "FAIL refused.sql:2 refused (batch)" in printed.out
    assert "unknown column 'b' (line 3, column 27)" in printed.out
    assert "cases: 1, runs: 1, skipped: 0, failed: 1; " in printed.out
    assert "Spark" not in printed.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["refused.sql", "-k", "nothing like it"], "no case has 'nothing like it'"),
        (["empty"], "there is no .sql file in empty"),
        (["broken.sql"], "broken.sql: 1 cells below 2 columns (line 3, column 1)"),
        (["binary.sql"], "binary.sql cannot be read"),
        (["refused.sql", "--mode", "slow"], "valid: batch, stream, restart, all"),
    ],
)
def test_what_cannot_run_is_told_before_anything_runs(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "refused.sql").write_text(REFUSED)
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.sql").write_text("-- @expect s\n-- | a | b |\n-- | 1 |\n")
    (tmp_path / "binary.sql").write_bytes(b"\xff\xfe\x00")
    assert run(*arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
