from __future__ import annotations

import pytest
from tests.missing import skip_without, summary


def test_the_end_of_a_run_names_what_was_skipped_and_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADRACE_REQUIRE_ALL", raising=False)
    with pytest.raises(pytest.skip.Exception) as skipped:
        skip_without("kcat is not installed", "the broker with it is", "apt-get install kcat")
    reason = f"Skipped: {skipped.value}"
    tests = ["tests/wire/test_kcat.py::test_one", "tests/wire/test_kcat.py::test_two", "tests/test_readme.py::test_a"]
    assert summary((test, reason) for test in tests) == [
        "3 in tests, tests/wire: kcat is not installed: the broker with it is not tested. "
        "To have it: apt-get install kcat"
    ]


def test_nothing_is_skipped_where_all_is_demanded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADRACE_REQUIRE_ALL", "1")
    with pytest.raises(pytest.fail.Exception, match="apt-get install kcat"):
        skip_without("kcat is not installed", "the broker with it is", "apt-get install kcat")
