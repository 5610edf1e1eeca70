"""What a test needs and this machine has not: the test is skipped, and the end of the run says what brings it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import NoReturn

import pytest


def skip_without(what: str, untested: str, command: str) -> NoReturn:
    """`what` is missing, so `untested` is not tested; `command` brings it. With HEADRACE_REQUIRE_ALL=1 that fails."""
    if os.environ.get("HEADRACE_REQUIRE_ALL") == "1":
        pytest.fail(f"{what}, and HEADRACE_REQUIRE_ALL=1 demands it: {command}")
    pytest.skip(f"{what}: {untested} not tested. To have it: {command}")


def summary(skipped: Iterable[tuple[str, str]]) -> list[str]:
    """For each reason how many tests of which folders it kept from running; of (test, reason) pairs."""
    counts: Counter[str] = Counter()
    folders: dict[str, set[str]] = {}
    for test, reason in skipped:
        shown = reason.removeprefix("Skipped: ")
        counts[shown] += 1
        folders.setdefault(shown, set()).add(str(PurePosixPath(test.partition("::")[0]).parent))
    return [f"{count} in {', '.join(sorted(folders[reason]))}: {reason}" for reason, count in counts.most_common()]
