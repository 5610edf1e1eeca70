"""Test files: SQL, the rows that go in and the rows that must come out, in one plain file. See docs/test-files.md."""

from headrace.cases.case_file import Case, Expectation, Given, read_cases
from headrace.cases.comparing import Difference, compare_rows
from headrace.cases.junit import junit_xml
from headrace.cases.running import MODES, RESTART, CaseResult, Mode, Runner
from headrace.cases.session import CaseSession, for_few_rows

__all__ = [
    "MODES",
    "RESTART",
    "Case",
    "CaseResult",
    "CaseSession",
    "Difference",
    "Expectation",
    "Given",
    "Mode",
    "Runner",
    "compare_rows",
    "for_few_rows",
    "junit_xml",
    "read_cases",
]
