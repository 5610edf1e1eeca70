"""Build servers read what a run gave: one suite for each file."""

from __future__ import annotations

from xml.etree import ElementTree

from headrace.cases import CaseResult, junit_xml, read_cases

TEXT = "-- @case {}\nSELECT 1;\n-- @expect s\n"


def test_results_by_file() -> None:
    (one,), (other,) = (read_cases(TEXT.format(name), "file") for name in ("first", "a < b & c"))
    results = [
        ("a.sql", CaseResult(one, "batch", seconds=0.25)),
        ("a.sql", CaseResult(one, "stream", skipped="no end")),
        ("b.sql", CaseResult(other, "batch", ("s:\n- | \x00 |",), seconds=1.5)),
    ]
    root = ElementTree.fromstring(junit_xml(results))
    assert root.attrib == {"tests": "3", "failures": "1", "skipped": "1", "time": "1.750"}
    assert [(suite.get("name"), suite.get("tests")) for suite in root] == [("a.sql", "2"), ("b.sql", "1")]
    passed, skipped, failed = root.iter("testcase")
    assert (passed.get("name"), passed.get("line"), passed.get("time"), len(passed)) == (
        "first (batch)", "1", "0.250", 0,
    )  # fmt: skip
    assert [(one.tag, one.get("message")) for one in skipped] == [("skipped", "no end")]
    assert failed.get("name") == "a < b & c (batch)"
    assert [(one.get("message"), one.text) for one in failed] == [("s:", "s:\n- | \\x00 |")]
