"""Test files: SQL, the rows that go in and the rows that must come out, in one plain file. See docs/test-files.md."""

from headrace.cases.case_file import Case, Expectation, Given, read_cases
from headrace.cases.comparing import Difference, compare_rows
from headrace.cases.running import MODES, RESTART, CaseResult, Mode, Runner, without_compiling

__all__ = [
    "MODES",
    "RESTART",
    "Case",
    "CaseResult",
    "Difference",
    "Expectation",
    "Given",
    "Mode",
    "Runner",
    "compare_rows",
    "read_cases",
    "without_compiling",
]
