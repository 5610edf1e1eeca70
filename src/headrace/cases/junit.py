"""Results in the form that build servers read: JUnit's XML, one suite for each file."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from xml.etree import ElementTree

from headrace.cases.running import CaseResult

Results = Sequence[tuple[str, CaseResult]]


def junit_xml(results: Results) -> str:
    """`results` with the file of each, those of one file together."""
    suites = ElementTree.Element("testsuites", _totals(results))
    for file, of_file in groupby(results, key=lambda one: one[0]):
        runs = list(of_file)
        suite = ElementTree.SubElement(suites, "testsuite", {"name": file, **_totals(runs)})
        for _, result in runs:
            _add(suite, file, result)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _totals(results: Results) -> dict[str, str]:
    runs = [result for _, result in results]
    return {
        "tests": str(len(runs)),
        "failures": str(sum(not run.is_passed for run in runs)),
        "skipped": str(sum(run.skipped is not None for run in runs)),
        "time": f"{sum(run.seconds for run in runs):.3f}",
    }


def _add(suite: ElementTree.Element, file: str, result: CaseResult) -> None:
    told = {
        "classname": file,
        "name": f"{result.case.name} ({result.mode})",
        "file": file,
        "line": str(result.case.line),
        "time": f"{result.seconds:.3f}",
    }
    run = ElementTree.SubElement(suite, "testcase", told)
    for failure in result.failures:
        ElementTree.SubElement(run, "failure", {"message": _plain(failure).split("\n", 1)[0]}).text = _plain(failure)
    if result.skipped is not None:
        ElementTree.SubElement(run, "skipped", {"message": result.skipped})


def _plain(text: str) -> str:
    """XML has no way to write most control characters."""
    return "".join(one if one.isprintable() or one in "\n\t" else repr(one)[1:-1] for one in text)
